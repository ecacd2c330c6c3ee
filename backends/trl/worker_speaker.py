"""The model as a policy: conversations as tokens that are never rendered twice, and one generation for all episodes.

What the model wrote stays as the tokens it sampled; only what the environment adds is rendered, behind it. So the loss
sees exactly the tokens that were sampled, under the context they were sampled in.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.trl.worker_template import Template
from orchestrator.harness import WorkError
from orchestrator.tasks import Message, OutOfTokens, Tool

_DUMMY: Message = {"role": "user", "content": "x"}


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


class Chat:
    """Messages to tokens and back, by the tokenizer's chat template."""

    def __init__(self, tokenizer: Any, ends: Sequence[int]) -> None:
        template = Template(tokenizer)
        if not template.known:
            message = "a task is a conversation, but the tokenizer has no chat template"
            raise WorkError("template.missing", message, fix="name a model that was tuned to chat")
        self._tokenizer, self._parses = _reading_calls(tokenizer)
        self._template, self.ends = template.twin, set(ends)

    def opening(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Tokens of what the environment opens with.

        Raises:
            WorkError: there are tools, but nobody knows how this model writes a call.
        """
        if tools and not self._parses:
            raise WorkError(
                "task.tools",
                "the task has tools, but TRL knows no format of tool calls for this model's chat template",
                fix="use a model whose template it knows, or set `response_template` in the tokenizer's config",
            )
        return self._ids(self._text(list(messages), list(tools)))

    def tail(self, said: Message, last: int, answers: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Tokens between the model's last one and its next: the end of its turn, what came back, the next header.

        Raises:
            WorkError: the template writes earlier turns anew once others follow.
        """
        before = [_DUMMY, {"content": "", **said}]
        prefix = self._text(before, list(tools), more=False)
        full = self._text([*before, *answers], list(tools))
        if not full.startswith(prefix):
            raise WorkError(
                "task.template",
                "the chat template writes an earlier turn differently once others follow it",
                why="the model would be trained on other tokens than it sampled",
                fix="use a model whose training template TRL knows, or a task of one turn",
            )
        end = self._tokenizer.decode([last])
        at = prefix.rfind(end) if last in self.ends else -1
        return self._ids(full[at + len(end) :] if at >= 0 else full[len(prefix) :])

    def message(self, prefix: list[int], ids: list[int], tools: Sequence[Tool]) -> Message:
        """What the model said."""
        from trl.chat_template_utils import parse_response

        if self._parses:
            return dict(parse_response(self._tokenizer, ids, prefix=prefix, tools=list(tools) or None))
        return {"role": "assistant", "content": self._tokenizer.decode(ids, skip_special_tokens=True)}

    def _text(self, messages: list[Message], tools: list[Tool], *, more: bool = True) -> str:
        given = {"tools": tools} if tools else {}
        return str(
            self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=more, chat_template=self._template, **given
            )
        )

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _reading_calls(tokenizer: Any) -> tuple[Any, bool]:
    """A copy that can read tool calls, and whether it can: the original is saved with the model, and stays as it is."""
    from trl.chat_template_utils import add_response_schema

    reader = copy.deepcopy(tokenizer)
    if getattr(reader, "response_template", None) or getattr(reader, "response_schema", None):
        return reader, True
    try:
        return add_response_schema(reader), True
    except ValueError:  # a template that TRL has no format for
        return reader, False


class Batch:
    """One generation for all episodes that wait for one: it starts when none is busy with its environment."""

    def __init__(self, trainer: Any, running: int) -> None:
        self._trainer, self._running = trainer, running
        self._waiting: list[tuple[list[int], asyncio.Future[tuple[list[int], list[float] | None]]]] = []

    async def ask(self, ids: list[int]) -> tuple[list[int], list[float] | None]:
        """The model's next tokens after these, and their log-probabilities where the engine tells them."""
        answer: asyncio.Future[tuple[list[int], list[float] | None]] = asyncio.get_running_loop().create_future()
        self._waiting.append((ids, answer))
        self._generate_if_all_wait()
        return await answer

    def leave(self) -> None:
        """An episode is over."""
        self._running -= 1
        self._generate_if_all_wait()

    def _generate_if_all_wait(self) -> None:
        if not self._waiting or len(self._waiting) < self._running:
            return
        waiting, self._waiting = self._waiting, []
        ids, logprobs = self._trainer._generate_single_turn([one for one, _ in waiting], None, {}, 1)
        for place, (_, answer) in enumerate(waiting):
            if not answer.cancelled():
                answer.set_result((list(ids[place]), list(logprobs[place]) if logprobs is not None else None))


class Speaker:
    """The policy of one episode."""

    def __init__(self, chat: Chat, batch: Batch, context: int) -> None:
        self._chat, self._batch, self._context = chat, batch, context
        self.track, self._heard, self._said = Track(), 0, Message()

    async def __call__(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Message:
        """Speak; a turn that does not end within its tokens, or the context, ends the episode."""
        self._listen(messages, tools)
        before = self.track.prompt + self.track.completion
        ids, logprobs = await self._batch.ask(before)
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
                raise WorkError(
                    "task.long_prompt",
                    f"an episode opens with {len(self.track.prompt)} tokens, training.max_length is {self._context}",
                    fix="raise training.max_length, or shorten the task's prompts",
                )
            return
        tail = self._chat.tail(self._said, self.track.completion[-1], messages[self._heard :], tools)
        if len(self.track.prompt) + len(self.track.completion) + len(tail) >= self._context:
            raise OutOfTokens
        self.track.add(tail, None, own=False)
