"""Times commands against each other."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Command = Callable[[], Sequence[str]]
"""Makes argv; called anew for each repetition, so that an output folder can be a fresh one."""


@dataclass(frozen=True)
class Times:
    """Seconds of one command, one a repetition: on the clock, and of CPU, which other programs disturb less."""

    name: str
    clock: tuple[float, ...]
    cpu: tuple[float, ...]

    def line(self) -> str:
        """Median, lowest and highest, and the median of CPU."""
        middle, low, high = statistics.median(self.clock), min(self.clock), max(self.clock)
        cpu = statistics.median(self.cpu)
        return f"{self.name:<26} median {middle:7.3f} s  lowest {low:7.3f} s  highest {high:7.3f} s  CPU {cpu:7.3f} s"


def interleaved(commands: Mapping[str, Command], repetitions: int, *, cwd: Path | None = None) -> list[Times]:
    """Run the commands in turn, so that a slow minute of the machine hits all of them; a first round is not counted."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(repetitions + 1):
        for name, command in commands.items():
            taken[name].append(_once(command(), cwd))
    return [Times(name, *zip(*pairs[1:], strict=True)) for name, pairs in taken.items()]


def _once(argv: Sequence[str], cwd: Path | None) -> tuple[float, float]:
    began, used = time.perf_counter(), _cpu()
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began, _cpu() - used
    if done.returncode != 0:
        sys.exit(f"{' '.join(argv)}\nended with exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return seconds


def _cpu() -> float:
    """CPU seconds of all processes that this one has waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(times: Sequence[Times]) -> str:
    """All of them, and the first against the second."""
    lines = [f"{name:<8} {_against(a, b)}" for name, a, b in _measures(times[0], times[1])]
    return "\n".join([*(one.line() for one in times), *lines])


def _measures(first: Times, second: Times) -> list[tuple[str, Sequence[float], Sequence[float]]]:
    return [("clock", first.clock, second.clock), ("CPU", first.cpu, second.cpu)]


def _against(first: Sequence[float], second: Sequence[float]) -> str:
    ratio = statistics.median(first) / statistics.median(second)
    more = statistics.median([a - b for a, b in zip(first, second, strict=True)])
    return f"ratio of the medians {ratio:.3f}, median of the paired differences {more:+.3f} s"


def program(name: str) -> str:
    """A program of this environment."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        sys.exit(f"{path} is not there: make .venv with `make test`, then use .venv/bin/python")
    return str(path)
