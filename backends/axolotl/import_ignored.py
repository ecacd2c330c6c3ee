"""Keys that Axolotl reads past, at any level, and texts that it makes numbers of."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from backends.axolotl import schema
from backends.axolotl.reading import Reading

_NEAR = 0.7
"""How alike two keys must be for one to be taken for the other."""


def clean(reading: Reading) -> None:
    """Leave out what has no effect, and make numbers of `2e-5` and the like."""
    _fsdp_names(reading.given)
    foreign = schema.foreign(schema.plugins(reading.given))
    known = schema.known(reading.given)
    for key in list(reading.given):
        if key in known:
            reading.given[key] = _numbers(_pruned(reading, key, reading.given[key], known[key]), known[key])
        elif plugin := schema.plugin_of(key):
            reading.leave(key, f"only the plugin {plugin} reads it, and `plugins` doesn't name that")
        elif not foreign:
            reading.leave(key, _reason(key, known))


def _fsdp_names(given: dict[str, Any]) -> None:
    """Names in `fsdp_config` as Axolotl makes them: without `fsdp_` in front."""
    config = given.get("fsdp_config")
    if isinstance(config, dict):
        renamed = {"version": "fsdp_version"}
        short = {k: k if k == "fsdp_version" else str(k).removeprefix("fsdp_") for k in config}
        given["fsdp_config"] = {renamed.get(short[k], short[k]): value for k, value in config.items()}


def _pruned(reading: Reading, at: str, value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, list):
        item = {"anyOf": [branch["items"] for branch in schema.branches(known) if "items" in branch]}
        return [_pruned(reading, f"{at}.{number}", one, item) for number, one in enumerate(value)]
    objects = [branch for branch in schema.branches(known) if branch.get("type") == "object"]
    if not isinstance(value, dict) or not objects or any("properties" not in branch for branch in objects):
        return value
    fitting: dict[str, Any] = min((o["properties"] for o in objects), key=lambda names: len(value.keys() - names))
    for key in [key for key in value if key not in fitting]:
        reading.leave(f"{at}.{key}", _reason(str(key), fitting))
    return {k: _pruned(reading, f"{at}.{k}", v, fitting[k]) for k, v in value.items() if k in fitting}


def _reason(key: str, known: dict[str, Any]) -> str:
    near = get_close_matches(key, known, n=1, cutoff=_NEAR)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"Axolotl {schema.versions()['axolotl']} has no such key and ignores it{hint}"


def _numbers(value: Any, known: dict[str, Any]) -> Any:
    """The value with every text and truth replaced that Axolotl makes a number of."""
    wrong = _wrong(value, known)
    while wrong is not None:
        better = _replaced(value, wrong)
        if _wrong(better, known) == wrong:
            break
        value, wrong = better, _wrong(better, known)
    return value


def _wrong(value: Any, known: dict[str, Any]) -> list[str] | None:
    return next((dotted.split(".")[1:] for dotted, _ in schema.faults("it", value, known)), None)


def _replaced(value: Any, path: list[str]) -> Any:
    if isinstance(value, str | bool) and not path:
        return number(value) if isinstance(value, str) else int(value)
    if isinstance(value, dict) and path and path[0] in value:
        return {**value, path[0]: _replaced(value[path[0]], path[1:])}
    if isinstance(value, list) and path and path[0].isdecimal():
        return [_replaced(item, path[1:]) if n == int(path[0]) else item for n, item in enumerate(value)]
    return value


def number(text: str) -> float | int | str:
    """The number that a text is, or the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
