"""Finds backends. The only module of the core that names the `backends` package."""

from __future__ import annotations

import importlib
import pkgutil
from typing import cast

from orchestrator.backend import Backend
from orchestrator.errors import UsageError
from orchestrator.nearest import nearest

_PACKAGE = "backends"


def names() -> list[str]:
    """Names of all backends, without importing any of them."""
    package = importlib.import_module(_PACKAGE)
    return sorted(found.name for found in pkgutil.iter_modules(package.__path__) if found.ispkg)


def load(name: str) -> Backend:
    """The adapter of a backend.

    Raises:
        UsageError: no backend of that name.
    """
    if name not in names():
        raise UsageError(f"no backend is called {name!r}{nearest(name, names())}", fix="post-train backends")
    return cast(Backend, importlib.import_module(f"{_PACKAGE}.{name}.adapter").BACKEND)
