"""`post-train data prepare` against `datasets` doing the same work: python -m benchmarks.data_prep --python PYTHON

Both run in turn on a file that this makes: rows a second, megabytes a second, CPU seconds, and the most memory that all
processes of each held together. The other side runs in an environment with `datasets`, named with --python.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.clock import program

BASELINE = str(Path(__file__).with_name("data_baseline.py"))
_EVERY = 0.25
"""Seconds between looks at memory: a look takes time from who is looked at."""


@dataclass(frozen=True)
class Run:
    """One run: seconds on the clock and of CPU, and the most memory of all its processes, bytes."""

    clock: float
    cpu: float
    memory: int


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the file")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--processes", type=int, default=psutil.cpu_count() or 1)
    parser.add_argument("--python", required=True, help="a Python with `datasets`")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        file, out = Path(place) / "rows.jsonl", Path(place) / "out"
        rows = make(file, asked.megabytes * 2**20)
        ours = (program("post-train"), "data", "prepare", str(file), "-o", str(out / "set"))
        theirs = (asked.python, BASELINE, str(file), str(out), str(asked.processes))
        commands = {"post-train": (*ours, "--processes", str(asked.processes)), "datasets": theirs}
        taken: dict[str, list[Run]] = {name: [] for name in commands}
        for _ in range(asked.repetitions):
            for name, command in commands.items():
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                taken[name].append(run(command))
        print(f"{rows:,} rows, {file.stat().st_size / 1e6:,.0f} MB, {asked.processes} processes")
        tell(taken, rows, file.stat().st_size)
        again(ours)


def make(file: Path, size: int) -> int:
    """A ShareGPT file of some size, one row in fifty a repetition; the number of its rows."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 10))) for _ in range(20_000)]
    written = rows = 0
    last = ""
    with file.open("w", encoding="utf-8") as out:
        while written < size:
            last = last if last and draw.random() < 0.02 else row(draw, words)
            written += out.write(last)
            rows += 1
    return rows


def row(draw: random.Random, words: list[str]) -> str:
    """A conversation of one to four questions."""
    turns: list[dict[str, str]] = []
    for _ in range(draw.randint(1, 4)):
        turns.append({"from": "human", "value": " ".join(draw.choices(words, k=draw.randint(5, 40)))})
        turns.append({"from": "gpt", "value": " ".join(draw.choices(words, k=draw.randint(20, 160)))})
    return json.dumps({"id": str(draw.random()), "conversations": turns}) + "\n"


def run(command: Sequence[str]) -> Run:
    """Run a command, looking at the memory of all its processes. Shared pages count once, where the system tells."""
    with tempfile.TemporaryFile() as said:  # a pipe that nobody reads stops who writes many progress bars
        began, process = time.perf_counter(), psutil.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        most, used = 0, {0: 0.0}
        while process.poll() is None:
            family = [process, *children(process)]
            most = max(most, sum(map(memory, family)))
            used |= {each.pid: seconds for each in family if (seconds := cpu(each))}
            time.sleep(_EVERY)
        clock = time.perf_counter() - began
        if process.returncode:
            said.seek(0)
            text = said.read().decode(errors="replace")
            sys.exit(f"{' '.join(command)}\nended with exit code {process.returncode}\n{text}")
    return Run(clock, sum(used.values()), most)


def children(process: psutil.Process) -> list[psutil.Process]:
    """Its processes and theirs; none once it is gone."""
    try:
        found: list[psutil.Process] = process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return found


def memory(process: psutil.Process) -> int:
    """Its own share of memory, bytes."""
    try:
        full = process.memory_full_info()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
    return int(getattr(full, "pss", full.rss))


def cpu(process: psutil.Process) -> float:
    """CPU seconds of a process alone, so far."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def tell(taken: dict[str, list[Run]], rows: int, size: int) -> None:
    """Medians, and ours against theirs."""
    middle = {name: middle_of(runs) for name, runs in taken.items()}
    for name, each in middle.items():
        speed = f"{rows / each.clock:10,.0f} rows/s {size / 1e6 / each.clock:7.1f} MB/s"
        print(f"{name:<11} {each.clock:7.1f} s {speed}  CPU {each.cpu:7.1f} s  peak {each.memory / 1e6:7.0f} MB")
    ours, theirs = middle["post-train"], middle["datasets"]
    print(
        f"speed ratio {theirs.clock / ours.clock:.2f}, CPU ratio {theirs.cpu / ours.cpu:.2f}, "
        f"memory ratio {ours.memory / theirs.memory:.2f}"
    )


def middle_of(runs: list[Run]) -> Run:
    """The median of each number."""
    return Run(
        statistics.median(each.clock for each in runs),
        statistics.median(each.cpu for each in runs),
        int(statistics.median(each.memory for each in runs)),
    )


def again(command: Sequence[str]) -> None:
    """How long the same command takes when nothing changed."""
    run(command)
    print(f"unchanged input: {run(command).clock:.2f} s")


if __name__ == "__main__":
    main()
