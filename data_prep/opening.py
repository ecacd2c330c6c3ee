"""Any file as blocks of UTF-8: decompressed, decoded, digested on the way, and refused when it can't be data.

Only what the bytes themselves say is believed, never the file's name. Bytes that are neither UTF-8 nor marked are not
guessed at; `encoding` names what they are.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from types import TracebackType
from typing import IO

from data_prep import heads
from data_prep.compressed import Bounded, expanded
from data_prep.faults import DataFault
from data_prep.transcode import to_utf8

BLOCK = 2**20


class Opened:
    """A file being read.

    Attributes:
        encoding: what it is in, by its bytes or as given.
        compression: gzip, zstd, bzip2, xz, or none.

    Raises (here and while reading):
        DataFault: missing, unreadable, no data, damaged, not in this encoding, or a decompression bomb.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        require_file(path)
        self.path, self._raw = path, _Digesting(_open(path))
        try:
            self._begin(encoding)
        except BaseException:
            self._raw.file.close()
            raise

    def _begin(self, encoding: str | None) -> None:
        head = self._raw.file.read(512)
        self._raw.file.seek(0)
        heads.refuse_no_data(self.path, head)
        self.compression = heads.compression(head)
        stream = expanded(self._raw, self.compression, self.path)
        self._stream = Bounded(stream, self._raw, self.path, self.compression)
        first = self._stream.read(BLOCK)
        heads.refuse_no_data(self.path, first)
        self.encoding = encoding or heads.encoding(first)
        self._step = to_utf8(self.encoding, self.path)
        self._first = self._step(first, False)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._raw.file.close()

    @property
    def taken(self) -> int:
        """Bytes of the file read so far, before decompression."""
        return self._raw.taken

    def peek(self) -> bytes:
        """The first block, which `block` gives all the same."""
        return self._first

    def digest(self) -> str:
        """sha256 of the file's bytes, hex; reads what is left of it."""
        while self._raw.read(BLOCK):
            pass
        return self._raw.hash.hexdigest()

    def block(self) -> bytes:
        """The next piece; empty at the end."""
        text, self._first = self._first, b""
        while not text and (raw := self._stream.read(BLOCK)):
            text = self._step(raw, False)
        return text or self._step(b"", True)


class _Digesting(io.RawIOBase):
    """A file that is hashed while it is read, and never goes back."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self.file, self.hash, self.taken = file, hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self.file.read(size)
        self.hash.update(piece)
        self.taken += len(piece)
        return piece


def require_file(path: Path) -> None:
    """Refuse what is no file.

    Raises:
        DataFault: nothing is there, or a pipe, a device, a dead link.
    """
    if path.is_symlink() and not path.exists():
        raise DataFault("a link that leads nowhere", where=str(path), fix="name the file itself")
    if not path.exists():
        raise DataFault("no such data file", where=str(path), fix="check the path")
    if not path.is_file() and not path.is_dir():
        raise DataFault("a pipe or device can't be used; the file is read more than once", where=str(path))


def _open(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataFault(f"can't be read: {error.strerror}", where=str(path)) from None
