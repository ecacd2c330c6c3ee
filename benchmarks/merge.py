"""Our merge against PEFT's and against a plain copy of the model's files: python -m benchmarks.merge [--env PYTHON]

A random model in Qwen3-0.6B's shapes and a LoRA adapter on all of its linear layers, merged in fresh processes that
take turns. The process that copies ends with what it wrote on the disk, as ours does; PEFT's doesn't.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from benchmarks import environment
from orchestrator.backend import ModelRef
from orchestrator.events import EventReader

ROOT = Path(__file__).resolve().parent.parent
HAND = str(Path(__file__).with_name("hand_merge.py"))
SHARD = 500_000_000


@dataclass(frozen=True)
class Took:
    """One process: seconds from start to end, without what it took to import its libraries, and bytes at its peak."""

    whole: float
    work: float
    peak: int


@dataclass(frozen=True)
class Parts:
    """Seconds that our merge wrote and proved for, and bytes at its peak before the proof began."""

    write: float
    prove: float
    peak_write: int


class Contest:
    """One merge, three ways; everything is written below `folder`."""

    def __init__(self, folder: Path, python: Path, layers: int) -> None:
        self.folder, self._python, self._numbers = folder, str(python), iter(range(10**6))
        self._hand("make", folder, layers)

    @property
    def size(self) -> int:
        """Bytes of the model's weights."""
        return sum(file.stat().st_size for file in (self.folder / "base").glob("*.safetensors"))

    def ours(self) -> tuple[Took, Parts]:
        """The stage's worker as the runner starts it."""
        run = self.folder / f"run-{next(self._numbers)}"
        attempt, native = run / "attempts" / "001", run / "merge.yaml"
        attempt.mkdir(parents=True)
        native.write_text(yaml.safe_dump(self._settings(run)), encoding="utf-8")
        variables = {"POST_TRAIN_RUN": str(run), "POST_TRAIN_ATTEMPT": str(attempt)}
        with (run / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            whole, peak, _ = _process([self._python, "-P", "-m", "backends.hf.worker", str(native)], variables)
        events = list(EventReader(attempt / "events.jsonl").new())
        at = {event["state"]: event["time"] for event in events if event["type"] == "state"}
        written = max(event["peak_memory"] for event in events if event["type"] == "step")
        parts = Parts(at["evaluating"] - at["saving"], at["done"] - at["evaluating"], written)
        return Took(whole, at["done"] - at["saving"], peak), parts

    def peft(self) -> Took:
        """merge_and_unload and save_pretrained."""
        base, adapter = self.folder / "base", self.folder / "adapter"
        whole, peak, said = self._hand("peft", base, adapter, self.folder / f"peft-{next(self._numbers)}")
        return Took(whole, float(said.split()[-1]), peak)

    def copy(self) -> Took:
        """The same bytes, to the disk."""
        there = self.folder / f"copy-{next(self._numbers)}"
        script = 'cp -r "$0" "$1" && sync "$1"/* "$1"'
        whole, peak, _ = _process(["sh", "-c", script, str(self.folder / "base"), str(there)], {})
        return Took(whole, whole, peak)

    def _hand(self, *words: object) -> tuple[float, int, str]:
        return _process([self._python, "-P", HAND, *map(str, words)], {})

    def _settings(self, run: Path) -> dict[str, Any]:
        model = ModelRef(label="base", path=str(self.folder / "base"), adapter=str(self.folder / "adapter"))
        output = str(run / "artifacts" / "model")
        shared = {"stage": "merge", "dtype": "auto", "max_shard_bytes": SHARD, "output": output}
        return {**shared, "model": model.model_dump(mode="json")}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", help="Python or folder of the environment; default: the one from the lock")
    parser.add_argument("--layers", type=int, default=28, help="28 are 1.2 GB in bfloat16")
    parser.add_argument("--repetitions", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        contest = Contest(Path(folder), environment.python("hf", given.env), given.layers)
        print(f"{contest.size / 1e9:.2f} GB of weights, {given.repetitions} repetitions, {os.cpu_count()} cores")
        rounds = [_round(contest) for _ in range(given.repetitions + 1)][1:]
    print(report({name: [one[name] for one in rounds] for name in rounds[0]}))


def _round(contest: Contest) -> dict[str, Any]:
    """Each of them once; the disk is idle when one starts."""
    found: dict[str, Any] = {}
    for name, way in (("PEFT", contest.peft), ("copy", contest.copy)):
        os.sync()
        found[name] = way()
    os.sync()
    found["ours"], found["parts"] = contest.ours()
    return found


def report(found: Mapping[str, Sequence[Any]]) -> str:
    """Medians, and the ratios that matter."""
    ours, theirs, copy, parts = (_middle(found[name]) for name in ("ours", "PEFT", "copy", "parts"))
    rows = [("post-train merge", ours), ("PEFT", theirs), ("cp and sync", copy)]
    lines = [f"{name:<18}{t.whole:8.2f} s whole {t.work:8.2f} s work {t.peak / 1e6:8.0f} MB" for name, t in rows]
    write, prove = parts.write, parts.prove
    return "\n".join(
        [
            *lines,
            f"ours: {write:.2f} s to write, at most {parts.peak_write / 1e6:.0f} MB until then; {prove:.2f} s to prove",
            f"writing against the copy {write / copy.work:.2f}, against PEFT {write / theirs.work:.2f}",
            f"with proof against the copy {ours.work / copy.work:.2f}, against PEFT {ours.work / theirs.work:.2f}",
            f"peak against PEFT {ours.peak / theirs.peak:.2f}",
        ]
    )


def _middle(found: Sequence[Any]) -> Any:
    """Medians, field by field."""
    kind = type(found[0])
    return kind(*(statistics.median(getattr(one, field.name) for one in found) for field in fields(kind)))


def _process(argv: Sequence[str], variables: Mapping[str, str]) -> tuple[float, int, str]:
    """Seconds, bytes at the peak of its memory, and what it printed."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "OMP_"))}
    environment = {**clean, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", **variables}
    with tempfile.TemporaryFile("w+") as said:
        began = time.perf_counter()
        process = subprocess.Popen(argv, env=environment, cwd="/", stdout=said, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if process.returncode != 0:
        sys.exit(f"{' '.join(argv)}\nended with exit code {process.returncode}\n{text}")
    return seconds, used.ru_maxrss * 1024, text


if __name__ == "__main__":
    main()
