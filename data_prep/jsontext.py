"""One strict reading of JSON, whichever parser is installed: what it accepts, and what it says of what it refuses.

orjson is taken where it is installed, and Python's own parser elsewhere. Both give the same answer: a repeated key,
NaN, an infinity (1e999 too), half a surrogate pair and bytes that are no UTF-8 are faults; long integers stay whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from data_prep.needs import installed

orjson: Any = installed("orjson")
_EXACT = 2.0**63
"""A float this large may be an integer that orjson rounded."""


class NotJson(Exception):
    """A text that is not read.

    Args:
        code: kind of fault, for counting.
        what: the fault in words.
        line: lines of the text before the fault.
    """

    def __init__(self, code: str, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.code, self.what, self.line = code, what, line

    def __reduce__(self) -> tuple[type[NotJson], tuple[str, str, int]]:
        return NotJson, (self.code, self.what, self.line)


@dataclass
class _Seen:
    keys: int = 0
    float: bool = False
    large: bool = False


def parse(text: bytes) -> tuple[Any, bool]:
    """A JSON value, and whether a float occurs in it.

    Raises:
        NotJson: with the kind of fault and its place in the text.
    """
    try:
        value = _fast(text)
    except ValueError:
        return _slow(text)
    seen = _Seen()
    try:
        _walk(value, seen)
    except RecursionError:
        raise NotJson("not_json", "nested too deeply") from None
    # every key has its colon, so more colons than keys may be a repeated key (or a colon in a text)
    if orjson is None or seen.large or text.count(b'":') != seen.keys:
        return _slow(text)
    return value, seen.float


def _fast(text: bytes) -> Any:
    return orjson.loads(text) if orjson is not None else None


def _walk(value: Any, seen: _Seen) -> None:
    kind = type(value)
    if kind is dict:
        seen.keys += len(value)
        for item in value.values():
            if type(item) is not str:
                _walk(item, seen)
    elif kind is list:
        for item in value:
            if type(item) is dict:  # as below, one call less: turns are most of what is walked
                seen.keys += len(item)
                for inner in item.values():
                    if type(inner) is not str:
                        _walk(inner, seen)
            elif type(item) is not str:
                _walk(item, seen)
    elif kind is float:
        seen.float, seen.large = True, seen.large or abs(value) >= _EXACT


def _slow(text: bytes) -> tuple[Any, bool]:
    """Python's parser, with every fault named."""
    decoded = _decoded(text)
    try:
        value = _DECODER.decode(decoded)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" starting at")
        raise NotJson("not_json", f"not JSON: {what} at column {error.colno}", error.lineno - 1) from None
    except RecursionError:
        raise NotJson("not_json", "nested too deeply") from None
    except ValueError as error:
        raise NotJson("not_json", f"not JSON: {error}") from None
    if "\\ud" in decoded.lower():
        refuse_surrogates(value)
    seen = _Seen()
    _walk(value, seen)
    return value, seen.float


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson("not_utf8", f"not UTF-8 at byte {error.start}") from None


def refuse_surrogates(value: Any) -> None:
    """Refuse half of a surrogate pair anywhere in a value.

    Raises:
        NotJson: one was found.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise NotJson("surrogate", "holds half of a surrogate pair, which no tokenizer takes") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise NotJson("repeated_key", f"the key {twice!r} occurs twice in one object, so its value is not known")
    return row


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NotJson("not_finite", f"{text} is too large for a number")
    return number


def _constant(name: str) -> None:
    raise NotJson("not_finite", f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_constant)


def values(text: bytes) -> Iterator[Any]:
    """Every JSON value of a text in which values follow each other with nothing but space between.

    Raises:
        NotJson: what is between is no space, or a value is not complete.
    """
    decoded, at = _decoded(text).strip(), 0
    while at < len(decoded):
        try:
            value, end = _DECODER.raw_decode(decoded, at)
        except (ValueError, RecursionError):
            raise NotJson("not_json", "not JSON") from None
        yield value
        at = end + len(decoded[end:]) - len(decoded[end:].lstrip())


def _dump_fast(value: Any) -> bytes:
    text: bytes = orjson.dumps(value)
    return text


def dump_plain(value: Any) -> bytes:
    """Compact UTF-8 JSON by Python's own writer: the same bytes with or without orjson."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


dump: Callable[[Any], bytes] = dump_plain if orjson is None else _dump_fast
"""Compact UTF-8 JSON. For values without floats and integers past 64 bits, which the two writers spell differently."""
