"""Runs a worker as the runner does, without the runner: run folder, owner's lock, links, environment."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backends.trl.adapter import BACKEND
from orchestrator import process
from orchestrator.backend import Job, LaunchSpec, ModelRef
from orchestrator.events import EventReader
from orchestrator.findings import errors
from orchestrator.hardware import Machine
from orchestrator.harness import ATTEMPT_VARIABLE
from orchestrator.spec import RunSpec

ROOT = Path(__file__).parents[3]
MACHINE = Machine(cores=1, memory=2**34)
_TIMEOUT = 240.0

Event = dict[str, Any]


def make_spec(stage: str, method: str, data: Path, **training: Any) -> RunSpec:
    """A spec of few tiny steps; sections beside training are given with a leading underscore, e.g. `_rl={...}`."""
    sections = {key[1:]: training.pop(key) for key in list(training) if key.startswith("_")}
    values = {
        "learning_rate": 1e-2,
        "epochs": 1.0,
        "max_steps": 4,
        "batch_size": 4,
        "gradient_accumulation": 1,
        **training,
    }
    loss = {"dpo": "sigmoid", "grpo": "dapo"}.get(stage, "none")
    rl = {"beta": 0.1, "loss_type": loss, "num_generations": 4, "max_completion_length": 6, **sections.pop("rl", {})}
    return RunSpec.model_validate(
        {
            "name": "hand",
            "stage": stage,
            "backend": "trl",
            "method": method,
            "data": {"train": str(data), **sections.pop("data", {})},
            "lora": {"r": 4, "alpha": 8, **sections.pop("lora", {})},
            "training": {"max_length": 64, "logging_steps": 1, "save_steps": 2, **values},
            "rl": rl,
            "hardware": {"threads": 1, **sections.pop("hardware", {})},
            **sections,
        }
    )


@dataclass
class Outcome:
    """How one attempt ended."""

    code: int
    events: list[Event]
    log: str

    def of(self, kind: str) -> list[Event]:
        """Events of one type."""
        return [event for event in self.events if event["type"] == kind]

    def metric(self, name: str) -> list[float]:
        """One metric over the steps."""
        return [event["metrics"][name] for event in self.of("step") if name in event["metrics"]]

    def codes(self, kind: str = "error") -> list[str]:
        """Codes of errors or warnings."""
        return [event["code"] for event in self.of(kind)]


@dataclass
class Hand:
    """One run folder and the attempts made in it."""

    python: str
    folder: Path
    spec: RunSpec
    model: Path
    attempts: int = 0
    env: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> LaunchSpec:
        """Check the spec and write the native files."""
        job = Job(run_dir=self.folder, model=ModelRef(label="base", path=str(self.model)), machine=MACHINE)
        assert errors(BACKEND.check(self.spec, job)) == []
        native = BACKEND.materialize(self.spec, job)
        for file in native.files:
            path = self.folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.content, encoding="utf-8")
        links = self.folder / "native" / "pythonpath"
        links.mkdir(exist_ok=True)
        for name in ("orchestrator", "backends", "data_prep"):
            if not (links / name).exists():
                (links / name).symlink_to(ROOT / name)
        return native.launch

    def run(self, *, resume: bool = False, meanwhile: Callable[[process.Child, Path], None] | None = None) -> Outcome:
        """One attempt, to its end."""
        launch = self.prepare()
        self.attempts += 1
        attempt = self.folder / "attempts" / f"{self.attempts:03d}"
        attempt.mkdir(parents=True)
        with _owned(self.folder):
            child = process.Child(
                _argv(self.python, launch),
                cwd=attempt,
                env=self._environment(launch, attempt, resume=resume),
                stdout=attempt / "stdout.log",
                stderr=attempt / "stderr.log",
                mark=ATTEMPT_VARIABLE,  # as a keeper finds what a worker leaves
            )
            try:
                if meanwhile:
                    meanwhile(child, attempt)
                code = child.wait(_TIMEOUT)
            finally:
                child.kill()
        events = list(EventReader(attempt / "events.jsonl").new())
        log = (attempt / "stderr.log").read_text(encoding="utf-8", errors="replace")
        assert code is not None, f"no end within {_TIMEOUT:.0f} s\n{log[-2000:]}"
        return Outcome(code, events, log)

    def _environment(self, launch: LaunchSpec, attempt: Path, *, resume: bool) -> dict[str, str]:
        ours = {
            "PYTHONPATH": str(self.folder / "native" / "pythonpath"),
            "PYTHONSAFEPATH": "1",
            "POST_TRAIN_RUN": str(self.folder),
            ATTEMPT_VARIABLE: str(attempt),
            "HF_HUB_OFFLINE": "1",
            **({"POST_TRAIN_RESUME": "1"} if resume else {}),
        }
        return process.clean_environment({**ours, **launch.env, **self.env})

    @property
    def adapter(self) -> Path:
        """The adapter's tensors."""
        return self.folder / "artifacts" / "adapter" / "adapter_model.safetensors"


def until(child: process.Child, attempt: Path, kind: str, count: int) -> None:
    """Wait until so many events of a type are there."""
    reader, seen, end = EventReader(attempt / "events.jsonl"), 0, time.monotonic() + _TIMEOUT
    while seen < count and child.poll() is None and time.monotonic() < end:
        seen += sum(event["type"] == kind for event in reader.new())
        process.pause(0.005)


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _argv(python: str, launch: LaunchSpec) -> list[str]:
    ranks = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(launch.processes)]
    return [python, *(ranks if launch.processes > 1 else []), "-m", launch.module, *launch.args]


@contextmanager
def _owned(folder: Path) -> Iterator[None]:
    """Hold the owner's lock, as the runner does while it lives."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)
