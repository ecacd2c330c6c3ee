"""The end token of a model folder: one that the tokenizer's table lacks would get a number without trained weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.findings import Finding


def check(folder: Path) -> Iterator[Finding]:
    """transformers appends a token that it doesn't find, without a word: the model would learn another end.

    A folder without `tokenizer.json`, or with files that can't be read, says nothing here: loading it will.
    """
    table, settings = _read(folder / "tokenizer.json"), _read(folder / "tokenizer_config.json")
    end = _text(settings.get("eos_token"))
    if not table or end is None or end in _known(table, settings, _read(folder / "added_tokens.json")):
        return
    yield Finding(
        code="tokenizer.unknown_end",
        level="error",
        message=f"{folder}/tokenizer_config.json names the end token {end!r}, and {folder}/tokenizer.json has none: "
        "it would get a new number, with a row of the embedding table that was never trained for it",
        fix="correct eos_token, or copy tokenizer.json again from where the model came from",
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _text(token: Any) -> str | None:
    """A token is written as text, or as an object that holds it."""
    held = token.get("content") if isinstance(token, dict) else token
    return held if isinstance(held, str) else None


def _known(table: dict[str, Any], settings: dict[str, Any], older: dict[str, Any]) -> set[str]:
    """Every token that has a number in any of the files."""
    model = table.get("model")
    vocabulary = (model.get("vocab") if isinstance(model, dict) else None) or ()
    words = (row[0] if isinstance(row, list) and row else row for row in vocabulary)
    numbered = settings.get("added_tokens_decoder")
    added = [*(table.get("added_tokens") or ()), *(numbered.values() if isinstance(numbered, dict) else ())]
    return {word for word in (*words, *older, *map(_text, added)) if isinstance(word, str)}
