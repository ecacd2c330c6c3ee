"""The only place that starts processes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_DYING = 5.0
"""Seconds that a process gets to vanish once it is killed."""


@dataclass(frozen=True)
class Outcome:
    """How a short command ended; code 127 when it does not exist, 124 when it ran past its limit."""

    code: int
    out: str
    err: str


def run(
    argv: Sequence[str], *, timeout: float, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Outcome:
    """Run a short command to its end, capturing what it prints. Never raises for the command's own failure."""
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=timeout, cwd=cwd, env=env, check=False
        )
    except (FileNotFoundError, PermissionError) as error:
        return Outcome(127, "", str(error))
    except subprocess.TimeoutExpired:
        return Outcome(124, "", f"no end after {timeout:.0f} s")
    return Outcome(done.returncode, done.stdout, done.stderr)


class Child:
    """A long-running process in a session of its own, its output in files; it also holds the descriptors `inherit`.

    Its children are found by their parents, and once a parent is gone by the variable `mark`, if `env` sets it: a value
    that no other process has, e.g. the folder of an attempt.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdout: Path,
        stderr: Path,
        inherit: Sequence[int] = (),
        mark: str | None = None,
    ) -> None:
        self._mark = (mark, env[mark]) if mark else None
        with stdout.open("ab") as out, stderr.open("ab") as err:
            self._popen = subprocess.Popen(
                argv,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                pass_fds=tuple(inherit),
            )
        self.pid = self._popen.pid

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self._popen.poll()

    def wait(self, seconds: float) -> int | None:
        """Wait at most so long for the end."""
        try:
            return self._popen.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End the whole tree now; launchers put ranks in sessions of their own, so the group is not enough."""
        # of a process that has ended the number may be another's by now
        tree = [*(self._tree() if self._popen.poll() is None else ()), *self._marked()]
        deadline = time.monotonic() + _DYING
        while tree and time.monotonic() < deadline:
            for member in tree:
                _kill(member)
            self.wait(_DYING)
            # an orphan's new parent may never collect it: a zombie does no harm
            while any(alive(member.pid) for member in tree) and time.monotonic() < deadline:
                pause(0.02)
            tree = [one for one in self._marked() if alive(one.pid)]  # what one of them had started meanwhile

    def _marked(self) -> list[psutil.Process]:
        """Those beside this process that carry our mark, wherever they are in the tree by now."""
        if self._mark is None:
            return []
        name, value = self._mark
        others = (one for one in psutil.process_iter() if one.pid != os.getpid())
        return [one for one in others if _variable(one, name) == value]

    def _tree(self) -> list[psutil.Process]:
        try:
            root = psutil.Process(self.pid)
            return [*root.children(recursive=True), root]
        except psutil.NoSuchProcess:
            return []


def _variable(member: psutil.Process, name: str) -> str | None:
    """A variable of a process's environment; None of one that is gone, or another user's."""
    try:
        found: str | None = member.environ().get(name)
    except (psutil.Error, OSError):
        return None
    return found


def _kill(member: psutil.Process) -> None:
    try:
        member.kill()
    except psutil.NoSuchProcess:
        return


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker: ours without anything that would bend Python's module search."""
    dropped = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    return {**{k: v for k, v in os.environ.items() if k not in dropped}, **extra}


def alive(pid: int) -> bool:
    """Whether a process of that number exists and is no zombie."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def pause(seconds: float) -> None:
    """Sleep; here so that waiting lives with the processes waited for."""
    time.sleep(seconds)
