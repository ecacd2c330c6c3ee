"""How many commands run at a time: a batch of rollouts calls its tools at once, and each may take its whole memory."""

from __future__ import annotations

import asyncio
import os
from weakref import WeakKeyDictionary

COMMANDS = 2 * (os.cpu_count() or 1)
_SLOTS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def slots() -> asyncio.Semaphore:
    """The slots of the running loop; the time in the queue is no part of a command's own."""
    return _SLOTS.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(COMMANDS))
