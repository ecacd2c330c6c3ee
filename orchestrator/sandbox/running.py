"""Runs one command in a room and ends it when it breaks a bound."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Callable

from orchestrator.sandbox import measure
from orchestrator.sandbox.bounds import Bounds
from orchestrator.sandbox.enclosure import Enclosure, given
from orchestrator.sandbox.outcome import Ending, Outcome
from orchestrator.sandbox.room import Room
from orchestrator.sandbox.slots import slots

POLL = 0.05
"""Seconds between two looks at memory and disk."""
GRACE = 2.0
"""Seconds that a killed command's pipe may stay open; only what fled from `unconfined` can hold it."""
LONGEST = 100_000
"""Bytes of a command; the kernel takes no argument above 128 KiB."""


async def run(enclosure: Enclosure, room: Room, command: str, bounds: Bounds) -> Outcome:
    """Run a shell command to its end or to a bound. Never raises for what the command is or does."""
    raw = command.encode("utf-8", "replace")
    if b"\0" in raw or len(raw) > LONGEST:
        return Outcome(-1, f"no command: it holds a zero byte, or more than {LONGEST} bytes", "refused")
    async with slots():
        return await _ran(enclosure, room, raw, bounds)


async def _ran(enclosure: Enclosure, room: Room, raw: bytes, bounds: Bounds) -> Outcome:
    process = await _start(enclosure, room, raw, bounds)
    printed = Printed(bounds.output)
    reading, ended = asyncio.create_task(printed.read(process)), asyncio.create_task(process.wait())
    try:
        ending = await _watched(process, ended, printed, room, bounds)
    finally:
        _kill(process)
        await asyncio.wait({reading, ended}, timeout=GRACE)
        reading.cancel()
        ended.cancel()
    code = process.returncode if process.returncode is not None and ending == "exit" else -1
    return Outcome(code, printed.kept.decode("utf-8", "replace"), ending)


async def _start(enclosure: Enclosure, room: Room, raw: bytes, bounds: Bounds) -> Process:
    with given(enclosure.launch(room, bounds)) as launch:
        return await asyncio.create_subprocess_exec(
            *launch.argv,
            raw,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            cwd=launch.cwd,
            env=launch.env,
            pass_fds=launch.fds,
            start_new_session=True,
        )


class Printed:
    """What a command prints: kept up to a number of bytes, read to its end, so that the pipe can close."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.kept, self.too_much = bytearray(), False

    async def read(self, process: Process) -> None:
        """Read until nobody can write any more."""
        assert process.stdout is not None
        while block := await process.stdout.read(65536):
            self.too_much = self.too_much or len(self.kept) + len(block) > self._most
            self.kept += block[: self._most - len(self.kept)]


async def _watched(process: Process, ended: asyncio.Task[int], printed: Printed, room: Room, bounds: Bounds) -> Ending:
    until = time.monotonic() + bounds.seconds
    while process.returncode is None:
        await asyncio.wait({ended}, timeout=max(0.0, min(POLL, until - time.monotonic())))
        if printed.too_much:
            return "output"
        pids = measure.tree(process.pid) if process.returncode is None else []
        if broken := _broken(pids, room, bounds):
            return broken
        if time.monotonic() >= until and process.returncode is None:
            return "time"
    return "exit"


def _broken(pids: list[int], room: Room, bounds: Bounds) -> Ending | None:
    if measure.memory(pids) > bounds.memory:
        return "memory"
    try:
        size, entries = measure.folder(room.fd, bounds.entries)
    except OSError:  # made unreadable: nobody could say what it holds
        return "disk"
    return "disk" if entries > bounds.entries or size + measure.unlinked(pids) > bounds.disk else None


def _kill(process: Process) -> None:
    """The whole tree. Killing bwrap empties its namespace; without one, what left the tree is in its process group."""
    for member in measure.tree(process.pid) if process.returncode is None else ():
        _end(os.kill, member)
    _end(os.killpg, process.pid)


def _end(how: Callable[[int, int], None], number: int) -> None:
    try:
        how(number, signal.SIGKILL)
    except ProcessLookupError:
        return
