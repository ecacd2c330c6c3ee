"""A room, an enclosure and bounds together: what an environment holds for one episode."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.errors import UsageError
from orchestrator.nearest import nearest
from orchestrator.sandbox import probe
from orchestrator.sandbox.bounds import Bounds
from orchestrator.sandbox.enclosure import Enclosure
from orchestrator.sandbox.outcome import Outcome
from orchestrator.sandbox.room import Room
from orchestrator.sandbox.running import run
from orchestrator.sandbox.sweep import sweep
from orchestrator.sandbox.unconfined import Unconfined

WAYS = ("bubblewrap", "unconfined")


def enclosure(name: str) -> Enclosure:
    """The way to enclose commands, by name; bubblewrap is tried out first.

    Raises:
        UsageError: no way is called so.
        EnvironmentMissing: bubblewrap does not hold here.
    """
    if name not in WAYS:
        raise UsageError(f"no sandbox is called {name!r}{nearest(name, WAYS)}")
    return probe.require() if name == "bubblewrap" else Unconfined()


class Box:
    """One private folder in which commands run, one after the other.

    Args:
        files: name -> content, there before the first command.
    """

    def __init__(self, way: Enclosure, files: Mapping[str, bytes], bounds: Bounds) -> None:
        self._way, self._bounds, self._room = way, bounds, Room()
        for name, content in files.items():
            self._room.write(name, content)

    @property
    def place(self) -> str:
        """The folder's path as commands see it."""
        return self._way.place or str(self._room.path)

    async def run(self, command: str) -> Outcome:
        """Run a shell command in the folder."""
        return await run(self._way, self._room, command, self._bounds)

    def read(self, name: str, limit: int = 65536) -> bytes:
        """A file that commands left; see `Room.read` for what it refuses."""
        return self._room.read(name, limit)

    async def close(self) -> None:
        """Remove the folder."""
        await sweep(self._room)
