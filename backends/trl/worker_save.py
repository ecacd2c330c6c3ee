"""Writes the artifact: beside its place first, looked at, then renamed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from backends.trainer import probe, readback
from backends.trainer.tensors import same, same_model, verify
from backends.trl.worker_file import Arguments
from backends.trl.worker_fsdp import whole
from backends.trl.worker_model import load_tokenizer
from orchestrator.harness import WorkError

_PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json")


def refuse_existing(arguments: Arguments) -> None:
    """An artifact is never overwritten.

    Raises:
        WorkError: its folder exists.
    """
    folder = Path(arguments.output["folder"])
    if folder.exists():
        raise WorkError("output.exists", f"{folder} exists", why="it would be overwritten", fix="start a new run")


def save(trainer: Any, arguments: Arguments, dtype: Any) -> dict[str, float]:
    """Write the adapter or the model. All ranks call it, rank 0 writes.

    Args:
        dtype: of the weights as loaded; FSDP2 trains on a float32 copy, which is not what the model is stored as.

    Returns:
        Facts about the artifact, for the result event.

    Raises:
        WorkError: what was written is not what should be.
    """
    folder, adapter = Path(arguments.output["folder"]), arguments.peft is not None
    partial = folder.with_name(f".partial-{folder.name}")
    model = trainer.accelerator.unwrap_model(trainer.model)
    rank = int(trainer.args.process_index)
    # gathered first: a forward pass leaves the outermost shards gathered, which then can't be read one by one
    state = whole(model, rank, trained_only=adapter) if arguments.sharded else None
    mixed = probe.mixed_precision(trainer.args)
    stored = None if adapter or state is None else str(dtype).removeprefix("torch.")
    options = {"mixed": mixed, "stored": stored}
    measured = probe.measure(model, load_tokenizer(arguments), **options) if probe.wanted() else None
    facts: dict[str, float] = {}
    if rank == 0:
        shutil.rmtree(partial, ignore_errors=True)
        _write(model, state, partial, arguments, dtype)
        facts = verify(partial, adapter=adapter, tied=model.config.get_text_config().tie_word_embeddings)
        _read_back(model, state, partial, adapter=adapter)
        if measured is not None:
            readback.require_tokenizer(partial, measured)
            probe.write(folder.parents[1], measured)
        partial.rename(folder)
    trainer.accelerator.wait_for_everyone()
    return facts


def _write(model: Any, state: dict[str, Any] | None, folder: Path, arguments: Arguments, dtype: Any) -> None:
    if arguments.peft is not None:
        model.peft_config["default"].revision = arguments.model.get("revision")
    elif state is not None:
        state = {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in state.items()}
    model.save_pretrained(folder, **({"state_dict": state} if state is not None else {}))
    load_tokenizer(arguments).save_pretrained(folder)
    if arguments.peft is None:
        _copy_processor(arguments, folder)


def _read_back(model: Any, state: dict[str, Any] | None, folder: Path, *, adapter: bool) -> None:
    """What is on disk is what is in memory: numbers, and the configuration that says what they mean."""
    if adapter:
        same(folder, _trained(model, state))
        readback.require_adapter(folder, model.peft_config["default"])
    else:
        if state is None:
            same_model(folder, model.state_dict())
        readback.require_config(folder, model.config)


def _trained(model: Any, state: dict[str, Any] | None) -> dict[str, Any]:
    """The adapter's tensors in memory, by the names that they are stored under."""
    from peft import get_peft_model_state_dict

    return dict(get_peft_model_state_dict(model, state_dict=state))


def _copy_processor(arguments: Arguments, folder: Path) -> None:
    """A multimodal model without its image processor can't be served."""
    from transformers.utils import cached_file

    revision = {"revision": arguments.model["revision"]} if "revision" in arguments.model else {}
    for name in _PROCESSOR_FILES:
        found = cached_file(arguments.model["path"], name, _raise_exceptions_for_missing_entries=False, **revision)
        if found:
            shutil.copyfile(found, folder / name)
