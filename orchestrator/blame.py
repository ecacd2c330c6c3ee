"""Which settings an engine's message speaks of: by their key, ours or the engine's own, or by their value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from orchestrator import registry
from orchestrator.plan import RunPlan

_MOST = 4
_NEVER = ("name", "stage", "backend", "method", "from", "accept")
"""Words that messages use for other things."""


def settings(message: str, plan: RunPlan) -> list[str]:
    """The settings that somebody wrote and the message names, each with value and place: `a.b: 3 (recipe.yml:7)`."""
    keys = registry.load(plan.spec.backend).capabilities().keys
    written = {name: place for name, place in plan.origins.items() if not place.startswith("default")}
    tree, found = plan.spec.model_dump(mode="json", by_alias=True), []
    for name, place in written.items():
        for dotted, value in () if name in _NEVER else _leaves(name, _at(tree, name)):
            if _named(message, {dotted, *keys.get(name, ())}) or _valued(message, value):
                found.append(f"{dotted}: {value!r} ({place})")
    return found[:_MOST]


def _leaves(dotted: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(f"{dotted}.{key}", inner)
    else:
        yield dotted, value


def _at(tree: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _named(message: str, keys: set[str]) -> bool:
    """A plain word counts only where it can be nothing but a key: in quotes, or before an equals sign."""
    words = {key.rpartition(".")[2] for key in keys}
    return any(_stands(message, word) if "_" in word else _quoted(message, word) for word in words)


def _valued(message: str, value: Any) -> bool:
    if not isinstance(value, str) or len(value) < 3:
        return False
    return _quoted(message, value) if value.isalpha() else _stands(message, value)


def _stands(message: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w/-]){re.escape(text)}(?![\w/-])", message))


def _quoted(message: str, text: str) -> bool:
    return bool(re.search(rf"(?:(?P<q>[`'\"]){re.escape(text)}(?P=q))|\b{re.escape(text)}\s?=", message))
