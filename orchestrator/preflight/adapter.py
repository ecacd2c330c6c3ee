"""Which modules an adapter goes to, against those that the model's files name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from orchestrator import modelfolder
from orchestrator.findings import Finding, Level
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec

_TIED = ("lm_head", "embed_out", "output")
"""Heads that may share their weights with the embedding, and then are in no file."""


def check(spec: RunSpec, model: Path) -> Iterator[Finding]:
    """Targets and modules to save that name nothing. A model that is not here has none to compare."""
    found = modelfolder.modules(model) if spec.trains and spec.method != "full" else set()
    if not found:
        return
    yield from _targets(spec.lora.target_modules, found)
    if missing := _missing(spec.lora.modules_to_save, found):
        message = f"the model has no module {missing}; nothing of it would be trained or saved"
        yield _finding("error", message, "lora.modules_to_save")


def _targets(given: str | list[str], found: set[str]) -> Iterator[Finding]:
    if isinstance(given, str):
        if given != "all-linear" and not _matches(given, found):
            message = f"the expression {given!r} fits no module by the name that the model's files have for it"
            yield _finding("advice", f"{message}, e.g. {min(found)}; engines may load it under another", _TARGETS)
        return
    if missing := _missing(given, found):
        alone = not any(_ends(name, found) for name in given)
        yield _finding(
            "error" if alone else "advice", f"the model has no module {missing}; no adapter goes there", _TARGETS
        )


_TARGETS = "lora.target_modules"


def _missing(given: list[str], found: set[str]) -> str:
    """The names that fit no module, in words; with the nearest one for the first of them."""
    names = [name for name in given if not _ends(name, found) and name not in _TIED]
    return " or ".join(map(repr, names)) + nearest(names[0], _last(found)).rstrip("?") if names else ""


def _matches(expression: str, found: set[str]) -> bool:
    """As PEFT matches: the whole name. An expression that can't be read is the engine's to refuse."""
    try:
        pattern = re.compile(expression)
    except re.error:
        return False
    return any(pattern.fullmatch(name) for name in found)


def _ends(name: str, found: set[str]) -> bool:
    return any(module == name or module.endswith(f".{name}") for module in found)


def _last(found: set[str]) -> set[str]:
    return {module.rpartition(".")[2] for module in found if not module.rpartition(".")[2].isdecimal()} - {""}


def _finding(level: Level, message: str, where: str) -> Finding:
    return Finding(code="lora.modules", level=level, message=message, where=where, fix=f"correct {where}")
