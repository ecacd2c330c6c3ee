"""Removes what commands left: folders nested deeper than Python likes, or made unreadable."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL

from orchestrator.sandbox.room import Room


async def sweep(room: Room) -> None:
    """Give the room back."""
    room.close()
    if await _does("/bin/rm", "-rf", "--one-file-system", "--", str(room.path)):
        await _does("/bin/chmod", "-R", "u+rwX", "--", str(room.path))
        await _does("/bin/rm", "-rf", "--one-file-system", "--", str(room.path))


async def _does(*argv: str) -> int:
    process = await asyncio.create_subprocess_exec(*argv, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    return await process.wait()
