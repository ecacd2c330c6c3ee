"""Which engines can do a stage, and what has to be said to plan it with another one than the recipe names."""

from __future__ import annotations

from orchestrator import registry
from orchestrator.errors import UsageError
from orchestrator.recipe import Recipe, Settings, Value
from orchestrator.resolve import engines, kind
from orchestrator.spec import TRAINING_STAGES

FLAG = "--backend"


def able(recipe: Recipe, index: int, flags: Settings) -> list[str]:
    """Backends that have the stage with the method, the one that the recipe means first, stand-ins left out.

    Without a task those are left out that run nothing else.
    """
    stage, method = kind(recipe, index, flags)
    written, _ = engines(recipe, index, flags)
    every = {name: registry.load(name).capabilities() for name in registry.names()}
    plain = stage == "grpo" and "task.name" not in recipe.stages[index] | flags
    found = [
        name
        for name, can in every.items()
        if not can.stand_in and method in can.methods.get(stage, ()) and (can.reward_functions or not plain)
    ]
    return sorted(found, key=lambda name: (name != written, name))


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
