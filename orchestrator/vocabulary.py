"""Which settings mean something in which stage; a setting that would be ignored is refused instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from orchestrator.spec import Method, RunSpec, Stage

_COMMON = ("name", "stage", "backend", "from", "model", "native", "accept", "hardware")
_PROVED = (*_COMMON, "proof")
_TRAINING = (*_PROVED, "method", "data", "lora", "training", "tracking")
_BY_STAGE: dict[Stage, tuple[str, ...]] = {
    "sft": _TRAINING,
    "dpo": (*_TRAINING, "rl.beta", "rl.loss_type"),
    "grpo": (*_TRAINING, "rl", "task"),
    "merge": (*_COMMON, "merge"),
    "eval": (*_PROVED, "eval", "data.eval", "task"),
    "verify": _COMMON,
}
OPEN = ("native.", "task.options.")
"""Sections whose keys are not ours."""
_NOT: dict[Stage, tuple[str, ...]] = {
    "dpo": ("training.packing", "training.loss_on"),
    "grpo": ("training.packing", "training.loss_on"),
}


def meaningful(setting: str, stage: Stage, method: Method) -> bool:
    """Whether a dotted setting has an effect in this stage with this method."""
    if method == "full" and stage in ("sft", "dpo", "grpo") and _below(setting, "lora"):
        return False
    if any(_below(setting, name) for name in _NOT.get(stage, ())):
        return False
    return any(_below(setting, name) or _below(name, setting) for name in _BY_STAGE[stage])


def settings(model: type[BaseModel] = RunSpec, prefix: str = "") -> Iterator[str]:
    """Every dotted setting of the vocabulary, leaves only."""
    for name, field in model.model_fields.items():
        dotted = f"{prefix}{field.alias or name}"
        part = part_of(model, field.alias or name)
        if part is None:
            yield dotted
        else:
            yield from settings(part, f"{dotted}.")


def part_of(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The model behind a key that holds a section, else None."""
    for name, field in model.model_fields.items():
        if (
            key == (field.alias or name)
            and isinstance(field.annotation, type)
            and issubclass(field.annotation, BaseModel)
        ):
            return field.annotation
    return None


def keys_of(model: type[BaseModel]) -> list[str]:
    """Names as a recipe writes them."""
    return [field.alias or name for name, field in model.model_fields.items()]


def relevant(dump: dict[str, Any], stage: Stage, method: Method) -> dict[str, Any]:
    """A spec's dump without the settings that mean nothing in its stage."""
    kept: dict[str, Any] = {}
    for key, value in dump.items():
        if isinstance(value, dict) and part_of(RunSpec, key):
            inner = {k: v for k, v in value.items() if meaningful(f"{key}.{k}", stage, method)}
            kept.update({key: inner} if inner else {})
        elif meaningful(key, stage, method):
            kept[key] = value
    return kept


def _below(setting: str, name: str) -> bool:
    return setting == name or setting.startswith(f"{name}.")
