"""What will be trained, looked at before the first step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestrator.harness import WorkError


def count_trainable(model: Any) -> int:
    """Number of parameters that get a gradient.

    Raises:
        WorkError: there are none, or one of them is no number already.
    """
    trainable = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    if not trainable:
        raise WorkError(
            "training.nothing",
            "no parameter of the model is trainable",
            why="the run would save what it loaded",
            fix="set method: lora, or take unfrozen_parameters out of native",
        )
    for name, parameter in trainable:
        if not parameter.is_meta and not bool(_here(parameter).isfinite().all()):
            raise WorkError(
                "model.not_finite",
                f"{name} holds NaN or infinity before the first step",
                why="training can't mend it",
                fix="load the model anew, or take another precision",
            )
    return sum(parameter.numel() for _, parameter in trainable)


def refuse_untouched(model: Any) -> None:
    """Every module name that was asked for must have got an adapter; PEFT is content with one of them.

    Raises:
        WorkError: a name matches nothing.
    """
    for config in getattr(model, "peft_config", {}).values():
        names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
        lost = untouched(config.target_modules, names)
        if lost:
            raise WorkError(
                "lora.no_target",
                f"lora.target_modules: {', '.join(lost)} match no module of {type(model.get_base_model()).__name__}",
                why="they would be left untrained without a word",
                fix="name modules of this model, or all-linear",
            )


def untouched(targets: Iterable[str] | str | None, names: list[str]) -> list[str]:
    """Targets without a tensor. A string is a pattern over whole names: PEFT itself refuses one that matches nothing.

    Args:
        names: of an adapter's tensors, such as `base_model.model.layers.0.self_attn.q_proj.lora_A.weight`.
    """
    if targets is None or isinstance(targets, str):
        return []
    modules = {name.split(".lora_")[0] for name in names if ".lora_" in name}
    return sorted(t for t in targets if not any(f".{module}".endswith(f".{t}") for module in modules))


def _here(parameter: Any) -> Any:
    """This rank's part of a sharded parameter."""
    return parameter.to_local() if hasattr(parameter, "to_local") else parameter
