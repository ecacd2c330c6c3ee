"""The weaker way, for those who name it: limits and an empty environment, but no walls.

A command can read what the user can read, reach the network, and leave processes behind. For a machine that is
itself a throwaway container.
"""

from __future__ import annotations

from orchestrator.sandbox.bounds import Bounds
from orchestrator.sandbox.enclosure import SEARCHED, Launch, dropping_root
from orchestrator.sandbox.room import Room


class Unconfined:
    """Encloses nothing."""

    name = "unconfined"
    place: str | None = None

    def launch(self, room: Room, bounds: Bounds) -> Launch:
        """bash in the room; the number of processes is not limited, as it would count the user's others."""
        limits = [limit for limit in bounds.limits() if not limit.startswith("--nproc")]
        argv = [*dropping_root(), "/usr/bin/prlimit", *limits, "/bin/bash", "-c"]
        return Launch(argv, cwd=room.path, env={"PATH": SEARCHED, "HOME": str(room.path), "LANG": "C.UTF-8"})
