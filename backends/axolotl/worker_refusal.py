"""A configuration that Axolotl refuses, key by key, each with the setting it comes from. Standard library only."""

from __future__ import annotations

import re
from typing import Any

from backends.axolotl.mapping import ours
from orchestrator.harness import WorkError

_KEY = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b|(?<=`)[a-z0-9]+(?=`)")
"""What can only be a key within a sentence: words joined by underscores, or one word between backticks."""


def refusal(error: BaseException) -> WorkError:
    """The engine's message, a line for each key.

    Args:
        error: pydantic's ValidationError, or whatever else a validator raised.
    """
    entries = error.errors() if hasattr(error, "errors") else [{"loc": (), "msg": str(error)}]
    return WorkError(
        "engine.config",
        "\n".join(["Axolotl refuses the configuration:", *(_line(entry) for entry in entries)]),
        fix="change the setting in the recipe, or the key under native",
    )


def _line(entry: dict[str, Any]) -> str:
    key = ".".join(str(part) for part in entry["loc"])
    text = " ".join(str(entry["msg"]).removeprefix("Value error, ").split())
    if key:
        return f"  {key}{_beside(key)}: {text}"
    return "  " + _KEY.sub(lambda found: found[0] + _beside(found[0]), text)


def _beside(key: str) -> str:
    setting = ours(key)
    return f" ({setting})" if setting else ""
