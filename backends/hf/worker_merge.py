"""The merge stage: base + adapter -> a full model in artifacts/model, proved before it gets its name."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer

from backends.hf import (
    worker_carry,
    worker_model,
    worker_peft,
    worker_publish,
    worker_stream,
    worker_taken,
)
from backends.hf.worker_adapter import Adapter
from backends.hf.worker_stored import Catalogue, catalogue, main_dtype, quantised
from backends.hf.worker_verify import prove
from backends.trainer import behaviour, memory, probe, sketch
from backends.trainer.handoff import coarser, require_same
from orchestrator.harness import PROBE_VARIABLE, Harness, WorkError


def merge(harness: Harness, settings: dict[str, Any]) -> None:
    """Do the stage.

    Raises:
        WorkError: anything that would leave a model other than the one that was trained.
    """
    model, output = settings["model"], Path(settings["output"])
    base, adapter = _inputs(harness, model)
    trust, dtype = model["trust_remote_code"], _dtype(settings["dtype"])
    stored = _unquantised(base, trust)
    partial = worker_publish.begin(output, sum(worker_stream.size(t, dtype) for t in stored.values()))
    changed = _write(harness, base, adapter, stored, folder=partial, settings=settings)
    declared = dtype or main_dtype(stored)
    worker_carry.carry(base, adapter.folder, partial, declared)
    tokenizer = _tokenizer(partial, trust)
    harness.events.emit("state", state="evaluating")
    look = functools.partial(_look, harness, model["probe"], tokenizer, str(declared).removeprefix("torch."))
    proof = prove(base, adapter, partial, tokenizer, trust=trust, dtype=declared, look=look)
    worker_publish.publish(partial, output)
    told = {**proof.metrics(), "merged_tensors": changed}
    harness.events.emit("result", metrics=told, peak_memory=memory.peak())


def _look(harness: Harness, path: str | None, tokenizer: Any, stored: str, model: Any) -> None:
    """Hold the merged model to what its trainer measured, and leave that as its probe beside its own weights."""
    told = require_same(model, tokenizer, harness.events, "the merged model", path, mixed=stored)
    if not told or harness.run is None:
        return
    made = json.loads(Path(path or os.environ[PROBE_VARIABLE]).read_text(encoding="utf-8"))
    own = {"config": behaviour.of(model.config), "adapter": None, "weights": sketch.of(model, stored)}
    dtype = coarser(made["dtype"], stored)
    probe.write(harness.run, {**made, **own, "dtype": dtype, "stops": behaviour.stops(model)})


def _inputs(harness: Harness, model: dict[str, Any]) -> tuple[Path, Adapter]:
    if not model["adapter"]:
        raise WorkError(
            "merge.no_adapter", f"{model['label']} has no adapter to merge", fix="start from a lora or qlora run"
        )
    base, adapter = worker_taken.files(harness, model)
    assert adapter is not None
    return base, adapter


def _dtype(name: str) -> torch.dtype | None:
    return None if name == "auto" else getattr(torch, name)


def _unquantised(base: Path, trust: bool) -> Catalogue:
    config = worker_model.config_of(base, trust)
    method = getattr(config, "quantization_config", None)
    if method:
        name = method.get("quant_method") if isinstance(method, dict) else method.quant_method
        raise quantised(f"{base / 'config.json'} declares {name} weights")
    return catalogue(base)


def _write(
    harness: Harness, base: Path, adapter: Adapter, stored: Catalogue, *, folder: Path, settings: dict[str, Any]
) -> int:
    """Write weights the light way where that is exact, else PEFT's way."""
    trust, limit, dtype = settings["model"]["trust_remote_code"], settings["max_shard_bytes"], _dtype(settings["dtype"])
    skeleton = worker_model.skeleton(worker_model.config_of(base, trust), trust)
    worker_model.check_modules(adapter, {name for name, _ in skeleton.named_modules()})
    light = worker_stream.fits(adapter, skeleton, stored)
    print(f"merging {'shard by shard' if light else 'with PEFT, in memory'}", flush=True)
    harness.events.emit("state", state="saving")
    if not light:
        return worker_peft.write(base, adapter, stored, folder, trust=trust, dtype=dtype, limit=limit)

    def progress(step: int, total: int) -> None:
        harness.events.emit("step", step=step, total=total, metrics={}, peak_memory=memory.peak())

    turned = worker_stream.turned(skeleton)
    return worker_stream.write(adapter, stored, folder, turned=turned, dtype=dtype, limit=limit, progress=progress)


def _tokenizer(folder: Path, trust: bool) -> Any:
    """The merged model's tokenizer; its end token becomes one that generation stops at."""
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust, local_files_only=True)
    rows = worker_model.config_of(folder, trust).get_text_config().vocab_size
    worker_model.check_vocabulary(tokenizer, rows, folder)
    if tokenizer.eos_token_id is not None:
        worker_carry.stop_at(folder, tokenizer.eos_token_id)
    return tokenizer
