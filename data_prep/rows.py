"""Rows of a JSONL file, one at a time, each with its line number and a digest of the whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from data_prep.faults import DataFault

Row = dict[str, Any]
_PREPARE = "post-train data prepare FILE --output FOLDER, and name FOLDER instead"
_HEADS = {
    b"version https://git-lfs": ("this is a Git-LFS pointer, not the data", "git lfs pull"),
    b"<!doctype html": ("this is an HTML page, not data; the download went wrong", "download the file again"),
    b"<html": ("this is an HTML page, not data; the download went wrong", "download the file again"),
    b"PAR1": ("this is a Parquet file; JSON lines are wanted", _PREPARE),
    b"\x1f\x8b": ("this file is compressed; plain JSON lines are wanted", _PREPARE),
}


class Jsonl:
    """A JSONL file being read. After the last row `digest` is the sha256 of its bytes and `count` the number of rows.

    Raises (while iterating):
        DataFault: missing, unreadable, empty, not UTF-8, or a line that is no JSON object.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.count, self._hash = path, 0, hashlib.sha256()

    @property
    def digest(self) -> str:
        """sha256 of the bytes read so far, hex."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        try:
            if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):  # may wait or go on for ever
                raise DataFault("a pipe or device can't be used; the file is read more than once", where=str(self.path))
            if self.path.is_dir():
                raise DataFault("a folder that is no prepared data", where=str(self.path), fix=_PREPARE)
            with self.path.open("rb") as file:
                self._refuse_other_formats(file.read(64))
                file.seek(0)
                for number, line in enumerate(file, start=1):
                    self._hash.update(line)
                    if line.strip():
                        self.count += 1
                        yield number, self._row(number, line)
        except FileNotFoundError:
            raise DataFault(
                "no such data file", where=str(self.path), fix="check the path; data is JSON lines"
            ) from None
        except OSError as error:
            raise DataFault(f"can't be read: {error.strerror}", where=str(self.path)) from None
        if not self.count:
            raise DataFault("the data file holds no row", where=str(self.path), fix="one JSON object a line")

    def _refuse_other_formats(self, head: bytes) -> None:
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        for mark, (what, fix) in _HEADS.items():
            if start.lower().startswith(mark.lower()):
                raise DataFault(what, where=f"{self.path}:1", fix=fix)
        if start.startswith(b"["):
            raise DataFault("this is a JSON array; JSON lines are wanted", where=f"{self.path}:1", fix=_PREPARE)

    def _row(self, number: int, line: bytes) -> Row:
        where = f"{self.path}:{number}"
        try:
            row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"), parse_constant=_refuse_constant)
        except UnicodeDecodeError as error:
            raise DataFault(f"not UTF-8 at byte {error.start}", where=where, fix="save the file as UTF-8") from None
        except json.JSONDecodeError as error:
            fix = "each line must be one complete JSON object"
            raise DataFault(f"not JSON: {error.msg} at column {error.colno}", where=where, fix=fix) from None
        except RecursionError:
            raise DataFault("not JSON that can be read: nested too deeply", where=where) from None
        except ValueError as error:
            raise DataFault(f"not JSON: {error}", where=where) from None
        if b"\\ud" in line.lower() and _lone_surrogate(row):
            fix = "replace the broken escape \\ud..., it is no character"
            raise DataFault("holds half of a surrogate pair, which no tokenizer takes", where=where, fix=fix)
        if not isinstance(row, dict):
            raise DataFault(f"a row is a JSON object, not {type(row).__name__}", where=where)
        return row


def _lone_surrogate(value: Any) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in json.dumps(value, ensure_ascii=False))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
