"""Which flags reach which stage of a pipeline."""

from __future__ import annotations

from orchestrator.errors import UsageError
from orchestrator.nearest import nearest
from orchestrator.recipe import Recipe, Settings, Value
from orchestrator.vocabulary import meaningful, settings

_START = ("model.path", "model.revision", "from")
"""What a chain starts from: not for a stage that goes on from the one before."""


def flags_of(recipe: Recipe, index: int, flags: Settings) -> Settings:
    """The flags for one stage of a pipeline: those addressed to it (`sft.training.epochs`), and those it knows."""
    if not recipe.is_pipeline:
        return flags
    stage = recipe.stages[index]["stage"].value
    method = (recipe.defaults | recipe.stages[index] | flags).get("method", Value("lora", "default")).value
    follows = index > 0 and "model.path" not in recipe.stages[index]
    known = set(settings())
    shared = {k: v for k, v in flags.items() if meaningful(k, stage, method) and not (follows and k in _START)}
    addressed = {k: v for k, v in flags.items() if k.startswith(f"{stage}.") and k not in known}  # not `eval.metric`
    return shared | {k.removeprefix(f"{stage}."): v for k, v in addressed.items()}


def refuse_stray(recipe: Recipe, flags: Settings) -> None:
    """Refuse a flag that no stage of a pipeline would take: it must never be ignored.

    Raises:
        UsageError: for the first such flag.
    """
    taken = {v.origin for index in range(len(recipe.stages)) for v in flags_of(recipe, index, flags).values()}
    for key, value in flags.items():
        if recipe.is_pipeline and value.origin not in taken:
            valid = {*settings(), *(f"{s['stage'].value}.{k}" for s in recipe.stages for k in settings())}
            raise UsageError(f"no stage of this recipe takes `{key}`{nearest(key, valid)}", where=value.origin)
