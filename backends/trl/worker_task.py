"""A task in place of prompts and reward functions: its samples as rows, its episodes as rollouts, its rewards."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from typing import Any

from backends.trainer.chat import Renderer, chat_of
from backends.trainer.playing import loaded, played
from backends.trainer.speaker import Generate, Ids, Said
from backends.trl.worker_data import Row
from backends.trl.worker_file import Arguments
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError
from orchestrator.tasks import Sample
from orchestrator.tasks.sample import Split

SPLITS: dict[str, Split] = {"train": "train", "eval": "validation"}
"""Parts of a trainer's data -> splits of a task."""


class Played:
    """A task as the trainer uses it.

    Attributes:
        functions: one for each reward, which hands over what the rollout earned.
        latest: the newest batch, one dict an episode; read by the sample events.
    """

    def __init__(self, arguments: Arguments, events: EventWriter) -> None:
        assert arguments.task is not None
        self.task = loaded(arguments.task["name"], arguments.task["options"])
        self._events, self._context = events, int(arguments.data["context"])
        self.functions = [_handing_over(reward.name) for reward in self.task.rewards]
        self.latest: list[dict[str, Any]] = []
        self._chat: Renderer | None = None
        self._compare(int(arguments.config["max_completion_length"]))
        self._enough(arguments)

    @property
    def weights(self) -> list[float]:
        """Of the rewards, so that their sum is the weighted mean."""
        whole = sum(reward.weight for reward in self.task.rewards)
        return [reward.weight / whole for reward in self.task.rewards]

    def rows(self, part: str, limit: int | None) -> list[Row]:
        """Rows that name samples; the prompt itself is made when an episode opens."""
        split = SPLITS[part]
        count = len(self.task.samples(split))
        return [{"prompt": [{"role": "user", "content": f"{split}/{place}"}]} for place in islice(range(count), limit)]

    def rollout(self, prompts: list[list[Row]], trainer: Any) -> dict[str, Any]:
        """Play an episode for each prompt, all of them together; TRL's `rollout_func`.

        Raises:
            WorkError: the environment, a reward or the chat template failed.
        """
        self._chat = self._chat or chat_of(trainer._tokenizer, trainer.eos_token_ids)
        samples = [self._sample(prompt) for prompt in prompts]
        found = played(self.task, samples, self._chat, _by(trainer), self._context)
        self.latest = [
            {
                "prompt": list(one.episode.messages[: one.episode.opening]),
                "completion": list(one.episode.messages[one.episode.opening :]),
                "rewards": one.scores.parts,
            }
            for one in found
        ]
        tracks = [one.track for one in found]
        return {
            "prompt_ids": [track.prompt for track in tracks],
            "completion_ids": [track.completion for track in tracks],
            "env_mask": [track.mask for track in tracks],
            "logprobs": None if any(track.logprobs is None for track in tracks) else [t.logprobs for t in tracks],
            "earned": [one.scores.parts for one in found],
            "ending": [{"turns": o.episode.turns, "truncated": float(o.episode.truncated)} for o in found],
        }

    def _sample(self, prompt: list[Row]) -> Sample:
        split, _, place = str(prompt[-1]["content"]).partition("/")
        return self.task.train[int(place)] if split == "train" else self.task.validation[int(place)]

    def _enough(self, arguments: Arguments) -> None:
        """Fewer samples than one generation takes would make no step at all.

        Raises:
            WorkError: that is so.
        """
        config, ranks = arguments.config, int(os.environ.get("WORLD_SIZE", "1"))
        completions = config["per_device_train_batch_size"] * ranks * config["steps_per_generation"]
        wanted = completions // config["num_generations"]
        found = min(len(self.task.train), arguments.data.get("max_rows") or len(self.task.train))
        if found < wanted:
            message = f"task {self.task.name!r} has {found} training samples, and one generation takes {wanted}"
            raise WorkError("task.few", message, fix="lower training.batch_size, or give the task more samples")

    def _compare(self, max_tokens: int) -> None:
        """Say when the run gives less room than the task asks for."""
        limits = self.task.limits
        for setting, given, wanted in (
            ("rl.max_completion_length", max_tokens, limits.max_tokens),
            ("training.max_length", self._context, limits.context),
        ):
            if given < wanted:
                message = f"{setting} {given} is below the {wanted} tokens that task {self.task.name!r} asks for"
                self._events.emit("warning", code="task.limits", message=message)


def _by(trainer: Any) -> Generate:
    """Generation as the trainer does it."""

    def generate(prompts: list[Ids], _: list[int]) -> list[Said]:
        ids, logprobs = trainer._generate_single_turn(prompts, None, {}, 1)
        told = logprobs if logprobs is not None else [None] * len(ids)
        return [(list(one), list(said) if said is not None else None) for one, said in zip(ids, told, strict=True)]

    return generate


def _handing_over(name: str) -> Callable[..., list[float]]:
    def reward(earned: list[dict[str, float]], ending: list[dict[str, float]], **given: Any) -> list[float]:
        for key in ("turns", "truncated"):
            given["log_metric"](f"task/{key}", sum(one[key] for one in ending) / len(ending))
        return [one[name] for one in earned]

    reward.__name__ = name
    return reward
