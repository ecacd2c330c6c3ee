"""Looks at an artifact on disk before it gets its name: silent losses are found here or by nobody."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from orchestrator.harness import UNTRAINED_VARIABLE, WorkError

_WRAPPERS = ("_orig_mod.", "_checkpoint_wrapped_module.", "_fsdp_wrapped_module.", "module.")


def verify(folder: Path, *, adapter: bool, tied: bool) -> dict[str, float]:
    """Check every tensor.

    Args:
        adapter: whether it is an adapter; otherwise a whole model.
        tied: whether the model's output head is its embedding table.

    Returns:
        Counts of tensors and parameters, and for an adapter of the matrices that training has changed from zero.

    Raises:
        WorkError: no tensors, wrapped names, empty or non-finite tensors, an adapter that never trained, parts missing.
    """
    names, parameters, alive = [], 0, 0
    for name, tensor in _tensors(folder):
        _refuse_tensor(name, tensor)
        names.append(name)
        parameters += tensor.numel()
        alive += "lora_B" in name and bool(tensor.any())
    _refuse_names(folder, names)
    if adapter:
        _refuse_adapter(folder, names, alive)
    elif tied and any(name.endswith("lm_head.weight") for name in names):
        raise wrong(folder, "the embeddings are tied, but a separate lm_head.weight was written")
    return {"tensors": len(names), "parameters": parameters, **({"adapted": alive} if adapter else {})}


def same(folder: Path, trained: Mapping[str, Any]) -> None:
    """Hold an adapter on disk against the one in memory: every tensor, no other, of the same shape and numbers.

    Raises:
        WorkError: a part of what was trained is not there as it was.
    """
    written = dict(_tensors(folder))
    lost, strays = sorted(trained.keys() - written), sorted(written.keys() - trained)
    if lost:
        raise wrong(folder, f"{len(lost)} of {len(trained)} trained tensors were not written, e.g. {lost[0]}")
    if strays:
        raise wrong(folder, f"{len(strays)} of {len(written)} written tensors were not trained, e.g. {strays[0]}")
    for name, tensor in trained.items():
        _refuse_other(folder / name, tensor.detach().cpu(), written[name])


def same_model(folder: Path, trained: Mapping[str, Any]) -> None:
    """Hold a model on disk against the one in memory, tensor by tensor; names that only one side has are the engine's.

    Raises:
        WorkError: a tensor has another shape or other numbers.
    """
    for name, written in _tensors(folder):
        if name in trained:
            _refuse_other(folder / name, trained[name].detach().cpu(), written)


def _refuse_other(where: Path, trained: Any, written: Any) -> None:
    before, after = tuple(trained.shape), tuple(written.shape)
    if before != after:
        raise wrong(where, f"trained with shape {before}, written with {after}")
    if not bool((trained.to(written.dtype) == written).all()):
        raise wrong(where, "the numbers written are not those that were trained")


def _tensors(folder: Path) -> Iterator[tuple[str, Any]]:
    from safetensors import safe_open

    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as opened:
            for name in opened.keys():  # noqa: SIM118  (no mapping: it can't be iterated)
                yield name, opened.get_tensor(name)


def _refuse_tensor(name: str, tensor: Any) -> None:
    if tensor.numel() == 0:
        raise wrong(Path(name), "a tensor without elements was written")
    if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
        raise wrong(Path(name), "a tensor holds NaN or infinity", fix="lower training.learning_rate and train again")


def _refuse_names(folder: Path, names: list[str]) -> None:
    if not names:
        raise wrong(folder, "no tensor was written")
    wrapped = [name for name in names if any(w in f".{name}" for w in (f".{wrapper}" for wrapper in _WRAPPERS))]
    if wrapped:
        raise wrong(
            folder, f"{len(wrapped)} names carry a wrapper's prefix, e.g. {wrapped[0]}: they would load as nothing"
        )


def _refuse_adapter(folder: Path, names: list[str], alive: int) -> None:
    config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    if not alive and any("lora_B" in name for name in names) and UNTRAINED_VARIABLE not in os.environ:
        raise wrong(
            folder,
            "every lora_B is zero: the adapter never trained",
            fix="raise training.learning_rate or train longer; in grpo, check that rewards differ within a group",
        )
    absent = [
        part for part in config.get("modules_to_save") or [] if not any(f".{part}." in f".{name}" for name in names)
    ]
    if absent:
        raise wrong(folder, f"modules_to_save {absent} are not in the saved adapter")


def wrong(where: Path, what: str, fix: str = "report this with the run's native file") -> WorkError:
    """An artifact that is not what was trained."""
    return WorkError(
        "artifact.wrong", f"{where}: {what}", why="the next stage would load something else than was trained", fix=fix
    )
