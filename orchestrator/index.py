"""A cache of what lists show of each run. Rebuilt from the manifests whenever it is missing, damaged or behind."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.lock import is_owned

FILE = ".index.sqlite"
_SCHEMA = "CREATE TABLE IF NOT EXISTS runs (folder TEXT PRIMARY KEY, stamp TEXT NOT NULL, row TEXT NOT NULL)"


@dataclass(frozen=True)
class Row:
    """What a list shows of a run; `created` in seconds since the epoch."""

    id: str
    name: str
    stage: str
    method: str
    backend: str
    state: str
    created: float
    fingerprint: str
    folder: str
    parents: list[str] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)


def rows(root: Path) -> list[Row]:
    """Every run below a runs folder, newest first. A run whose owner died while RUNNING shows as INTERRUPTED."""
    stamps = dict(_stamps(root))
    try:
        found = _parsed(_synced(root / FILE, stamps))
    except (sqlite3.DatabaseError, ValueError, TypeError):  # damaged, or written by another version
        _forget(root / FILE)
        found = _parsed(_rows_of(stamps))
    return sorted((_live(row) for row in found), key=lambda row: row.created, reverse=True)


def _parsed(known: dict[str, str]) -> list[Row]:
    return [Row(**json.loads(text)) for text in known.values()]


def _forget(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # a read-only folder: the next list reads the manifests again
        return


def _stamps(root: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if not root.is_dir():
        return found
    for entry in os.scandir(root):
        if entry.name.startswith(".") or entry.name == "latest":
            continue
        try:
            stat = os.stat(f"{entry.path}/manifest.json")  # noqa: PTH116  (ten thousand of these: Path is three times slower)
        except OSError:
            continue
        found.append((entry.path, f"{stat.st_mtime_ns}-{stat.st_size}-{stat.st_ino}"))
    return found


def _synced(path: Path, stamps: dict[str, str]) -> dict[str, str]:
    """Folder -> row as JSON, from the index where it is current and from the manifest where not."""
    try:
        database = sqlite3.connect(path, timeout=5)
        database.execute(_SCHEMA)
    except sqlite3.OperationalError:  # a read-only folder: answer without keeping the answer
        return _rows_of(stamps)
    try:
        held = {folder: (stamp, row) for folder, stamp, row in database.execute("SELECT folder, stamp, row FROM runs")}
        fresh = _rows_of({f: s for f, s in stamps.items() if held.get(f, ("",))[0] != s})
        gone = [(f,) for f in held if f not in stamps]
        if fresh or gone:
            _keep(database, [(f, stamps[f], r) for f, r in fresh.items()], gone)
        return {f: held[f][1] for f in stamps if f in held and f not in fresh} | fresh
    finally:
        database.close()


def _keep(database: sqlite3.Connection, fresh: list[tuple[str, str, str]], gone: list[tuple[str]]) -> None:
    try:
        with database:
            database.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", fresh)
            database.executemany("DELETE FROM runs WHERE folder = ?", gone)
    except sqlite3.OperationalError:  # a read-only folder or a busy one: answer without keeping the answer
        return


def _rows_of(stamps: dict[str, str]) -> dict[str, str]:
    made = {folder: _row(folder) for folder in stamps}
    return {folder: json.dumps(asdict(row)) for folder, row in made.items() if row}


def _row(folder: str) -> Row | None:
    """A row from a manifest; a damaged one still shows, so that nobody wonders where the run went."""
    path = Path(folder)
    try:
        raw = json.loads((path / "manifest.json").read_bytes())
        spec = raw["spec"]
        return Row(
            id=raw["id"],
            name=spec["name"],
            stage=spec["stage"],
            method=spec["method"] if spec["stage"] in ("sft", "dpo", "grpo") else "",
            backend=spec["backend"],
            state=raw["state"],
            created=float(raw["created"]),
            fingerprint=raw["fingerprint"],
            folder=folder,
            parents=[p["run"] for p in raw["parents"]],
            metrics=dict(raw["metrics"]),
        )
    except OSError:
        return None
    except (ValueError, KeyError, TypeError):
        return Row(path.name, path.name, "?", "", "?", "DAMAGED", path.stat().st_mtime, "", folder)


def _live(row: Row) -> Row:
    dead = row.state == "RUNNING" and not is_owned(Path(row.folder))
    return Row(**{**asdict(row), "state": "INTERRUPTED"}) if dead else row
