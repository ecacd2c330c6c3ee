"""What Axolotl reads, from the dump that was made in its environment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from backends.axolotl import value_faults
from orchestrator.nearest import nearest

_FILE = Path(__file__).with_name("schema.json")


def versions() -> dict[str, str]:
    """Distribution -> the version that the dump was made with."""
    return dict(_tables()["versions"])


def properties() -> dict[str, Any]:
    """Top-level key -> its JSON Schema, plugins' keys left out."""
    found: dict[str, Any] = _tables()["properties"]
    return found


def choices(setting: str) -> list[str]:
    """Names that `optimizer` or `lr_scheduler` may have, and the bundled `plugins`."""
    return list(_tables()["choices"][setting])


def plugin_of(key: str) -> str | None:
    """The bundled plugin that reads a key, as the package that `plugins:` names."""
    return next((name for name, properties in _tables()["plugins"].items() if key in properties), None)


def foreign(plugins: Iterable[str]) -> bool:
    """Whether a plugin is named whose keys are not known here."""
    return any("." in name and not name.startswith(("backends.", "axolotl.")) for name in plugins)


def plugin_problem(name: str) -> str | None:
    """What is wrong with the name of a plugin: Axolotl goes on without one that it can't import."""
    package, _, last = name.rpartition(".")
    if not package:
        return f"a plugin is named by its class, as package.Class, not {name!r}; Axolotl would go on without it"
    own = [".".join([*package.split(".")[:3], last]), name]
    if package.split(".")[0] != "axolotl" or any(one in choices("plugins") for one in own):
        return None
    return (
        f"Axolotl would go on without the plugin {name!r}: it has none of that name{nearest(name, choices('plugins'))}"
    )


def plugins(given: dict[str, Any]) -> list[str]:
    """The plugins that a configuration names."""
    listed = given.get("plugins")
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


def known(given: dict[str, Any]) -> dict[str, Any]:
    """Top-level key -> its JSON Schema, with the keys of the bundled plugins that a configuration names."""
    named = [_tables()["plugins"].get(_package(name), {}) for name in plugins(given)]
    return properties() | {key: schema for keys in named for key, schema in keys.items()}


def branches(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """What a value may be: the alternatives of a schema, references followed."""
    if "$ref" in schema:
        return branches(_tables()["$defs"][schema["$ref"].rpartition("/")[2]])
    return [branch for one in schema["anyOf"] for branch in branches(one)] if "anyOf" in schema else [schema]


def problems(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Dotted key and what is wrong with it: unknown anywhere in the tree, or of another type than Axolotl takes."""
    legible, named = known(given), plugins(given)
    for key, value in given.items():
        if key in legible:
            yield from faults(key, value, legible[key])
        elif plugin := plugin_of(key):
            yield key, f"`{key}` is read by the plugin {plugin}, which native.plugins doesn't name; it would be ignored"
        elif not foreign(named):
            yield key, f"Axolotl would ignore `{key}` without a word: it has no such key{nearest(key, legible)}"


def faults(key: str, value: Any, schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Everything that is wrong with a value: dotted key and words; nothing when it is right."""
    return value_faults.faults(key, value, {**schema, "$defs": _tables()["$defs"]})


def _package(plugin: str) -> str:
    return plugin.rpartition(".")[0]


@cache
def _tables() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return tables
