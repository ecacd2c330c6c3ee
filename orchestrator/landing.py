"""Where our settings land: each beside the keys of every engine's file that hold it, read from the planned files."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import Any

import yaml

from orchestrator import registry
from orchestrator.plan import RunPlan
from orchestrator.spec import Part
from orchestrator.vocabulary import meaningful, settings


class Row(Part):
    """One setting.

    Attributes:
        places: backend -> key of its file -> the value there; empty where the engine's default holds.
    """

    setting: str
    value: Any
    origin: str
    places: dict[str, dict[str, Any]]


def rows(plans: list[RunPlan]) -> list[Row]:
    """The settings that some engine's file holds, from plans of the same stage with several engines.

    An engine whose plan has errors has no file, and no place in any row.
    """
    files = {plan.spec.backend: _content(plan) for plan in plans if plan.native}
    spec = plans[0].spec
    tree = spec.model_dump(mode="json", by_alias=True)
    found = []
    for name in (s for s in settings() if meaningful(s, spec.stage, spec.method)):
        places = {backend: _places(backend, name, content) for backend, content in files.items()}
        if any(places.values()):
            value = reduce(getitem, name.split("."), tree)
            found.append(Row(setting=name, value=value, origin=plans[0].origins.get(name, "default"), places=places))
    return found


def _content(plan: RunPlan) -> Any:
    """The engine's own file; YAML reads JSON too."""
    return yaml.safe_load(plan.native.files[0].content) if plan.native else {}


def _places(backend: str, setting: str, content: Any) -> dict[str, Any]:
    keys = registry.load(backend).capabilities().keys.get(setting, ())
    return {key: _at(content, key) for key in keys if _at(content, key) is not None}


def _at(content: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        content = content.get(part) if isinstance(content, dict) else None
    return content
