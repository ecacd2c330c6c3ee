"""What a tokenizer is, part by part: three conversations of a probe can't meet every token and every merge."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_PARTS = ("added_tokens", "normalizer", "pre_tokenizer", "decoder")
_LENGTH = 16


def digests(tokenizer: Any) -> dict[str, str]:
    """Part -> digest. A tokenizer without a Rust core has its vocabulary alone."""
    found: dict[str, Any] = {"vocabulary": sorted(tokenizer.get_vocab().items())}
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is not None:
        table = json.loads(core.to_str())
        found["merges"] = [" ".join(m) if isinstance(m, list) else m for m in table["model"].get("merges") or []]
        found |= {part: table.get(part) for part in _PARTS}
    return {part: _digest(content) for part, content in found.items()}


def difference(expected: dict[str, str], found: dict[str, str]) -> str | None:
    """The parts that are others, in words; None where all that both sides know is the same."""
    other = [part for part in expected if part in found and expected[part] != found[part]]
    return f"the tokenizer's {', '.join(other)} changed" if other else None


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8", "backslashreplace")).hexdigest()[:_LENGTH]
