"""The engine's Python, tiny models, and a worker started as the runner starts it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from backends.hf.adapter import BACKEND
from orchestrator.backend import Job, Learned, ModelRef
from orchestrator.hardware import Machine
from orchestrator.spec import RunSpec

HERE = Path(__file__).parent
REPO = HERE.parents[2]
PYTHON = "POST_TRAIN_TRL_PYTHON"
_MACHINE = Machine(cores=1, memory=2**32)


@dataclass(frozen=True)
class Outcome:
    """How a worker ended."""

    code: int
    run: Path
    events: list[dict[str, Any]]
    stderr: str

    def of(self, type_: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == type_]

    @property
    def error(self) -> str:
        """The code of the failure, and proof that it was foreseen."""
        (event,) = self.of("error")
        assert self.code == 1
        assert event["fix"]
        assert "Traceback" not in self.stderr
        return str(event["code"])

    @property
    def metrics(self) -> dict[str, float]:
        assert self.code == 0, self.stderr
        (event,) = self.of("result")
        return dict(event["metrics"])


class Workshop:
    """Makes run folders and runs workers in them."""

    def __init__(self, python: str, root: Path) -> None:
        self.python, self.root, self._runs = python, root, 0

    def prepare(
        self, stage: str, model: ModelRef, *compare: ModelRef, learned: tuple[Learned, ...] = (), **parts: Any
    ) -> Path:
        """A run folder with its native file."""
        self._runs += 1
        run = self.root / f"run-{self._runs}"
        (run / "attempts" / "001").mkdir(parents=True)
        (run / "native").mkdir()
        training = {"learning_rate": 1e-4, "epochs": 1, "batch_size": 1, "gradient_accumulation": 1}
        fixed = {"name": "t", "stage": stage, "backend": "hf", "training": training}
        spec = RunSpec.model_validate({**fixed, "rl": {"beta": 0.0, "loss_type": "none"}, **parts})
        job = Job(run_dir=run, model=model, compare=compare, learned=learned, machine=_MACHINE)
        for file in BACKEND.materialize(spec, job).files:
            (run / file.path).write_text(file.content)
        return run

    def start(self, *runs: Path) -> subprocess.Popen[str]:
        """The worker of one run as the runner starts it, or of several in one process."""
        natives = [str(native) for run in runs for native in (run / "native").glob("*.yaml")]
        command = ["-m", "backends.hf.worker"] if len(runs) == 1 else [str(HERE / "run_workers.py")]
        variables = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTHON")},
            **{"PYTHONPATH": str(REPO), "PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
            **{"POST_TRAIN_RUN": str(runs[0]), "POST_TRAIN_ATTEMPT": str(runs[0] / "attempts" / "001")},
        }
        return subprocess.Popen(
            [self.python, *command, *natives],
            env=variables, cwd=runs[0] / "attempts" / "001", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish(self, *runs: Path) -> list[Outcome]:
        """Run prepared workers to their ends."""
        with ExitStack() as locks:
            for run in runs:
                fcntl.flock(locks.enter_context((run / "lock").open("w")), fcntl.LOCK_EX)
            with self.start(*runs) as worker:
                out, err = worker.communicate(timeout=170)
        codes = [worker.returncode] if len(runs) == 1 else json.loads(out.splitlines()[-1])
        return [Outcome(code, run, events_of(run), err) for code, run in zip(codes, runs, strict=True)]

    def do(self, stage: str, model: ModelRef, *compare: ModelRef, **parts: Any) -> Outcome:
        (outcome,) = self.finish(self.prepare(stage, model, *compare, **parts))
        return outcome

    def script(self, name: str, *arguments: object) -> str:
        """Run a helper of this folder in the engine's environment."""
        done = subprocess.run(
            [self.python, str(HERE / name), *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(REPO), "OMP_NUM_THREADS": "1"},
            capture_output=True, text=True, timeout=170, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def events_of(run: Path) -> list[dict[str, Any]]:
    lines = (run / "attempts" / "001" / "events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def sft(base: Path, adapter: Path) -> ModelRef:
    return ModelRef(label="sft", path=str(base), adapter=str(adapter))


@pytest.fixture(scope="session")
def engine() -> str:
    python = os.environ.get(PYTHON)
    if not python:
        pytest.skip(f"{PYTHON} names no Python with the engine in it")
    return python


@pytest.fixture(scope="session")
def zoo(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("zoo")
    Workshop(engine, root).script("make_models.py", root)
    return root


@pytest.fixture
def shop(engine: str, tmp_path: Path) -> Workshop:
    return Workshop(engine, tmp_path)
