"""The fake engine: counts steps, writes checkpoints and a tiny artifact, and misbehaves when told to."""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

from orchestrator.harness import Harness, Stopped, WorkError


def work(harness: Harness, native: Path) -> None:
    """Do a stage as the native file says."""
    job = json.loads(native.read_text(encoding="utf-8"))
    _misbehave_at_start(job, harness)
    checkpoint = Path(job["checkpoints"]) / "step.json"
    done = json.loads(checkpoint.read_text())["step"] if harness.resume and checkpoint.exists() else 0
    if harness.leash:
        harness.leash.defer()
    harness.events.emit("state", state="training", total=job["steps"])
    for step in range(done + 1, job["steps"] + 1):
        _step(job, harness, step, checkpoint)
    _write(job)
    harness.events.emit("result", metrics={"loss": _loss(job, job["steps"])})


def _step(job: dict[str, Any], harness: Harness, step: int, checkpoint: Path) -> None:
    time.sleep(job.get("seconds_per_step", 0.0))
    if job.get("die_at") == step and not harness.resume:
        os.kill(os.getpid(), signal.SIGKILL)
    if job.get("fail") == step:
        raise WorkError("fake.failure", f"told to fail at step {step}", why="a test wants it", fix="do not ask for it")
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    checkpoint.write_text(json.dumps({"step": step}))
    harness.events.emit("step", step=step, total=job["steps"], metrics={"loss": _loss(job, step)})
    if job["save_steps"] and step % job["save_steps"] == 0 and not job.get("unsaved"):
        harness.events.emit("checkpoint", step=step, path=str(checkpoint))
    if harness.leash and harness.leash.wanted and not job.get("ignore_stop"):
        raise Stopped


def _loss(job: dict[str, Any], step: int) -> float:
    return round(1.0 / (step + int(job["seed"]) % 7), 6)


def _misbehave_at_start(job: dict[str, Any], harness: Harness) -> None:
    if job.get("garbage"):
        print("\x00\xff garbage {{{", flush=True)
        attempt = os.environ["POST_TRAIN_ATTEMPT"]
        with (Path(attempt) / "events.jsonl").open("ab") as file:
            file.write(b'not json\n{"type": "unheard of"}\n[1, 2]\n\xff\xfe\n')
    if job.get("silent"):
        os._exit(job.get("exit_code", 0))
    harness.events.emit("state", state="loading")
    for path in job.get("spoil", []):
        with Path(path).open("a") as file:
            file.write(" ")
    if job.get("surprise"):
        raise ValueError(" ".join(job["surprise"]))


def _report(labels: list[str]) -> dict[str, Any]:
    """Every model right on half of two items."""
    half = {"score": 0.5, "interval": [0.1, 0.9], "interval_kind": "wilson"}
    more = {"mean_generated_tokens": 1.0, "share_cut_at_limit": 0.0}
    models = [{"label": label, **half, **more} for label in labels]
    return {"metric": "exact", "items": 2, "same_prompts": True, "data_sha256": "", "models": models}


def _write(job: dict[str, Any]) -> None:
    folder = Path(job["output"])
    if job.get("hollow"):
        return
    folder.mkdir(parents=True)
    if job["kind"] == "report":
        (folder / "report.json").write_text(json.dumps(_report(job["compare"])))
        return
    weights = _safetensors(job["seed"])
    names = {
        "adapter": ("adapter_config.json", "adapter_model.safetensors"),
        "model": ("config.json", "model.safetensors"),
    }
    config, tensors = names[job["kind"]]
    (folder / config).write_text(json.dumps({"stage": job["stage"]}))
    (folder / tensors).write_bytes(weights)
    if job["kind"] == "model":
        (folder / "tokenizer.json").write_text("{}")


def _safetensors(seed: int) -> bytes:
    """One float32 tensor of one element."""
    head = json.dumps({"weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return struct.pack("<Q", len(head)) + head + struct.pack("<f", float(seed))


if __name__ == "__main__":
    sys.exit(Harness().main(work))
