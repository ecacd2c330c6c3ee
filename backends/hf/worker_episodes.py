"""Episodes of a task on the model's side: their openings as prompts, and its messages from batched generation."""

from __future__ import annotations

from collections import Counter
from typing import Any

from backends.hf.worker_generation import Generator
from backends.trainer.chat import chat_of
from backends.trainer.items import Item
from backends.trainer.prompts import Reader
from backends.trainer.speaker import Ids, Said
from orchestrator.harness import WorkError
from orchestrator.tasks import Limits


class Episodes:
    """The openings of episodes, as the models are asked them."""

    chat = True

    def __init__(self, items: list[Item], options: dict[str, Any], limits: Limits) -> None:
        self._items, self._options, self._limits = items, options, limits

    def render(self, reader: Reader) -> list[Ids]:
        chat = chat_of(reader.tokenizer, reader.ends, self._options)
        return [chat.opening(item.prompt, item.tools or []) for item in self._items if isinstance(item.prompt, list)]

    def require_room(self, label: str, room: int, longest: int) -> None:
        context, fix = self._limits.context, "lower the task's limits, or ask it for smaller samples by its options"
        if context > room:
            text = f"{label} has {room} positions, and the task lets an episode have {context} tokens"
            raise WorkError("eval.too_long", text, fix=fix)
        if longest >= context:
            text = f"an episode opens with {longest} tokens for {label}, of {context} that the task lets it have"
            raise WorkError("eval.too_long", text, fix="raise the task's limits, or shorten its prompts")


class Voice:
    """A model's next messages. Each message of each episode draws from a stream of its own."""

    def __init__(self, generate: Generator, limits: Limits) -> None:
        self._generate, self._limits = generate, limits
        self._turns = Counter[int]()

    def __call__(self, prompts: list[Ids], episodes: list[int]) -> list[Said]:
        streams = [episode * self._limits.max_turns + self._turns[episode] for episode in episodes]
        found = self._generate(prompts, new=self._limits.max_tokens, streams=streams)
        self._turns.update(episodes)
        return [([*one.ids, *([] if one.end is None else [one.end])], None) for one in found]
