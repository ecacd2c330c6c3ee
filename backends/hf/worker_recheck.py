"""The verify stage: a model is loaded in a fresh process and asked again what its maker asked it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from backends.hf import worker_model, worker_publish, worker_taken
from backends.trainer.handoff import require_same
from backends.trainer.prompts import tokenizer_folder
from orchestrator.harness import Harness, WorkError


def recheck(harness: Harness, settings: dict[str, Any]) -> None:
    """Do the stage.

    Raises:
        WorkError: the model renders other tokens, answers otherwise, or its maker left nothing to compare with.
    """
    reference, output = settings["model"], Path(settings["output"])
    partial = worker_publish.begin(output)
    model, tokenizer = _load(harness, settings)
    told = require_same(model, tokenizer, harness.events, reference["label"], reference["probe"])
    if told is None:
        text = f"{reference['label']} left no probe: nothing says what its model answered when it was made"
        raise WorkError("verify.no_probe", text, fix="train it again, or compare it with others: post-train eval")
    (partial / "report.json").write_text(json.dumps({"model": reference["label"], **told}, indent=2) + "\n")
    worker_publish.publish(partial, output)
    harness.events.emit("result", metrics=told)


def _load(harness: Harness, settings: dict[str, Any]) -> tuple[Any, Any]:
    """Model and tokenizer as every next stage would take them up: an adapter on its base, never merged."""
    reference, where = settings["model"], worker_model.device()
    trust, dtype = bool(reference["trust_remote_code"]), worker_model.dtype_of(settings["dtype"], where)
    folder, adapter = worker_taken.files(harness, reference)
    model: Any = worker_model.load(folder, trust=trust, dtype=dtype, where=where, attention=settings["attention"])
    own = tokenizer_folder(folder, adapter.folder if adapter else None)
    tokenizer = AutoTokenizer.from_pretrained(own, trust_remote_code=trust, local_files_only=True)
    return worker_model.attach(model, adapter) if adapter else model, tokenizer
