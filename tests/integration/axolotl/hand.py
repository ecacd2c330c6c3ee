"""Runs Axolotl as the runner does, without the runner: run folder, owner's lock, links, environment."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from backends.axolotl.adapter import BACKEND
from orchestrator import process
from orchestrator.backend import Job, LaunchSpec, ModelRef
from orchestrator.events import EventReader
from orchestrator.hardware import Machine
from orchestrator.harness import ATTEMPT_VARIABLE
from orchestrator.spec import RunSpec

ROOT = Path(__file__).parents[3]
MODEL = ROOT / "recipes" / "quickstart" / "model"
MACHINE = Machine(cores=1, memory=2**34)
_TIMEOUT = 300.0

Event = dict[str, Any]
Meanwhile = Callable[[process.Child, Path], None]


def make_spec(method: str, data: Path, **training: Any) -> RunSpec:
    """A spec of few tiny steps; sections beside training are given with a leading underscore, e.g. `_native={...}`."""
    sections = {key[1:]: training.pop(key) for key in list(training) if key.startswith("_")}
    values = {"max_steps": 6, "batch_size": 4, "gradient_accumulation": 1, "learning_rate": 1e-3, **training}
    return RunSpec.model_validate(
        {
            "name": "hand",
            "stage": "sft",
            "backend": "axolotl",
            "method": method,
            "data": {"train": str(data), **sections.pop("data", {})},
            "lora": {"r": 4, "alpha": 8, **sections.pop("lora", {})},
            "training": {"epochs": 4.0, "max_length": 64, "logging_steps": 1, "save_steps": 2, **values},
            "hardware": {"threads": 1, **sections.pop("hardware", {})},
            "rl": {"beta": 0.1, "loss_type": "none"},
            "native": {"dataset_num_proc": 1, **sections.pop("native", {})},
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

    def metric(self, name: str) -> dict[int, float]:
        """One metric by step."""
        return {event["step"]: event["metrics"][name] for event in self.of("step") if name in event["metrics"]}

    def codes(self, kind: str = "error") -> list[str]:
        """Codes of errors or warnings."""
        return [event["code"] for event in self.of(kind)]

    @property
    def states(self) -> list[str]:
        """Every state it went through."""
        return [event["state"] for event in self.of("state")]

    @property
    def facts(self) -> dict[str, float]:
        """Final numbers."""
        (event,) = self.of("result")
        return dict(event["metrics"])


@dataclass
class Hand:
    """One run folder and the attempts made in it."""

    python: str
    folder: Path
    spec: RunSpec
    attempts: int = 0

    def prepare(self) -> LaunchSpec:
        """Write the native files."""
        native = BACKEND.materialize(self.spec, self._job)
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

    def run(self, *, resume: bool = False, by_hand: bool = False, meanwhile: Meanwhile | None = None) -> Outcome:
        """One attempt, to its end.

        Args:
            by_hand: without the variables that only the runner sets.
            meanwhile: called with the process and its attempt folder once it has started.
        """
        launch = self.prepare()
        self.attempts += 1
        attempt = self.folder / "attempts" / f"{self.attempts:03d}"
        attempt.mkdir(parents=True)
        with owned(self.folder):
            child = self.start(launch, attempt, {} if by_hand else self.variables(attempt, resume=resume))
            try:
                if meanwhile:
                    meanwhile(child, attempt)
                code = child.wait(_TIMEOUT)
            finally:
                child.kill()
        assert code is not None, f"no end within {_TIMEOUT:.0f} s\n{(attempt / 'stderr.log').read_text()[-2000:]}"
        return self.outcome(code, attempt)

    def outcome(self, code: int, attempt: Path) -> Outcome:
        """What an attempt left."""
        log = (attempt / "stderr.log").read_text(encoding="utf-8", errors="replace")
        return Outcome(code, list(EventReader(attempt / "events.jsonl").new()), log[-6000:])

    def start(self, launch: LaunchSpec, attempt: Path, variables: dict[str, str]) -> process.Child:
        """The launch of the plan."""
        programs = os.pathsep.join([str(Path(self.python).parent), os.environ["PATH"]])
        path = {"PYTHONPATH": str(self.folder / "native" / "pythonpath"), "PYTHONSAFEPATH": "1", "PATH": programs}
        return process.Child(
            [self.python, "-m", launch.module, *launch.args],
            cwd=attempt,
            env=process.clean_environment({**path, **launch.env, **variables}),
            stdout=attempt / "stdout.log",
            stderr=attempt / "stderr.log",
            mark=ATTEMPT_VARIABLE if ATTEMPT_VARIABLE in variables else None,  # as a keeper finds what a worker leaves
        )

    def variables(self, attempt: Path, *, resume: bool = False) -> dict[str, str]:
        """What the runner tells a worker."""
        ours = {"POST_TRAIN_RUN": str(self.folder), ATTEMPT_VARIABLE: str(attempt)}
        return {**ours, **({"POST_TRAIN_RESUME": "1"} if resume else {})}

    @property
    def _job(self) -> Job:
        model = ModelRef(label="base", path=self.spec.model.path or str(MODEL))
        return Job(run_dir=self.folder, model=model, machine=MACHINE)

    @property
    def checkpoints(self) -> list[Path]:
        """Checkpoint folders, oldest first."""
        return sorted(self.folder.glob("checkpoints/checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))

    @property
    def artifact(self) -> Path:
        """Where the artifact belongs."""
        return self.folder / "artifacts" / ("model" if self.spec.method == "full" else "adapter")

    def digest(self) -> str:
        """Digest of the artifact's tensors."""
        (file,) = self.artifact.glob("*.safetensors")
        return hashlib.sha256(file.read_bytes()).hexdigest()


def until(child: process.Child, attempt: Path, kind: str, count: int) -> None:
    """Wait until so many events of a type are there."""
    reader, seen, end = EventReader(attempt / "events.jsonl"), 0, time.monotonic() + _TIMEOUT
    while seen < count and child.poll() is None and time.monotonic() < end:
        seen += sum(event["type"] == kind for event in reader.new())
        process.pause(0.005)


def below(pid: int) -> list[psutil.Process]:
    """The process itself, and all that it started."""
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


def header(path: Path) -> dict[str, Any]:
    """The header of a safetensors file."""
    raw = path.read_bytes()
    return dict(json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")]))


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Hold the owner's lock, as the runner does while it lives."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)
