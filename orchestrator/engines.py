"""Which engines can do a stage, and what has to be said to plan it with another one than the recipe names."""

from __future__ import annotations

from orchestrator import registry
from orchestrator.errors import UsageError
from orchestrator.recipe import Recipe, Settings, Value
from orchestrator.resolve import engines
from orchestrator.spec import TRAINING_STAGES, RunSpec

FLAG = "--backend"


def able(spec: RunSpec) -> list[str]:
    """Backends that have the stage and the method, stand-ins left out."""
    every = {name: registry.load(name).capabilities() for name in registry.names()}
    return [n for n, can in every.items() if not can.stand_in and spec.method in can.methods.get(spec.stage, ())]


def flags_for(recipe: Recipe, index: int, flags: Settings, engine: str | None) -> Settings:
    """The flags of a stage with another engine asked for: the recipe's native keys are of its own engine and go.

    A stage of a pipeline that the engine lacks stays with its own, and so does one that trains nothing.
    """
    if engine is None or not _reaches(recipe, index, engine):
        return flags
    chosen = flags | {"backend": Value(engine, FLAG)}
    written, _ = engines(recipe, index, chosen)
    return chosen if written == engine else {"native": Value({}, FLAG)} | chosen


def refuse_idle(recipe: Recipe, engine: str) -> None:
    """Refuse an engine that no stage of a recipe would be planned with.

    Raises:
        UsageError: the engine is unknown, or has none of the training stages.
    """
    can = registry.load(engine).capabilities().methods
    if not any(_reaches(recipe, index, engine) for index in range(len(recipe.stages))):
        message = f"backend {engine} does {', '.join(sorted(can))}, and the recipe trains nothing of that"
        raise UsageError(message, where=FLAG, fix="post-train backends")


def _reaches(recipe: Recipe, index: int, engine: str) -> bool:
    stage = recipe.stages[index]["stage"].value
    return stage in TRAINING_STAGES and stage in registry.load(engine).capabilities().methods
