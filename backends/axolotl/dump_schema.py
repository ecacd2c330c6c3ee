"""Writes `schema.json`: every key that Axolotl and its bundled plugins read, as JSON Schema.

Run in the engine's environment after its pins move: `python -m backends.axolotl.dump_schema`. Axolotl ignores keys that
it does not know, at every level; here each object refuses them, so that a misspelt key is found.
"""

from __future__ import annotations

import enum
import importlib.util
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from backends.axolotl import dump_choices

TARGET = Path(__file__).with_name("schema.json")
_PACKAGES = ("accelerate", "axolotl", "peft", "torch", "transformers", "trl")
_NOISE = ("title", "description", "deprecated")


class _Generator(GenerateJsonSchema):
    """Axolotl's models hold enums of torch dtypes, which have no JSON form: their names stand in."""

    def encode_default(self, dft: Any) -> Any:
        try:
            return super().encode_default(dft)
        except Exception:  # noqa: BLE001  (whatever pydantic raises for a value that has no JSON form)
            return str(dft)

    def enum_schema(self, schema: Any) -> Any:
        members = [_Named(member) if _plain(member.value) is None else member for member in schema["members"]]
        changed: Any = {**schema, "members": members}
        return super().enum_schema(changed)


class _Named:
    def __init__(self, member: enum.Enum) -> None:
        self.value = str(member.value).removeprefix("torch.")


def main() -> int:
    """Dump the base schema and what each bundled plugin adds, one key a line, so that a new version reads as a diff."""
    from axolotl.utils.schemas.config import AxolotlInputConfig

    base, definitions = _schema(AxolotlInputConfig)
    plugins: dict[str, Any] = {}
    for name, model in sorted(_plugins().items()):
        properties, further = _schema(model)
        plugins[name], definitions = properties, definitions | further
    for key, text in dump_choices.top().items():
        base[key] = dump_choices.narrow(base[key], text)
    base |= {key: dump_choices.rows(base[key]) for key in dump_choices.ROWS}
    for name, keys in dump_choices.below().items():
        for key, text in keys.items():
            definitions[name]["properties"][key] = dump_choices.narrow(definitions[name]["properties"][key], text)
    tables = {
        "versions": {name: version(name).partition("+")[0] for name in _PACKAGES},
        "choices": dump_choices.choices(),
        "properties": base,
        "plugins": plugins,
        "$defs": definitions,
    }
    TARGET.write_text(render(tables), encoding="utf-8")
    return 0


def render(tables: dict[str, Any]) -> str:
    """JSON with one key a line."""
    parts = []
    for name, table in tables.items():
        lines = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(table.items()))
        parts.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _schema(model: type[BaseModel]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Properties, by every name that the model takes, and definitions, closed against unknown keys."""
    whole = model.model_json_schema(schema_generator=_Generator)
    properties = _clean(whole["properties"])
    for field, info in model.model_fields.items():
        if isinstance(info.alias, str) and field not in properties and model.model_config.get("populate_by_name"):
            properties[field] = properties[info.alias]
    return properties, {name: _closed(_clean(part)) for name, part in whole.get("$defs", {}).items()}


def _closed(part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "additionalProperties": False} if "properties" in part else part


def _clean(value: Any, key: str | None = None) -> Any:
    """Without prose; a property may itself be called `title`, so only annotations of a schema go."""
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if not isinstance(value, dict):
        return value
    names = key in ("properties", "$defs") or key is None
    return {k: _clean(v, k) for k, v in value.items() if names or k not in _NOISE}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else None


def _plugins() -> dict[str, type[BaseModel]]:
    """Package of each bundled plugin -> the model of the keys it adds."""
    spec = importlib.util.find_spec("axolotl.integrations")
    assert spec is not None
    assert spec.submodule_search_locations
    files = sorted(Path(spec.submodule_search_locations[0]).glob("*/args.py"))
    found = {f"axolotl.integrations.{file.parent.name}": _arguments(file) for file in files}
    return {name: model for name, model in found.items() if model is not None}


def _arguments(file: Path) -> type[BaseModel] | None:
    """Loaded by path: the package around it may want libraries that only its plugin needs."""
    spec = importlib.util.spec_from_file_location(f"_args_of_{file.parent.name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    own = [m for m in vars(module).values() if isinstance(m, type) and m.__module__ == spec.name]
    models = [m for m in own if issubclass(m, BaseModel)]
    inner = {name for model in models for name in model.model_json_schema(schema_generator=_Generator).get("$defs", {})}
    return next((model for model in models if model.__name__ not in inner), None)


if __name__ == "__main__":
    sys.exit(main())
