"""A configuration while it is being translated: what is still to be said, and what was said so far."""

from __future__ import annotations

import os
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

from orchestrator.backend import Foreign, Imported, Refused, Translated

_NO_PATH = re.compile(r"://|[\n\0{]|.{256}")
"""URLs, and templates where a path may also stand."""
_FILES = (".json", ".jsonl", ".parquet", ".csv", ".arrow", ".txt", ".jinja")


class Reading:
    """Takes keys away one by one; each becomes a setting, or is left out or refused with its line and a reason."""

    def __init__(self, foreign: Foreign, processes: int | None) -> None:
        self.foreign, self.processes = foreign, processes
        self.given: dict[str, Any] = deepcopy(foreign.given)
        self.refused: list[Refused] = []
        self._settings: list[Translated] = []
        self._left: list[Refused] = []
        self._notes: list[str] = []

    def line(self, key: str) -> int:
        """The line of a dotted key, or of the nearest key above it."""
        while key and key not in self.foreign.lines:
            key = key.rpartition(".")[0]
        return self.foreign.lines.get(key, 1)

    def take(self, key: str, default: Any = None) -> Any:
        """The value of a key, which is then dealt with."""
        return self.given.pop(key, default)

    def put(self, setting: str, value: Any, key: str | None = None, comment: str | None = None) -> None:
        """Say a setting; `key` is the one it comes from, when the file has it."""
        line = self.line(key) if key in self.foreign.given else None
        self._settings.append(Translated(setting=setting, value=value, line=line, comment=comment))

    def leave(self, key: str, reason: str) -> None:
        """Leave a key out."""
        self.take(key)
        self._left.append(Refused(key=key, line=self.line(key), reason=reason))

    def refuse(self, key: str, reason: str) -> None:
        """Refuse the whole file."""
        self.refused.append(Refused(key=key, line=self.line(key), reason=reason))

    def note(self, text: str) -> None:
        """Something else to know."""
        self._notes.append(text)

    def placed(self, path: Any, key: str) -> Any:
        """A path as the recipe writes it: beside the recipe. Names on a hub, URLs and absolute paths stay."""
        if not isinstance(path, str) or not path or _NO_PATH.search(path) or path.startswith(("/", "~")):
            return path
        here, there = self.foreign.folder / path, self.foreign.path.parent / path
        looks = path.startswith(("./", "../")) or Path(path).suffix.lower() in _FILES
        if not here.exists() and there.exists():
            self.note(f"{self.at(key)}: {path} is taken from beside the configuration")
            return self._beside(there)
        if not here.exists() and not looks:
            return path
        if not here.exists():
            self.note(f"{self.at(key)}: there is no {path} here")
        return self._beside(here)

    def is_file(self, written: str) -> bool:
        """Whether a path as the recipe writes it is a file here; the recipe's folder may not be there yet."""
        return Path(os.path.normpath(self.foreign.target.resolve() / written)).is_file()

    def at(self, key: str) -> str:
        """`file:line` of a key."""
        return f"{self.foreign.path}:{self.line(key)}"

    def _beside(self, path: Path) -> str:
        relative = os.path.relpath(path.parent.resolve() / path.name, self.foreign.target.resolve())
        return relative if relative.startswith("..") else f"./{relative}"

    def done(self, nulls: int = 0) -> Imported:
        """What came of it. Engine keys stand in the order of the file, those that it doesn't have last."""
        if self.refused:
            return Imported(refused=tuple(sorted(self.refused, key=lambda one: one.line)))
        last = max(self.foreign.lines.values(), default=0) + 1
        ordered = sorted(self._settings, key=lambda one: one.line or last)
        left = sorted(self._left, key=lambda one: one.line)
        return Imported(settings=tuple(ordered), left_out=tuple(left), nulls=nulls, notes=tuple(self._notes))
