"""A parameter as one tensor, also where its parts lie on several devices. All ranks ask."""

from __future__ import annotations

from typing import Any


def whole(parameter: Any) -> Any:
    """The tensor itself, gathered if it is sharded."""
    return parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter
