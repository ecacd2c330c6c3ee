"""A configuration written for an engine itself -> a recipe: read, ask the backend, guard, write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from orchestrator import credential, recipetext, registry, yamlfile
from orchestrator.backend import ConfigImporter, Foreign, Imported, Refused, Translated
from orchestrator.errors import RecipeError, UsageError
from orchestrator.recipe import Recipe, Value
from orchestrator.resolve import resolve
from orchestrator.yamlfile import Lines

_NAME = re.compile(r"[^\w.-]+", re.ASCII)
_LONGEST = 100
_SHOWN = "looks like a credential, and those are written nowhere"
_LOGIN = "use the tool's own login or its variable"


@dataclass(frozen=True)
class Converted:
    """A recipe's text, and what became of the file's keys.

    Attributes:
        mapped: how many settings are ours.
        native: how many are the engine's.
    """

    text: str
    imported: Imported
    mapped: int
    native: int


def convert(path: Path, target: Path, name: str | None, processes: int | None) -> Converted:
    """Turn an engine's configuration into a recipe.

    Args:
        target: folder of the recipe; relative paths are written as seen from there.
        name: name of the run; else the file's own, or the file's name.

    Raises:
        RecipeError: the file can't be read, or can't be a recipe; every reason with file:line.
    """
    given, lines = yamlfile.read(path, "configuration", yaml.SafeLoader)
    backend, importer = _importer()
    foreign = Foreign(
        path=path,
        given={str(key): value for key, value in given.items()},
        lines=lines,
        folder=Path.cwd(),
        target=target,
    )
    imported = _guarded(importer.import_config(foreign, processes), lines)
    if imported.refused:
        raise _refusal(path, imported.refused)
    own = next((str(one.value) for one in imported.settings if one.setting == "name"), path.stem)
    fixed = {"name": name or _plain(own), "backend": backend}
    heads = [Translated(setting=key, value=value) for key, value in fixed.items()]
    settings = [*heads, *(one for one in imported.settings if one.setting not in fixed)]
    _resolvable(path, settings)
    native = sum(one.setting.startswith("native.") for one in settings)
    text = recipetext.written(_header(path, backend), settings)
    return Converted(text, imported, len(settings) - native, native)


def _importer() -> tuple[str, ConfigImporter]:
    for name in registry.names():
        backend = registry.load(name)
        if isinstance(backend, ConfigImporter):
            return name, backend
    raise UsageError("no backend reads configurations of its engine's own", fix="post-train backends")


def _guarded(imported: Imported, lines: Lines) -> Imported:
    """Without credentials, which are shown nowhere: a key that asks for one is left out, with the section it is in.

    Where one stands in another value, or in a list, the file is refused: with it would go data or a model.
    """
    kept, left, refused = [], list(imported.left_out), list(imported.refused)
    for one in imported.settings:
        key = one.setting.removeprefix("native.")
        found = credential.inside(one.value, key)
        if found is None:
            kept.append(one)
        elif credential.named(found.rpartition(".")[2]) and not isinstance(one.value, list):
            left.append(Refused(key=found, line=one.line or 1, reason=f"{_SHOWN}; {_LOGIN}"))
        else:
            reason = f"{found}: {_SHOWN}; take it out of the file: {_LOGIN}"
            refused.append(Refused(key=found, line=lines.get(found, one.line or 1), reason=reason))
    return imported.model_copy(update={"settings": tuple(kept), "left_out": tuple(left), "refused": tuple(refused)})


def _refusal(path: Path, refused: tuple[Refused, ...]) -> RecipeError:
    details = [f"{path}:{one.line}: {one.reason}" for one in refused]
    return RecipeError("this configuration can't be a recipe", where=str(path), details=details)


def _plain(name: str) -> str:
    """A name as runs may have it."""
    return _NAME.sub("-", name).strip("-._")[:_LONGEST] or "imported"


def _resolvable(path: Path, settings: list[Translated]) -> None:
    """Complain about values that no recipe may have, at their line."""
    where = {one.setting: f"{path}:{one.line}" if one.line else str(path) for one in settings}
    stage = {one.setting: Value(one.value, where[one.setting]) for one in settings}
    resolve(Recipe(None, "", path, (stage,)), 0, {})


def _header(path: Path, backend: str) -> list[str]:
    own = _opening(path.read_text(encoding="utf-8-sig"))
    return [f"Imported from {path.name}, a configuration of {backend}.", *(["", *own] if own else [])]


def _opening(text: str) -> list[str]:
    """The comment that a file begins with, without lines that show a credential."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" ").rstrip())
    while lines and not lines[-1]:
        lines.pop()
    shown = [line for line in lines if not credential.in_prose(line)]
    return shown if any(shown) else []
