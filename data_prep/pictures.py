"""Pictures that rows name -> files beside the prepared rows, named by their content."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from data_prep.inline import LARGEST
from data_prep.picture import look
from data_prep.row import RowFault

FOLDER = "images"
_NAMED = re.compile(rb'"path":"images/([0-9a-f]{32}\.[a-z]+)"')


@dataclass
class Pictures:
    """Finds pictures and keeps them.

    Attributes:
        roots: beginning of a name, and the folder that stands for it; the empty beginning is for every name.
        out: the prepared folder; None where nothing is kept.
        beside: folder of the rows being read: names are relative to it where no root takes them.
    """

    roots: tuple[tuple[str, Path], ...] = ()
    out: Path | None = None
    beside: Path = Path()
    _known: dict[Path, str] = field(default_factory=dict)
    _looked: dict[str, str] = field(default_factory=dict)

    def take(self, named: Any) -> str:
        """The path of a kept picture, relative to the prepared folder.

        Raises:
            RowFault: it is not there, not within the folder it should be in, or does not open.
        """
        if isinstance(named, dict):
            named = named["bytes"] if named.get("bytes") is not None else named.get("path")
        if isinstance(named, bytes):
            return self._keep(named, "a picture in the row")
        if not isinstance(named, str) or not named:
            raise RowFault("picture_missing", f"a picture is named by text, not by {named!r:.60}")
        if named.startswith("data:"):
            return self._keep(_inline(named), "a picture in the row")
        if "://" in named:
            raise RowFault("picture_url", f"{named:.120} lies elsewhere; nothing is downloaded")
        return self._file(named)

    def looked(self) -> dict[str, str]:
        """The files that were looked for since the last call, and what each was."""
        found, self._looked = self._looked, {}
        return found

    def _file(self, named: str) -> str:
        try:
            path = self._place(named)
            if path not in self._known:
                if path.stat().st_size > LARGEST:
                    raise RowFault("picture_huge", f"{named} has more than {LARGEST:,} bytes")
                self._known[path] = self._keep(path.read_bytes(), named)
        except (OSError, ValueError, RuntimeError) as error:  # no name of a file, a link to itself, no permission
            raise RowFault("picture_missing", f"{named:.200} can't be read: {error}") from None
        return self._known[path]

    def _place(self, named: str) -> Path:
        """The file behind a name. Only what lies below the folder that the name is looked up in."""
        start, root = next(((start, root) for start, root in self.roots if _begins(named, start)), ("", self.beside))
        rest = named[len(start) :].lstrip("/") if start else named
        path = (root / rest).resolve()
        if "\0" in named or not path.is_relative_to(root.resolve()):
            raise RowFault("picture_outside", f"{named} leads out of {root}; name its folder with --images")
        self._looked[str(path)] = state(path)
        if not path.is_file():
            raise RowFault("picture_missing", f"{named} is not below {root}{self._hint(named, root)}")
        return path

    def _hint(self, named: str, root: Path) -> str:
        """Where the picture would be found if its name began elsewhere."""
        parts = PurePosixPath(named).parts
        for cut in range(1, len(parts)):
            if (root / Path(*parts[cut:])).is_file():
                return f"; say --images {'/'.join(parts[:cut])}={root}"
        return "; name its folder with --images FOLDER, or --images BEGINNING=FOLDER"

    def _keep(self, data: bytes, name: str) -> str:
        ending = look(data, name).ending
        kept = f"{FOLDER}/{hashlib.sha256(data).hexdigest()[:32]}.{ending}"
        if self.out and not (self.out / kept).exists():
            (self.out / FOLDER).mkdir(exist_ok=True)
            part = self.out / f"{kept}.{os.getpid()}"  # several processes may write the same picture
            part.write_bytes(data)
            part.replace(self.out / kept)
        return kept


def state(path: Path) -> str:
    """What tells whether a file is the one it was, without reading it; empty where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_size}|{found.st_mtime_ns}|{found.st_ino}"


def _begins(named: str, start: str) -> bool:
    return not start or named == start or named.startswith(start.rstrip("/") + "/")


def _inline(text: str) -> bytes:
    head, _, body = text.partition(",")
    try:
        if not head.endswith(";base64"):
            raise ValueError("no base64")
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise RowFault("picture_broken", f"a data: address that holds no picture in base64: {text:.40}") from None


def named_in(file: Path) -> Iterator[str]:
    """Names of the kept pictures that prepared rows hold."""
    with file.open("rb") as rows:
        for row in rows:
            for found in _NAMED.findall(row):
                yield found.decode()


def changed(file: Path) -> str | None:
    """The first picture of prepared rows whose bytes are not those that its name was made from; None if all are."""
    for name in dict.fromkeys(named_in(file)):
        path = file.parent / FOLDER / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest()[:32] != path.stem:
            return f"{FOLDER}/{name}"
    return None
