"""Writes `schema.json`: names, types and choices of the constructors that a native file fills.

Run in the engine's environment after its pins move: `python -m backends.trl.dump_schema`.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import re
import sys
import types
import typing
from importlib.metadata import version
from pathlib import Path
from typing import Any

TARGET = Path(__file__).with_name("schema.json")
_PACKAGES = ("accelerate", "bitsandbytes", "peft", "torch", "transformers", "trl")
_PLAIN = {bool: "bool", int: "int", float: "float", str: "str", type(None): "null"}
_LISTED, _QUOTED = re.compile(r"values are:?([^.]*)\."), re.compile(r"'([a-z0-9_]+)'")


def main() -> int:
    """Dump every constructor, one field a line, so that a change of version reads as a diff."""
    from peft import LoraConfig
    from transformers import BitsAndBytesConfig
    from trl import DPOConfig, GRPOConfig, SFTConfig

    tables = {kind.__name__: _dataclass(kind) for kind in (SFTConfig, DPOConfig, GRPOConfig, LoraConfig)}
    tables["BitsAndBytesConfig"] = _signature(BitsAndBytesConfig.__init__)
    versions = {name: version(name).partition("+")[0] for name in _PACKAGES}
    TARGET.write_text(render({"versions": versions, **tables}), encoding="utf-8")
    return 0


def render(tables: dict[str, Any]) -> str:
    """JSON with one field a line."""
    parts = []
    for name, table in tables.items():
        lines = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(table.items()))
        parts.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _dataclass(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {f.name: _field(hints[f.name], dict(f.metadata), f.name) for f in dataclasses.fields(kind) if f.init}


def _field(hint: Any, metadata: dict[str, Any], name: str) -> dict[str, Any]:
    types_, choices = _flatten(hint)
    choices = choices or list(metadata.get("choices") or ()) or _from_help(metadata, name)
    choices = [] if any("[" in choice for choice in choices) else choices  # an open family such as pissa_niter_[n]
    return {"types": sorted(types_), **({"choices": choices} if choices else {})}


def _from_help(metadata: dict[str, Any], name: str) -> list[str]:
    """TRL keeps the loss names of DPO and GRPO in the help text only."""
    if name != "loss_type":
        return []
    listed = _LISTED.search(metadata.get("help", ""))
    return sorted(_QUOTED.findall(listed.group(1))) if listed else []


def _flatten(hint: Any) -> tuple[set[str], list[str]]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = [_flatten(part) for part in typing.get_args(hint)]
        return set().union(*(names for names, _ in parts)), [c for _, choices in parts for c in choices]
    if typing.get_origin(hint) is typing.Literal:
        values = typing.get_args(hint)
        return {_PLAIN.get(type(value), "any") for value in values}, [v for v in values if isinstance(v, str)]
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return {"str"}, [str(member.value) for member in hint]
    kind = typing.get_origin(hint) or hint
    return {_PLAIN.get(kind) or {list: "list", dict: "dict"}.get(kind, "any")}, []


def _signature(function: Any) -> dict[str, Any]:
    """A constructor without annotations: the type of a default that is not None, else anything."""
    taken = [p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return {
        p.name: {"types": [_PLAIN.get(type(p.default), "any") if p.default is not None else "any"]} for p in taken[1:]
    }


if __name__ == "__main__":
    sys.exit(main())
