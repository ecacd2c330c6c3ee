"""Libraries that only some data needs."""

from __future__ import annotations

import importlib
from typing import Any

from data_prep.faults import DataFault

INSTALL = "pip install 'post-train[data]'"


def needed(module: str, why: str) -> Any:
    """Import a library that comes with the extra `data`.

    Raises:
        DataFault: it is not installed; says the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise DataFault(f"{why}, and {package} is not installed", where=package, fix=INSTALL) from None


def installed(module: str) -> Any:
    """A library that makes things faster where it is there; None elsewhere."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
