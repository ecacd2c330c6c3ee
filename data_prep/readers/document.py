"""A file that is one JSON value: a row, or an object with the rows under one of its keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from data_prep.batch import LONGEST, Batch, Elements
from data_prep.faults import DataFault
from data_prep.jsontext import NotJson, parse
from data_prep.opening import Opened

_SCAN = json.JSONDecoder()


def batches(opened: Opened) -> Iterator[Batch]:
    """One row, or the rows under the only key that holds any.

    Raises:
        DataFault: no JSON, too long to read at once, or several keys hold rows.
    """
    text, path = _whole(opened), str(opened.path)
    try:
        value, _ = parse(text)
    except NotJson as fault:
        several = "Extra data" in fault.what
        fix = "write each object on a line of its own, for instance: jq -c . FILE" if several else "mend the file there"
        raise DataFault(fault.what, where=f"{path}:{1 + fault.line}", fix=fix) from None
    keys = _keys(value) if isinstance(value, dict) else []
    if len(keys) > 1:
        raise DataFault(
            f"rows lie under several keys: {', '.join(keys)}", where=f"{path}:1", fix="write one file for each of them"
        )
    yield Elements(path, *(_under(text.decode(), keys[0]) if keys else ([1], [text])))


def _whole(opened: Opened) -> bytes:
    blocks, size = list[bytes](), 0
    while block := opened.block():
        blocks.append(block)
        size += len(block)
        if size > LONGEST:
            what = f"one JSON object of more than {LONGEST:,} bytes"
            fix = "write its rows as JSON lines, for instance: jq -c '.data[]' FILE; no row may be as long"
            raise DataFault(what, where=f"{opened.path}:1", fix=fix)
    return b"".join(blocks)


def is_message(value: Any) -> bool:
    """Whether a value is a turn of a conversation, not a row."""
    return isinstance(value, dict) and any({who, what} <= value.keys() for who, what in _TURNS)


_TURNS = (("role", "content"), ("from", "value"), ("role", "value"), ("from", "content"), ("role", "tool_calls"))


_ROWS = {"data", "dataset", "entries", "examples", "instances", "items", "records", "rows", "samples"}
_SPLITS = {"train", "training", "validation", "valid", "val", "dev", "test"}


def _keys(value: dict[str, Any]) -> list[str]:
    """The keys under which rows lie: those that are called so, or the only one there is."""
    known = [key for key in value if key.lower() in _ROWS | _SPLITS or len(value) == 1]
    return [key for key in known if _are_rows(value[key])]


def _are_rows(value: Any) -> bool:
    if not isinstance(value, list) or not value or is_message(value[0]):
        return False
    return all(isinstance(row, dict) for row in value)


def _under(text: str, key: str) -> tuple[list[int], list[bytes]]:
    """Lines and texts of the elements under a key of the outermost object."""
    at = _value_of(text, key) + 1
    lines, texts, line, counted = list[int](), list[bytes](), 1, 0
    while text[at := _past(text, at)] != "]":
        line, counted = line + text.count("\n", counted, at), at
        _, end = _SCAN.raw_decode(text, at)
        lines.append(line)
        texts.append(text[at:end].encode())
        at = _past(text, end, ",")
    return lines, texts


def _value_of(text: str, key: str) -> int:
    at = _past(text, 0) + 1
    while True:
        name, end = _SCAN.raw_decode(text, _past(text, at))
        at = _past(text, end, ":")
        if name == key:
            return at
        _, end = _SCAN.raw_decode(text, at)
        at = _past(text, end, ",")


def _past(text: str, at: int, mark: str = "") -> int:
    """The next place that holds neither space nor the mark."""
    while text[at].isspace() or text[at] == mark:
        at += 1
    return at
