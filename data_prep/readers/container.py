"""Which container a file is, by its content, and the reader for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from data_prep.batch import LONGEST, Batch
from data_prep.faults import DataFault
from data_prep.jsontext import NotJson, parse
from data_prep.opening import Opened, require_file
from data_prep.readers import array, document, lines, parquet, table

Container = Literal["jsonl", "json array", "json", "csv", "parquet", "arrow"]
_TEXT: dict[Container, Callable[[Opened], Iterator[Batch]]] = {
    "jsonl": lines.batches,
    "json array": array.batches,
    "json": document.batches,
    "csv": table.batches,
}


def container(path: Path, encoding: str | None = None) -> Container:
    """Name the container of a file.

    Raises:
        DataFault: the file can't be read, or is no container of rows.
    """
    require_file(path)
    if path.is_dir():
        raise DataFault("this is a folder, and a file is wanted here", where=str(path), fix="name one of its files")
    binary = _binary(path)
    if binary:
        return binary
    with Opened(path, encoding) as opened:
        return _of_text(path, *_head(opened))


def _head(opened: Opened) -> tuple[bytes, bool]:
    """The beginning of a text, and whether that is all of it.

    A row may be longer than a block: of an object its whole line is read, and something of what comes after it.
    """
    head = opened.block()
    while head.lstrip()[:1] == b"{" and not head.lstrip().partition(b"\n")[2].lstrip() and len(head) <= LONGEST:
        more = opened.block()
        if not more:
            return head, True
        head += more
    return head, False


def batches(
    path: Path,
    kind: Container,
    encoding: str | None,
    done: Callable[[Opened], None],
    taken: Callable[[int], None] = lambda _: None,
) -> Iterator[Batch]:
    """Every batch of a file.

    Args:
        taken: called with the bytes of the file that were read so far.
        done: called with the file once it was read to its end.

    Raises:
        DataFault: while reading, as soon as something makes the rest unreadable.
    """
    if kind in ("parquet", "arrow"):
        yield from parquet.parquet(path, taken) if kind == "parquet" else parquet.arrow_stream(path, taken)
    with Opened(path, encoding) if kind in _TEXT else _plain(path) as opened:
        if kind in _TEXT:
            for batch in _TEXT[kind](opened):
                taken(opened.taken)
                yield batch
        done(opened)


def _plain(path: Path) -> Opened:
    return Opened(path, "latin-1")


def _binary(path: Path) -> Container | None:
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"PAR1"):
        return "parquet"
    return "arrow" if head.startswith(b"\xff\xff\xff\xff") else None


def _of_text(path: Path, head: bytes, whole: bool) -> Container:
    first, _, rest = head.lstrip().partition(b"\n")
    if not first:
        raise DataFault("the data file holds no row", where=str(path), fix="one JSON object a line")
    if first[:1] not in (b"{", b"["):
        return _of_plain(path, head)
    after = rest.lstrip()[:1]
    if first[:1] == b"{" and not after and whole and _fault(first) is None:
        return "json"
    if first[:1] == b"{":
        return "jsonl" if _whole(first) or after == b"{" or (not rest and len(head) > len(first)) else "json"
    if _whole(first) and after == b"[" and rest[:1] == b"[":
        return "jsonl"
    return "json" if _holds_turns(head) else "json array"


def _holds_turns(head: bytes) -> bool:
    """Whether an array is one conversation: its elements are turns, and the whole of it is one row."""
    text = head.decode("utf-8", "replace").lstrip()[1:].lstrip()
    try:
        return document.is_message(json.JSONDecoder().raw_decode(text)[0])
    except (ValueError, RecursionError):
        return False


def _of_plain(path: Path, head: bytes) -> Container:
    if b"\0" in head[:4096]:
        fix = "name a file of rows, or say with --encoding what text this is"
        raise DataFault("binary data, and no kind that is known here", where=f"{path}:1", fix=fix)
    endings = {ending.lower() for ending in path.suffixes}
    if endings & {".csv", ".tsv"}:
        return "csv"
    if endings & {".jsonl", ".ndjson", ".json"}:
        return "jsonl"
    raise DataFault(
        "plain text: nothing tells where one row ends and the next begins",
        where=f"{path}:1",
        fix='write rows, for instance {"text": "..."} a line, or end the name of a table in .csv or .tsv',
    )


def _whole(line: bytes) -> bool:
    """Whether a line is JSON by itself, or JSON with a fault that is no break of the line."""
    fault = _fault(line)
    return fault is None or "Extra data" in fault.what or fault.code != "not_json"


def _fault(line: bytes) -> NotJson | None:
    try:
        parse(line)
    except NotJson as fault:
        return fault
    return None
