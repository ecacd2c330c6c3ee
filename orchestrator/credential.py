"""What a credential looks like. None is ever written: recipes, plans and native files are shared."""

from __future__ import annotations

import re
from typing import Any

_NAME = re.compile(
    r"(?i)(?:api_?key|(?:hub|auth|access|api|hf)_token|^token|secret(?:_key)?|passw(?:or)?d|access_key|webhook_url)$"
)
_VALUE = re.compile(
    r"\bhf_[A-Za-z0-9]{20,}|\bsk-[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b|://[^/\s:@]+:[^/\s@]+@"
)


def named(key: str) -> bool:
    """Whether a key asks for a credential."""
    return bool(_NAME.search(key))


def inside(value: Any, key: str = "") -> str | None:
    """The dotted key of the first credential in a value, empty for the value itself; None without any."""
    if isinstance(value, str):
        return key if value and (named(key.rpartition(".")[2]) or _VALUE.search(value)) else None
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = (inside(item, f"{key}.{name}".strip(".")) for name, item in items)
    return next((one for one in found if one is not None), None)


def in_prose(line: str) -> bool:
    """Whether a line of a comment shows one, or the place for one."""
    assigned = re.search(r"(\w+)\s*[:=]\s*\S", line)
    return bool(_VALUE.search(line)) or bool(assigned and named(assigned[1]))
