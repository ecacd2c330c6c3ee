"""What a person writes: a sparse YAML file with one stage, or several as a pipeline.

    stage: sft            name: my-chain
    method: lora          defaults: {training: {seed: 1}}
    model: org/model      stages:
    data: chat.jsonl        - {stage: sft, method: lora, data: chat.jsonl}
                            - {stage: grpo, data: prompts.jsonl, rl: {reward: [./reward.py:score]}}

A recipe has the shape of a RunSpec with everything optional. Reading it checks names, not values; see `resolve`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from orchestrator import yamlfile
from orchestrator.errors import RecipeError
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec, Stage
from orchestrator.vocabulary import OPEN, keys_of, meaningful, part_of

PIPELINE_KEYS = ("name", "description", "defaults", "stages")
SHORT = {"model": "model.path", "data": "data.train", "task": "task.name", "from": "from"}
_PATHS = (
    "model.path",
    "data.train",
    "data.eval",
    "rl.reward",
    "rl.held_out",
    "rl.held_out_metric",
    "task.name",
    "eval.metric",
    "eval.benchmarks",
)


@dataclass(frozen=True)
class Value:
    """A value somebody set, and where: `file:line` or a flag."""

    value: Any
    origin: str


Settings = dict[str, Value]
"""Dotted setting -> what was set."""


@dataclass(frozen=True)
class Recipe:
    """A recipe as read: a settings map for each stage, in order."""

    name: str | None
    description: str
    path: Path | None
    stages: tuple[Settings, ...]
    defaults: Settings = field(default_factory=dict)

    @property
    def is_pipeline(self) -> bool:
        """Whether it was written with `stages:`."""
        return len(self.stages) > 1 or bool(self.defaults)


def read(path: Path) -> Recipe:
    """Read a recipe file.

    Raises:
        RecipeError: with every unknown key and misplaced section at once, each with file:line.
    """
    raw, lines = yamlfile.read(path)
    reader = _Reader(path, lines)
    recipe = reader.pipeline(raw) if "stages" in raw else reader.single(raw)
    if reader.problems:
        raise RecipeError(
            f"{_count(reader.problems)} in the recipe",
            where=str(path),
            details=reader.problems,
            fix="post-train recipes schema",
        )
    return recipe


class _Reader:
    def __init__(self, path: Path, lines: yamlfile.Lines) -> None:
        self.path, self.lines, self.problems = path, lines, list[str]()

    def single(self, raw: dict[str, Any]) -> Recipe:
        description = str(raw.pop("description", ""))
        stage = self._stage(raw, "")
        name = stage.get("name")
        return Recipe(str(name.value) if name else self.path.stem, description, self.path, (stage,))

    def pipeline(self, raw: dict[str, Any]) -> Recipe:
        for key in [k for k in raw if k not in PIPELINE_KEYS]:
            hint = (
                "; a setting for all stages goes under `defaults`"
                if key in keys_of(RunSpec)
                else nearest(str(key), PIPELINE_KEYS)
            )
            self._complain(str(key), f"unknown key {str(key)!r} beside `stages`{hint}")
        stages = raw["stages"] if isinstance(raw["stages"], list) and raw["stages"] else []
        if not stages:
            self._complain("stages", "`stages` is a list with at least one stage")
        defaults = dict(self._flat(self._mapping(raw.get("defaults"), "defaults"), RunSpec, "", "defaults."))
        read = tuple(self._stage(self._mapping(s, f"stages.{n}"), f"stages.{n}.") for n, s in enumerate(stages))
        self._idle(defaults, read)
        return Recipe(str(raw.get("name", self.path.stem)), str(raw.get("description", "")), self.path, read, defaults)

    def _idle(self, defaults: Settings, stages: tuple[Settings, ...]) -> None:
        """Complain about a default that no stage takes: it must never be ignored."""
        usual = Value("lora", "default")
        kinds = [((defaults | s).get("method", usual).value, s["stage"].value) for s in stages if "stage" in s]
        known = [(stage, method) for method, stage in kinds if stage in get_args(Stage)]
        for key in defaults if len(known) == len(stages) else ():
            if not any(meaningful(key, stage, method) for stage, method in known):
                self._complain(f"defaults.{key}", f"`{key}` under `defaults` has no effect in any stage")

    def _mapping(self, raw: Any, at: str) -> dict[str, Any]:
        if raw is None:
            return {}
        if isinstance(raw, dict):
            return raw
        self._complain(at, f"`{at}` must be a mapping of settings, not {raw!r}")
        return {}

    def _stage(self, raw: dict[str, Any], at: str) -> Settings:
        settings = dict(self._flat(raw, RunSpec, "", at))
        stage = settings.get("stage")
        if stage is None:
            self._complain(at.rstrip("."), f"`stage` is missing; one of {', '.join(get_args(Stage))}")
        elif stage.value not in get_args(Stage):
            self._complain(f"{at}stage", f"unknown stage {stage.value!r}{nearest(str(stage.value), get_args(Stage))}")
        return settings

    def _flat(self, raw: dict[str, Any], model: type[BaseModel], prefix: str, at: str) -> Iterator[tuple[str, Value]]:
        for key, value in raw.items():
            part = part_of(model, str(key))
            if str(key) not in keys_of(model):
                self._complain(f"{at}{key}", self._unknown(str(key), model, prefix))
            elif part is not None and isinstance(value, dict):
                yield from self._flat(value, part, f"{prefix}{key}.", f"{at}{key}.")
            elif part is not None and key not in SHORT:
                self._complain(
                    f"{at}{key}", f"`{prefix}{key}` is a section with {', '.join(keys_of(part))}, not {value!r}"
                )
            else:
                dotted = SHORT.get(f"{prefix}{key}", f"{prefix}{key}")
                yield from self._leaves(dotted, value, f"{at}{key}")

    def _leaves(self, dotted: str, value: Any, at: str) -> Iterator[tuple[str, Value]]:
        if isinstance(value, dict) and value and all(isinstance(key, str) and "." not in key for key in value):
            for key, inner in value.items():
                yield from self._leaves(f"{dotted}.{key}", inner, f"{at}.{key}")
        else:
            yield dotted, Value(beside(self.path, dotted, value), self._place(at))

    def _unknown(self, key: str, model: type[BaseModel], prefix: str) -> str:
        elsewhere = [name for name, part in _parts() if key in keys_of(part)] if model is RunSpec else []
        hint = f"; it belongs under `{elsewhere[0]}`" if elsewhere else nearest(key, keys_of(model))
        return f"unknown key `{prefix}{key}`{hint}"

    def _complain(self, at: str, text: str) -> None:
        self.problems.append(f"{self._place(at)}: {text}")

    def _place(self, at: str) -> str:
        while at and at not in self.lines:
            at = at.rpartition(".")[0]
        return f"{self.path}:{self.lines.get(at, 1)}"


def beside(path: Path, dotted: str, value: Any) -> Any:
    """Make `./x` in a recipe mean: beside the recipe. Other paths stay relative to the folder you are in."""
    if dotted not in _PATHS and not dotted.startswith(OPEN):
        return value
    if isinstance(value, list):
        return [beside(path, dotted, item) for item in value]
    if isinstance(value, dict):
        return {key: beside(path, dotted, item) for key, item in value.items()}
    head, mark, tail = value.partition("reward:") if isinstance(value, str) else ("", "", "")
    if mark and not head:
        return mark + str(beside(path, dotted, tail))
    if isinstance(value, str) and value.startswith(("./", "../")):
        return str((path.absolute().parent / value).resolve())
    return value


def _parts() -> Iterator[tuple[str, type[BaseModel]]]:
    for name in keys_of(RunSpec):
        part = part_of(RunSpec, name)
        if part is not None:
            yield name, part


def _count(problems: list[str]) -> str:
    return "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
