"""Tensor names of a saved adapter against its base model; what fits nothing, PEFT would drop with a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.axolotl.worker_artifact import adapter_config
from backends.axolotl.worker_parameters import untouched
from orchestrator.harness import WorkError

_PREFIX = "base_model.model."


def refuse_names(folder: Path, model: Any) -> None:
    """Hold every name against the adapter that PEFT makes of the same configuration on the same base.

    Args:
        model: base with that adapter.

    Raises:
        WorkError: a tensor without a module, or a module without its tensors.
    """
    from peft import get_peft_model_state_dict

    names = stored_names(folder)
    wanted = set(get_peft_model_state_dict(model, save_embedding_layers=False))
    base = set(model.get_base_model().state_dict())
    strays = sorted(name for name in names - wanted if name.removeprefix(_PREFIX) not in base)
    lost = [*sorted(wanted - names), *untouched(adapter_config(folder)["target_modules"], sorted(names))]
    if strays:
        raise _fault(folder, f"{len(strays)} tensors fit no module of the base model, e.g. {strays[0]}")
    if lost:
        raise _fault(folder, f"{len(lost)} targets got no tensor, e.g. {lost[0]}")


def stored_names(folder: Path) -> set[str]:
    """Names of all tensors."""
    from safetensors import safe_open

    names: set[str] = set()
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as opened:
            names |= set(opened.keys())
    return names


def _fault(folder: Path, what: str) -> WorkError:
    return WorkError(
        "artifact.names",
        f"{folder}: {what}",
        why="they would load as nothing, and the model would answer more like its base",
        fix="report this with the run's native file",
    )
