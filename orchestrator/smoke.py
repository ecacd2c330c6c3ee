"""A smoke run: the smallest run that still meets what a long one meets.

It crosses two optimizer steps, because Adam's state is allocated at the first: memory after step two is what a run
wants. It skips validation and writes a checkpoint at step 2. Model, method, batch size and length stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from orchestrator import registry
from orchestrator.errors import UsageError
from orchestrator.findings import Finding
from orchestrator.recipe import Settings
from orchestrator.resolve import Resolved
from orchestrator.spec import RunSpec

FLAG = "--smoke"
SUFFIX = "-smoke"
STEPS = 2
ITEMS = 8
"""Items that an eval looks at."""

_LONGEST_NAME = 100
_REFUSED = ("training.epochs",)
"""Settings that would have no effect beside it; a flag must never be ignored."""
_HARMLESS = ("name", "accept", "data.eval")
"""Flags that the real run's command has: the same command with the flag added must do."""


def bounded(asked: Resolved, flags: Settings) -> Resolved:
    """The smoke run of a stage: what bounds it wins over the recipe, and over the engine's own keys.

    Args:
        flags: settings from the command line for this stage.

    Raises:
        UsageError: a flag contradicts it.
    """
    spec = asked.spec
    values, cadence = _values(spec), registry.load(spec.backend).capabilities().cadence
    _refuse(flags, [*(k for k in values if k not in _HARMLESS), *_REFUSED, *(f"native.{k}" for k in cadence)])
    dropped = {f"native.{k}": asked.origins.get(f"native.{k}", "") for k in cadence if _taken(spec.native, k)}
    tree = spec.model_dump(by_alias=True)
    for dotted, value in values.items():
        _put(tree, dotted, value)
    for dotted in dropped:
        _drop(tree, dotted)
    origins = {k: v for k, v in asked.origins.items() if not _within(k, dropped)} | dict.fromkeys(values, FLAG)
    findings = (*asked.findings, *_told(spec, values, list(dropped)))
    return replace(asked, spec=RunSpec.model_validate(tree), origins=origins, findings=findings)


def _values(spec: RunSpec) -> dict[str, Any]:
    name = {"name": spec.name.removesuffix(SUFFIX)[: _LONGEST_NAME - len(SUFFIX)] + SUFFIX}
    if spec.stage == "eval":
        return {**name, "eval.max_items": min(spec.eval.max_items or ITEMS, ITEMS)}
    if not spec.trains:
        return name
    return {
        **name,
        **_accepted(spec),
        "training.max_steps": STEPS,
        "training.gradient_accumulation": _accumulation(spec),
        "training.warmup_steps": 0,
        "training.logging_steps": 1,
        "training.save_steps": STEPS,
        "training.eval_steps": None,
        "data.eval": None,
    }


def _accepted(spec: RunSpec) -> dict[str, Any]:
    """Advice on the batch is about the real run, and given there."""
    told = spec.stage == "sft" and "hp.batch_size" not in spec.accept
    return {"accept": [*spec.accept, "hp.batch_size"]} if told else {}


def _accumulation(spec: RunSpec) -> int:
    """1; in GRPO as many micro steps as whole groups need."""
    if spec.stage != "grpo":
        return 1
    group, completions = spec.rl.num_generations, spec.training.batch_size * spec.hardware.processes
    return group // math.gcd(group, completions)


def _refuse(flags: Settings, decided: list[str]) -> None:
    for key, value in flags.items():
        if any(key == one or key.startswith(f"{one}.") for one in decided):
            raise UsageError(
                f"`{key}` and {FLAG} contradict each other: a smoke run decides it itself",
                where=value.origin,
                fix=f"leave one of {value.origin} and {FLAG} out",
            )


def _told(spec: RunSpec, values: dict[str, Any], dropped: list[str]) -> Iterable[Finding]:
    if dropped:
        keys, why = ", ".join(dropped), "they say how long to train, or when to validate and save"
        yield Finding(code="smoke.native", level="note", message=f"{keys}: left out of a smoke run, {why}", where=FLAG)
    if spec.trains and spec.data.eval:
        yield Finding(code="smoke.eval", level="note", message="a smoke run skips validation", where="data.eval")
    before, now = spec.training.gradient_accumulation, values.get("training.gradient_accumulation", 0)
    if spec.stage == "grpo" and now < before:
        size = spec.training.batch_size
        message = f"a generation makes {size * now} completions a rank here, and {size * before} in the real run"
        fix = "leave room in memory for it"
        yield Finding(code="smoke.generation", level="note", message=message, fix=fix, where=FLAG)


def _taken(tree: dict[str, Any], dotted: str) -> bool:
    node: Any = tree
    for part in dotted.split("."):
        if not isinstance(node, dict) or part not in node:
            return False
        node = node[part]
    return True


def _put(tree: dict[str, Any], dotted: str, value: Any) -> None:
    *parents, leaf = dotted.split(".")
    for parent in parents:
        tree = tree[parent]
    tree[leaf] = value


def _drop(tree: dict[str, Any], dotted: str) -> None:
    *parents, leaf = dotted.split(".")
    for parent in parents:
        tree = tree[parent]
    del tree[leaf]


def _within(key: str, names: Iterable[str]) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in names)
