"""Compressed files as plain streams, with an end to what a small file may expand to."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import IO, Any, Protocol, cast

from data_prep.faults import DataFault
from data_prep.needs import needed

_FREE, _RATIO = 64 * 2**20, 200
"""A file may expand this far whatever its size; past that, no more than so many times."""


class Raw(Protocol):
    """The file itself, counting what was read of it."""

    taken: int


def expanded(raw: Any, compression: str, path: Path) -> IO[bytes]:
    """A stream of what a file of this compression holds.

    Raises:
        DataFault: zstd, and its library is not installed.
    """
    if compression == "gzip":
        import gzip

        unzipped: Any = gzip.GzipFile(fileobj=raw)
        return cast(IO[bytes], unzipped)
    if compression == "bzip2":
        import bz2

        return bz2.BZ2File(raw)
    if compression == "xz":
        import lzma

        return lzma.LZMAFile(raw)
    if compression == "zstd":
        frames: Any = _Zstd(raw, needed("zstandard", f"{path.name} is compressed with zstd"))
        return cast(IO[bytes], frames)
    plain: IO[bytes] = raw
    return plain


class _Zstd:
    """Frames of zstd, one after the other. The library's own reader takes a frame that is cut off for a whole one."""

    _PIECE = 2048
    """Bytes taken at once: a block of 4 may expand to 128 KiB, and so this much to 64 MiB."""

    def __init__(self, raw: Any, library: Any) -> None:
        self._raw, self._library = raw, library
        self._frame: Any = None
        self._left = self._ready = b""

    def read(self, size: int) -> bytes:
        """At most so many bytes.

        Raises:
            EOFError: the last frame is cut off.
        """
        pieces, have = [self._ready], len(self._ready)
        while have < size and (piece := self._left or self._raw.read(self._PIECE)):
            if self._frame is None:
                self._frame = self._library.ZstdDecompressor().decompressobj()
            pieces.append(self._frame.decompress(piece))
            have += len(pieces[-1])
            self._left = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        if have < size and self._frame is not None:
            raise EOFError
        found = b"".join(pieces)
        self._ready = found[size:]
        return found[:size]


class Bounded:
    """Reads a stream, and tells of damage and of bombs.

    Raises (while reading):
        DataFault: cut off, damaged, or expanded far beyond what text does.
    """

    def __init__(self, stream: IO[bytes], raw: Raw, path: Path, compression: str) -> None:
        self._stream, self._raw, self._path = stream, raw, path
        self._compressed, self._given = compression != "none", 0

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        try:
            piece = self._stream.read(size)
        except EOFError:
            raise self._fault("the compressed file is cut off") from None
        except OSError as error:
            what = f"can't be read: {error.strerror}" if error.errno else f"the compressed file is damaged: {error}"
            raise self._fault(what) from None
        except (zlib.error, _error("lzma", "LZMAError"), _error("zstandard", "ZstdError")) as error:
            raise self._fault(f"the compressed file is damaged: {error}") from None
        self._given += len(piece)
        if self._compressed and self._given > max(_FREE, _RATIO * self._raw.taken):
            raise self._bomb()
        return piece

    def _fault(self, what: str) -> DataFault:
        return DataFault(what, where=str(self._path), fix="download or copy the file again")

    def _bomb(self) -> DataFault:
        return DataFault(
            f"a decompression bomb: {self._raw.taken:,} bytes expanded to {self._given:,} so far",
            where=str(self._path),
            why=f"text does not shrink more than {_RATIO}-fold",
            fix="if its rows are wanted all the same, decompress the file first",
        )


class _NeverRaised(Exception):
    pass


def _error(module: str, name: str) -> type[Exception]:
    """An exception class of a module that may not be loaded; then nothing can raise it."""
    found: type[Exception] = getattr(sys.modules.get(module), name, _NeverRaised)
    return found
