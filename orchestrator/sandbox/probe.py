"""Does the enclosure hold here? Asked once in a process, with real commands, before any command of a model's."""

from __future__ import annotations

import asyncio
import functools
import socket
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from orchestrator.errors import EnvironmentMissing
from orchestrator.sandbox.bounds import Bounds
from orchestrator.sandbox.bubblewrap import PLACE, Bubblewrap
from orchestrator.sandbox.room import Room
from orchestrator.sandbox.running import run
from orchestrator.sandbox.sweep import sweep

_BOUNDS = Bounds(seconds=20, processes=32)
_SCRIPT = """
echo "place $PWD"; echo "user $([ "$(id -u)" = 0 ] && echo root || echo other)"; echo "limit $(ulimit -u)"
echo "environment $(tr -d '\\0' < /proc/1/environ | wc -c)"
[ -e {canary} ] && echo "sees other files"
(: > /usr/lib/canary) 2>/dev/null && echo "writes to /usr"
(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo "reaches the network"
(echo 1 > /proc/sys/kernel/core_pattern) 2>/dev/null && echo "writes to the kernel"
exit 0
"""
_EXPECTED = f"place {PLACE}\nuser other\nlimit {_BOUNDS.processes}\nenvironment 0\n"


@functools.cache
def require() -> Bubblewrap:
    """A bubblewrap that was seen to hold.

    Raises:
        EnvironmentMissing: there is none, it can't start, or something came through.
    """
    enclosure = Bubblewrap()
    with ThreadPoolExecutor(1) as apart:  # a loop of our own, whether or not the caller runs in one
        said = apart.submit(asyncio.run, _said(enclosure)).result()
    if said != _EXPECTED:
        raise EnvironmentMissing(
            "bubblewrap does not hold on this machine",
            details=[line for line in said.splitlines() if line not in _EXPECTED.splitlines()] or ["it said nothing"],
            why="commands that a model writes would run on your machine as you",
            fix="allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)",
        )
    return enclosure


async def _said(enclosure: Bubblewrap) -> str:
    room = Room()
    try:
        with tempfile.NamedTemporaryFile() as canary, socket.create_server(("127.0.0.1", 0)) as server:
            Path(canary.name).chmod(0o644)
            script = _SCRIPT.format(canary=canary.name, port=server.getsockname()[1])
            return (await run(enclosure, room, script, _BOUNDS)).output
    finally:
        await sweep(room)
