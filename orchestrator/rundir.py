"""A run's folder: where each thing lies, and making it without ever overwriting one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from orchestrator import atomic
from orchestrator.backend import Expected
from orchestrator.errors import OutputExists


@dataclass(frozen=True)
class RunDir:
    """Paths of one run."""

    path: Path

    @property
    def native(self) -> Path:
        """The engine's own files, and the links that a worker imports from."""
        return self.path / "native"

    @property
    def pythonpath(self) -> Path:
        """Holds links to our packages only: a worker must not see the rest of our environment."""
        return self.native / "pythonpath"

    def attempt(self, number: int) -> Path:
        """Logs and events of one attempt, counted from 1."""
        return self.path / "attempts" / f"{number:03d}"

    def recall(self) -> None:
        """Ask whatever worker an earlier attempt left behind to save and stop."""
        for attempt in (self.path / "attempts").glob("*"):
            with atomic.storage(attempt):
                (attempt / "stop").touch()

    def create(self) -> None:
        """Make the folder.

        Raises:
            OutputExists: something is there already.
            StorageError: it can't be made.
        """
        with atomic.storage(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self.path.mkdir()
            except FileExistsError:
                raise OutputExists(
                    "the output folder exists already",
                    where=str(self.path),
                    why="results are never mixed with or written over older ones",
                    fix="name another folder with --output, or remove this one",
                ) from None

    def discard(self, unfinished: tuple[Expected, ...]) -> None:
        """Remove what an attempt left that never was accepted as finished."""
        for one in unfinished:
            if (self.path / one.path).exists():
                with atomic.storage(self.path / one.path):
                    shutil.rmtree(self.path / one.path)

    def link_packages(self) -> None:
        """Make `pythonpath`: links to the packages that a worker imports."""
        here = Path(__file__).resolve().parent.parent
        with atomic.storage(self.pythonpath):
            self.pythonpath.mkdir(parents=True, exist_ok=True)
            for package in ("orchestrator", "backends", "data_prep"):
                link = self.pythonpath / package
                if not link.is_symlink():
                    link.symlink_to(here / package)
