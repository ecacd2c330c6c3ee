"""Safe YAML with memory: every value knows its line, duplicate keys are refused, and `2e-5` is a number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from orchestrator import regular
from orchestrator.errors import RecipeError

Lines = dict[str, int]
"""Dotted path of a value (list items as `name.0`) -> its line, counted from 1."""


class _Loader(yaml.SafeLoader):
    """YAML 1.1 as PyYAML reads it, but `2e-5` is a number, a date is text, and only true and false are booleans."""


_BOOL, _TIME = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOL, _TIME)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d[\d_]*)(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)
RESOLVERS = _Loader.yaml_implicit_resolvers
"""Which plain texts are not text, for who writes what is read here."""
_MOST = 20_000
"""Values in one file: aliases of aliases grow without end."""

_LARGEST = 2**18
"""Bytes of one file: PyYAML reads some 160 KiB a second."""


def read(path: Path, noun: str = "recipe", loader: type[yaml.SafeLoader] = _Loader) -> tuple[dict[str, Any], Lines]:
    """Read a YAML mapping.

    Args:
        noun: what the file should hold, for messages.
        loader: how plain texts become values; `yaml.SafeLoader` for files that another program reads with it.

    Raises:
        RecipeError: the file is missing, unreadable, no YAML, no mapping, or repeats a key; with file:line.
    """
    text = _text(path, noun)
    try:
        reader = loader(text)
        node = reader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise RecipeError(f"a {noun} is a mapping of keys to values", where=f"{path}:1")
        lines: Lines = {}
        _walk(node, "", lines, path)
        return reader.construct_document(node), lines
    except yaml.YAMLError as error:
        raise RecipeError(f"not valid YAML: {_problem(error)}", where=_place(path, error)) from None
    except RecursionError:
        raise RecipeError("not valid YAML: nested too deeply", where=str(path)) from None
    except ValueError as error:
        raise RecipeError(f"not valid YAML: {error}", where=str(path)) from None


def scalar(text: str) -> Any:
    """The value of `--set key=VALUE`, read as YAML would."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  (a SafeLoader subclass)
    except (yaml.YAMLError, ValueError, RecursionError):
        return text


def _text(path: Path, noun: str) -> str:
    if kind := regular.other(path):
        raise RecipeError(f"{kind} is no {noun}", where=str(path), fix="name a file")
    try:
        if (size := path.stat().st_size) > _LARGEST:
            why = f"it takes long to read, and the largest allowed is {_LARGEST >> 10} KiB"
            raise RecipeError(f"{size >> 10} KiB are too many for a {noun}", where=str(path), why=why)
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        fix = "post-train recipes" if noun == "recipe" else None
        raise RecipeError(f"no such {noun} file", where=str(path), fix=fix) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(f"the {noun} can't be read: {error}", where=str(path)) from None


def _walk(node: yaml.Node, prefix: str, lines: Lines, path: Path) -> None:
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            _note(item, f"{prefix}{number}", item.start_mark.line + 1, lines, path)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = f"{prefix}{key.value}"
            if name in lines:
                raise RecipeError(f"the key {key.value!r} stands twice", where=f"{path}:{key.start_mark.line + 1}")
            _note(value, name, key.start_mark.line + 1, lines, path)


def _note(node: yaml.Node, name: str, line: int, lines: Lines, path: Path) -> None:
    lines[name] = line
    if len(lines) > _MOST:
        raise RecipeError("too many values for a recipe", where=str(path), why="aliases of aliases grow without end")
    _walk(node, f"{name}.", lines, path)


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error)


def _place(path: Path, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f"{path}:{mark.line + 1}" if mark else str(path)
