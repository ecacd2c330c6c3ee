"""A folder of runs: making, finding, removing them."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import atomic, index, manifest
from orchestrator.errors import RunBusy, RunNotFound
from orchestrator.index import Row
from orchestrator.lock import is_owned
from orchestrator.manifest import Manifest

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that can't be mistaken for one another."""


@dataclass(frozen=True)
class Run:
    """A run that exists: its folder and its manifest."""

    path: Path
    manifest: Manifest

    @property
    def id(self) -> str:
        return self.manifest.id


@dataclass(frozen=True)
class Store:
    """All runs below one folder."""

    root: Path

    def new_id(self, name: str, stage: str) -> str:
        """A run id that is not taken: name, stage, six random letters."""
        while True:
            suffix = "".join(secrets.choice(_ALPHABET) for _ in range(6))
            if not (self.root / f"{name}-{stage}-{suffix}").exists():
                return f"{name}-{stage}-{suffix}"

    def register(self, run_dir: Path) -> None:
        """Make `latest` point to a run, and link a run that lies elsewhere into the store."""
        with atomic.storage(self.root):
            if run_dir.parent != self.root:
                self.root.mkdir(parents=True, exist_ok=True)
                link = self.root / manifest.read(run_dir).id
                if not link.is_symlink():
                    link.symlink_to(run_dir)
            fresh = self.root / f".latest-{secrets.token_hex(4)}"
            fresh.symlink_to(run_dir if run_dir.parent != self.root else run_dir.name)
            fresh.replace(self.root / "latest")

    def find(self, reference: str) -> Run:
        """A run by id, unique prefix, `latest`, or path.

        Raises:
            RunNotFound: none, or more than one.
        """
        path = self._locate(reference)
        return Run(path, _effective(path, manifest.read(path)))

    def rows(self) -> list[Row]:
        """What lists show, newest first."""
        return index.rows(self.root)

    def children(self, run_id: str) -> list[Row]:
        """Runs that start from this one."""
        return [row for row in self.rows() if run_id in row.parents]

    def remove(self, references: Sequence[str]) -> list[str]:
        """Remove runs, even some whose manifest is damaged; gives their ids. Removes all of them or none.

        Raises:
            RunNotFound: none is called so, or more than one.
            RunBusy: one is running, or a run that stays starts from it.
        """
        ids = {Path(row.folder).resolve(): row.id for row in self.rows()}
        doomed = {path: ids.get(path, path.name) for path in map(self._locate, references)}
        for path, run_id in doomed.items():
            self._refuse_needed(path, run_id, set(doomed.values()))
        for path, run_id in doomed.items():
            self._unlink(path, run_id)
        return list(doomed.values())

    def _refuse_needed(self, path: Path, run_id: str, doomed: set[str]) -> None:
        if is_owned(path):
            raise RunBusy(f"{run_id} is running", where=str(path), fix="stop it first")
        children = [row.id for row in self.children(run_id) if row.id not in doomed]
        if children:
            why = "the lineage and the base of their adapters would be lost"
            raise RunBusy(
                f"{run_id} is the parent of {', '.join(children)}",
                why=why,
                fix=f"post-train runs rm {named(' '.join((run_id, *children)), self.root)}",
            )

    def _unlink(self, path: Path, run_id: str) -> None:
        trash = path.with_name(f".removed-{path.name}")
        with atomic.storage(path):
            path.rename(trash)
            for link in (self.root / run_id, self.root / "latest"):
                if link.is_symlink() and not link.exists():
                    link.unlink()
            shutil.rmtree(trash)

    def _locate(self, reference: str) -> Path:
        as_path = Path(reference).expanduser()
        if reference and (as_path / manifest.FILE).exists():
            return as_path.resolve()
        if reference == "latest" and (newest := self._latest()):
            return newest
        names = [entry.name for entry in os.scandir(self.root)] if reference and self.root.is_dir() else []
        known = [n for n in names if n.startswith(reference) and not n.startswith(".") and n != "latest"]
        matches = sorted(n for n in known if (self.root / n / manifest.FILE).exists())
        if reference in matches or len(matches) == 1:
            return (self.root / (reference if reference in matches else matches[0])).resolve()
        raise self._no_such(reference, matches)

    def _latest(self) -> Path | None:
        """What the link points to; when that run was removed, the newest one left."""
        if (self.root / "latest" / manifest.FILE).exists():
            return (self.root / "latest").resolve()
        rows = self.rows()
        return Path(rows[0].folder).resolve() if rows else None

    def _no_such(self, reference: str, matches: list[str]) -> RunNotFound:
        if matches:
            shown = ", ".join(matches[:8]) + (f", and {len(matches) - 8} more" if len(matches) > 8 else "")
            return RunNotFound(f"{reference!r} means {len(matches)} runs: {shown}", fix="write one more letter or so")
        return RunNotFound(f"no run is called {reference!r}", where=str(self.root), fix="post-train runs list")


def named(run_id: str, root: Path) -> str:
    """How a command names a run: with `--runs` where commands would not look by themselves."""
    looked_in = Path(os.environ.get("POST_TRAIN_RUNS", "runs")).expanduser().absolute()
    return run_id if root == looked_in else f"{run_id} --runs {shlex.quote(str(root))}"


def store_at(folder: Path) -> Store:
    """The store in a folder as somebody typed it."""
    return Store(folder.expanduser().absolute())


def _effective(path: Path, found: Manifest) -> Manifest:
    """A run that says RUNNING while nobody owns it was killed."""
    dead = found.state == "RUNNING" and not is_owned(path)
    return found.model_copy(update={"state": "INTERRUPTED"}) if dead else found
