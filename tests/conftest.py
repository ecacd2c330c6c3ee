"""What every test stands on: its own runs, cache and home; nothing left behind in the environment or as a process."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest
import yaml

from orchestrator.recipe import Recipe, Value
from orchestrator.resolve import resolve
from orchestrator.spec import RunSpec

ROOT = Path(__file__).resolve().parent.parent
_SUBREAPER, _DROP_CAPABILITY, _OVERRIDE = 36, 24, 1
_ENVIRONMENT_OWNERS = ("integration", "packaging")


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be JSON and nothing else."""
        return json.loads(self.out)


class Cli(Protocol):
    """Calls post-train and checks its exit code."""

    def __call__(self, *words: str, code: int = 0) -> Said: ...


class Start(Protocol):
    """Starts post-train as a process of its own."""

    def __call__(self, *words: str, obedient: bool = False) -> subprocess.Popen[str]: ...


Write = Callable[..., Path]
MakeSpec = Callable[..., RunSpec]


def pytest_configure() -> None:
    """Adopt orphans, so that a process nobody waits for is noticed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Fail a test that changes the environment or leaves a process."""
    variables, children = _environment(), {p.pid for p in psutil.Process().children()}
    yield
    left = [p for p in psutil.Process().children() if p.pid not in children]
    _, alive = psutil.wait_procs(left, timeout=3)
    names = [" ".join(p.cmdline()) for p in alive]
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=3)
    assert not names, f"processes left behind: {names}"
    assert _environment() == variables, "the test changed os.environ"


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}


@pytest.fixture(autouse=True)
def isolated(request: pytest.FixtureRequest, nothing_left: None, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A home, cache, runs folder and working folder of its own; engines under test keep the caches they have."""
    if any(request.node.get_closest_marker(name) for name in _ENVIRONMENT_OWNERS):
        yield
        return
    place = tmp_path_factory.mktemp("isolated")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("home", "work"):
            (place / name).mkdir()
        patch.setenv("HOME", str(place / "home"))
        patch.setenv("POST_TRAIN_CACHE", str(place / "cache"))
        patch.setenv("POST_TRAIN_RUNS", str(place / "runs"))
        for name in ("XDG_CACHE_HOME", "POST_TRAIN_DEBUG", "CUDA_VISIBLE_DEVICES"):
            patch.delenv(name, raising=False)
        patch.chdir(place / "work")
        yield
    left = [str(p) for p in (place / "home").rglob("*")]
    assert not left, f"the test wrote into its home: {left}"


@pytest.fixture
def runs() -> Path:
    """The runs folder; not made yet."""
    return Path(os.environ["POST_TRAIN_RUNS"])


@pytest.fixture
def work() -> Path:
    """The folder that a test is in."""
    return Path.cwd()


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """post-train in this process."""
    from orchestrator.cli import main

    def call(*words: str, code: int = 0) -> Said:
        monkeypatch.setattr(sys, "argv", ["post-train", *words])
        capsys.readouterr()
        try:
            main()
            ended = 0
        except SystemExit as end:
            ended = end.code if isinstance(end.code, int) else 0
        captured = capsys.readouterr()
        said = Said(ended, captured.out, captured.err)
        assert said.code == code, f"exit code {said.code}\n{said.out}\n{said.err}"
        assert "Traceback" not in said.err + said.out
        return said

    return call


@pytest.fixture
def start() -> Iterator[Start]:
    """post-train as a process; `obedient` takes root's right to write everywhere away from it."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str, obedient: bool = False) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "orchestrator", *words],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_obey if obedient else None,  # noqa: PLW1509  (there are no threads here)
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def shell(start: Start) -> Cli:
    """post-train as a process, to its end."""

    def call(*words: str, code: int = 0) -> Said:
        process = start(*words)
        out, err = process.communicate(timeout=120)
        said = Said(process.returncode, out, err)
        assert said.code == code, f"exit code {said.code}\n{out}\n{err}"
        return said

    return call


@pytest.fixture
def obey() -> Callable[[], None]:
    """To call in a new process before its program starts: takes away root's right to write everywhere."""
    return _obey


def _obey() -> None:
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(_DROP_CAPABILITY, _OVERRIDE, 0, 0, 0)


@pytest.fixture
def write(work: Path) -> Write:
    """Write a file below the working folder: text, bytes, JSON lines from a list, YAML from a mapping."""

    def make(name: str, content: Any) -> Path:
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif isinstance(content, list):
            path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
        else:
            path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return path

    return make


@pytest.fixture
def chat(write: Write) -> Path:
    """Two chat rows."""
    turns = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]
    return write("chat.jsonl", [{"messages": turns}, {"messages": turns}])


@pytest.fixture
def prompts(write: Write) -> Path:
    """Two prompts."""
    return write("prompts.jsonl", [{"prompt": "1+1?", "answer": "2"}, {"prompt": "2+2?", "answer": "4"}])


@pytest.fixture
def held_out(write: Write) -> Path:
    """Two items that no other fixture holds."""
    return write("held_out.jsonl", [{"prompt": "5+1?", "answer": "6"}, {"prompt": "7+2?", "answer": "9"}])


@pytest.fixture
def reward(write: Write) -> Path:
    """A reward file."""
    return write("reward.py", "def score(completions, **columns):\n    return [0.0 for _ in completions]\n")


@pytest.fixture
def base(write: Write) -> Path:
    """A model folder with one tensor of 2 x 3 bfloat16."""
    write("base/config.json", "{}")
    write("base/tokenizer.json", "{}")
    return write("base/model.safetensors", safetensors({"w": ("BF16", [2, 3], 12)})).parent


def safetensors(tensors: dict[str, tuple[str, list[int], int]]) -> bytes:
    """A safetensors file of zeros: name -> dtype, shape, bytes."""
    header, offset = {}, 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + bytes(offset)


@pytest.fixture
def make_spec() -> MakeSpec:
    """A resolved stage of the fake backend from dotted settings, `__` for the dot."""

    def make(stage: str = "sft", **given: Any) -> RunSpec:
        settings = {"stage": stage, "backend": "fake", "name": "it"} | {
            k.replace("__", "."): v for k, v in given.items()
        }
        recipe = Recipe(None, "", None, ({k: Value(v, "test") for k, v in settings.items()},))
        return resolve(recipe, 0, {}).spec

    return make


class MakeRun(Protocol):
    """Writes the folder of a run that nothing ran."""

    def __call__(self, run_id: str, state: str = "SUCCEEDED", parents: tuple[str, ...] = (), **fields: Any) -> Path: ...


@pytest.fixture
def make_run(runs: Path, make_spec: MakeSpec) -> MakeRun:
    """A run's manifest below the runs folder."""
    from orchestrator import manifest
    from orchestrator.backend import ModelRef
    from orchestrator.manifest import Manifest, Parent

    def make(run_id: str, state: str = "SUCCEEDED", parents: tuple[str, ...] = (), **fields: Any) -> Path:
        folder = runs / run_id
        times = {"created": 1.0, "updated": 1.0} | fields
        record = Manifest.model_validate(
            {
                "id": run_id,
                "state": state,
                "spec": make_spec(),
                "start": ModelRef(label="base", path="base"),
                "fingerprint": "f",
                "parents": tuple(Parent(run=p, path=runs / p) for p in parents),
                **times,
            }
        )
        manifest.write(folder, record)
        return folder

    return make
