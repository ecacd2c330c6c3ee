"""What the engine's constructors accept, read from the dump that was made in its environment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from orchestrator.nearest import nearest

_FILE = Path(__file__).with_name("schema.json")
_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "str": (str,),
    "list": (list,),
    "dict": (dict,),
    "null": (type(None),),
}

Fields = dict[str, dict[str, list[str]]]


@cache
def _tables() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return tables


def versions() -> dict[str, str]:
    """Distribution -> the version that the dump was made with."""
    return dict(_tables()["versions"])


def fields(constructor: str) -> Fields:
    """Keyword -> its `types` and, when they are closed, its `choices`."""
    table: Fields = _tables()[constructor]
    return table


def problems(constructor: str, given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Keyword and what is wrong with it: unknown, of another type, or not among the choices."""
    known = fields(constructor)
    for key, value in given.items():
        if key not in known:
            yield key, f"{constructor} has no `{key}`{nearest(key, known)}"
        elif not _fits(value, known[key]["types"]):
            yield key, f"{constructor}.{key} takes {' or '.join(known[key]['types'])}, not {value!r}{_hint(value)}"
        elif wrong := _outside(value, known[key].get("choices", [])):
            yield key, f"{constructor}.{key}: unknown value {wrong!r}{nearest(wrong, known[key]['choices'])}"


def _fits(value: Any, types: list[str]) -> bool:
    if "any" in types:
        return True
    if isinstance(value, bool):
        return "bool" in types
    return isinstance(value, tuple(kind for name in types if name != "bool" for kind in _TYPES[name]))


def _hint(value: Any) -> str:
    """YAML reads `2e-5` as text: it wants a point in the mantissa."""
    try:
        number = repr(float(value)) if isinstance(value, str) else ""
    except ValueError:
        return ""
    mantissa, exponent, rest = number.partition("e")
    return (
        f"; write {mantissa if '.' in mantissa else mantissa + '.0'}{exponent}{rest} without quotes" if number else ""
    )


def _outside(value: Any, choices: list[str]) -> str:
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return next((item for item in given if isinstance(item, str) and choices and item not in choices), "")
