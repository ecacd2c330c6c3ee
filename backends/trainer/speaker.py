"""The model as a policy, and one generation for all episodes that wait for one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from backends.trainer.chat import Renderer
from orchestrator.harness import WorkError
from orchestrator.tasks import Message, OutOfTokens, Tool

Ids = list[int]
Said = tuple[Ids, list[float] | None]
"""Tokens of one message, and their log-probabilities where the engine tells them."""
Generate = Callable[[list[Ids], list[int]], list[Said]]
"""Tokens so far, and the numbers of their episodes -> each one's next message."""


@dataclass
class Track:
    """An episode as the loss reads it: `mask` is 1 for the model's tokens; log-probabilities where the engine tells."""

    prompt: list[int] = field(default_factory=list)
    completion: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] | None = None

    def add(self, ids: list[int], logprobs: list[float] | None, *, own: bool) -> None:
        """Append tokens of the model's, or of the environment's."""
        self.completion += ids
        self.mask += [int(own)] * len(ids)
        if (own and logprobs is not None) or self.logprobs is not None:
            self.logprobs = (self.logprobs or []) + (logprobs if logprobs is not None else [0.0] * len(ids))


class Batch:
    """One generation for all episodes that wait for one: it starts when none is busy with its environment."""

    def __init__(self, generate: Generate, running: int) -> None:
        self._generate, self._running = generate, running
        self._waiting: list[tuple[int, Ids, asyncio.Future[Said]]] = []

    async def ask(self, episode: int, ids: Ids) -> Said:
        """The model's next tokens after these."""
        answer: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        self._waiting.append((episode, ids, answer))
        self._generate_if_all_wait()
        return await answer

    def leave(self) -> None:
        """An episode is over."""
        self._running -= 1
        self._generate_if_all_wait()

    def _generate_if_all_wait(self) -> None:
        if not self._waiting or len(self._waiting) < self._running:
            return
        waiting, self._waiting = sorted(self._waiting, key=lambda one: one[0]), []
        said = self._generate([ids for _, ids, _ in waiting], [episode for episode, _, _ in waiting])
        for (_, _, answer), one in zip(waiting, said, strict=True):
            if not answer.cancelled():
                answer.set_result(one)


class Speaker:
    """The policy of one episode, by its number; `context` is the most tokens that it may have in all."""

    def __init__(self, chat: Renderer, batch: Batch, context: int, episode: int) -> None:
        self._chat, self._batch, self._context, self._episode = chat, batch, context, episode
        self.track, self._heard, self._said = Track(), 0, Message()

    async def __call__(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Message:
        """Speak; a turn that does not end within its tokens, or the context, ends the episode."""
        self._listen(messages, tools)
        before = self.track.prompt + self.track.completion
        ids, logprobs = await self._batch.ask(self._episode, before)
        kept = ids[: self._context - len(before)]
        self.track.add(kept, logprobs[: len(kept)] if logprobs is not None else None, own=True)
        self._said = self._chat.message(before, kept, tools)
        self._heard = len(messages) + 1
        if not kept or kept[-1] not in self._chat.ends:
            raise OutOfTokens(self._said)
        return self._said

    def _listen(self, messages: Sequence[Message], tools: Sequence[Tool]) -> None:
        if not self.track.prompt:
            self.track.prompt = self._chat.opening(messages, tools)
            if len(self.track.prompt) >= self._context:
                message = f"an episode opens with {len(self.track.prompt)} tokens, of {self._context} that it may have"
                fix = "raise training.max_length (in an eval: the task's limits), or shorten the task's prompts"
                raise WorkError("task.long_prompt", message, fix=fix)
            return
        tail = self._chat.tail(self._said, self.track.completion[-1], messages[self._heard :], tools)
        if len(self.track.prompt) + len(self.track.completion) + len(tail) >= self._context:
            raise OutOfTokens
        self.track.add(tail, None, own=False)
