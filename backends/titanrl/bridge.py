"""A task as TitanRL wants it: samples as a dataset, its environment as a MessageEnv, its rewards as a rubric.

With TitanRL 0.3.0 all of it runs in the controller's process; later environments and rewards run in workers of theirs.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from backends.titanrl.worker_api import (
    Dataset,
    MessageEnv,
    MessageEnvInitOutput,
    MessageEnvStepOutput,
    RewardFn,
    Rubric,
)
from backends.titanrl.worker_calls import unwrap
from backends.titanrl.worker_life import LIFE
from orchestrator.errors import PostTrainError
from orchestrator.tasks import Episode, Message, Order, Sample, Task, load
from orchestrator.tasks.episode import End
from orchestrator.tasks.playing import naming
from orchestrator.tasks.sample import Split

_ENDS: dict[str, End] = {"truncated_max_turns": "turns", "truncated_length": "tokens"}


def loaded(name: str, options: dict[str, str]) -> Task:
    """The task, made once in a process."""
    return _loaded(name, json.dumps(options, sort_keys=True))


def turns(name: str, options: dict[str, str]) -> int:
    """Messages of the model's that an episode may have."""
    return loaded(name, options).limits.max_turns


def rubric(name: str, options: dict[str, str], truncation_reward: float | None = None) -> Any:
    """One reward function for each of the task's; TitanRL takes their weighted mean, as the task does."""
    made = [
        _reward_class(reward.name).Config(name=name, options=options, weight=reward.weight)
        for reward in loaded(name, options).rewards
    ]
    return Rubric.Config(reward_fns=made, truncation_reward=truncation_reward, error_reward=0.0)


class TaskSamples(Dataset):  # type: ignore[misc]
    """The samples of a split in the task's own order; the place in it is all the state."""

    @dataclass(kw_only=True, slots=True)
    class Config(Dataset.Config):  # type: ignore[misc]
        name: str
        split: str
        options: dict[str, str] = field(default_factory=dict)
        seed: int = 0

    def __init__(self, config: Config) -> None:
        split: Split = "train" if config.split == "train" else "validation"
        samples = loaded(config.name, config.options).samples(split)
        self._order, self._place = Order(samples, config.seed, shuffle=split == "train"), 0

    def __iter__(self) -> TaskSamples:
        return self

    def __next__(self) -> Sample:
        sample = self._order[self._place]
        self._place += 1
        return sample

    def state_dict(self) -> dict[str, int]:
        """How many samples were given."""
        return {"place": self._place}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on after as many."""
        self._place = state["place"]


class TaskEnv(MessageEnv):  # type: ignore[misc]
    """One episode of the task's environment."""

    @dataclass(kw_only=True, slots=True)
    class Config(MessageEnv.Config):  # type: ignore[misc]
        name: str
        options: dict[str, str] = field(default_factory=dict)

    def __init__(self, config: Config, *, env_input: Sample) -> None:
        self._task, self._sample = loaded(config.name, config.options), env_input
        with _telling(), naming(self._task, env_input):
            self._environment = self._task.environment(env_input)

    async def init(self) -> Any:
        """What the model sees first."""
        with _telling(), naming(self._task, self._sample):
            opening = await self._environment.init()
        return MessageEnvInitOutput(init_prompt_messages=opening.messages, tools=opening.tools)

    async def step(self, completion_message: Message) -> Any:
        """The environment's answer."""
        with _telling(), naming(self._task, self._sample):
            reply = await self._environment.step(unwrap(completion_message))
        return MessageEnvStepOutput(env_messages=reply.messages, done=reply.done, env_rewards=dict(reply.rewards))

    async def close(self) -> None:
        """Give back what the environment took."""
        await self._environment.close()


class TaskReward(RewardFn):  # type: ignore[misc]
    """One of the task's rewards; TitanRL names it by its class, so each has a class of its own."""

    @dataclass(kw_only=True, slots=True)
    class Config(RewardFn.Config):  # type: ignore[misc]
        name: str
        options: dict[str, str] = field(default_factory=dict)

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        rewards = loaded(config.name, config.options).rewards
        self._reward = next(one for one in rewards if one.name == type(self).__name__)

    async def __call__(self, rollout: Any, env_input: Sample) -> float:
        """The reward of the episode that the rollout is."""
        with _telling():
            return await self._reward(episode(rollout, env_input))


def episode(rollout: Any, sample: Sample) -> Episode:
    """A rollout of TitanRL's as the task's rewards know it."""
    opening = list(rollout.turns[0].prompt_messages) if rollout.turns else []
    messages, earned = list(opening), []
    for turn in rollout.turns:
        if turn.completion_message is not None:
            messages += [unwrap(turn.completion_message), *turn.env_messages]
            earned.append(turn.env_rewards)
    end: End = "tokens" if rollout.status.is_truncated() else "done"
    return Episode(
        sample,
        tuple(messages),
        len(opening),
        tuple(earned),
        _ENDS.get(rollout.status.value, end),
    )


@contextmanager
def _telling() -> Iterator[None]:
    """End the run with the task's own error, which TitanRL would only log."""
    try:
        yield
    except PostTrainError as error:
        LIFE.failed(error)
        raise


@functools.cache
def _loaded(name: str, options: str) -> Task:
    return load(name, json.loads(options))


@functools.cache
def _reward_class(name: str) -> type[TaskReward]:
    @dataclass(kw_only=True, slots=True)
    class Config(TaskReward.Config):
        pass

    return type(name, (TaskReward,), {"Config": Config, "__module__": __name__})
