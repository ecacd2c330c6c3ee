"""The Python that an engine is measured with."""

from __future__ import annotations

import sys
from pathlib import Path

from orchestrator import envs, hardware, registry


def python(backend: str, choice: str | None) -> Path:
    """Of a backend's environment; ends the benchmark where it isn't there.

    Args:
        choice: Python or folder of an environment; None for the one from the lock.
    """
    found = envs.locate(backend, registry.load(backend).lock(), hardware.detect(), choice)
    if not found.ready:
        sys.exit(
            "\n".join(found.problems)
            or f"the {backend} environment is not there: post-train backends install {backend}"
        )
    return found.python
