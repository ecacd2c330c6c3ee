"""Finds backends. The only module of the core that names the `backends` package."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import cast

from orchestrator.backend import Backend
from orchestrator.errors import UsageError
from orchestrator.nearest import nearest

_PACKAGE = "backends"


def names() -> list[str]:
    """Names of all backends, without importing any of them; a folder without an adapter is none."""
    package = importlib.import_module(_PACKAGE)
    folders = [Path(place) for place in package.__path__]
    found = [module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg]
    return sorted(name for name in found if any((folder / name / "adapter.py").is_file() for folder in folders))


def load(name: str) -> Backend:
    """The adapter of a backend.

    Raises:
        UsageError: no backend of that name.
    """
    if name not in names():
        raise UsageError(f"no backend is called {name!r}{nearest(name, names())}", fix="post-train backends")
    return cast(Backend, importlib.import_module(f"{_PACKAGE}.{name}.adapter").BACKEND)
