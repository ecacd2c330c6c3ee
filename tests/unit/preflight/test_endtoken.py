"""An end token that the tokenizer's table lacks, and every way in which a table may have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.preflight import endtoken

END = "<|im_end|>"


def look(folder: Path, table: Any, settings: Any, added: Any = None) -> list[str]:
    for name, content in {"tokenizer": table, "tokenizer_config": settings, "added_tokens": added}.items():
        if content is not None:
            (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    found = list(endtoken.check(folder))
    assert {(f.code, f.level, bool(f.fix)) for f in found} <= {("tokenizer.unknown_end", "error", True)}
    return [f.message for f in found]


@pytest.mark.parametrize("named", [END, {"content": END, "special": True}])
@pytest.mark.parametrize(
    "table",
    [
        {"added_tokens": [{"id": 2, "content": "<s>"}], "model": {"vocab": {"a": 0}}},
        {"added_tokens": None, "model": {"vocab": [["a", -1.0], [], 3]}},
        {"model": "no model"},
    ],
)
def test_an_end_token_that_no_table_has(tmp_path: Path, table: Any, named: Any) -> None:
    (message,) = look(tmp_path, table, {"eos_token": named, "added_tokens_decoder": {"5": {"content": "<pad>"}}})
    assert repr(END) in message
    assert "tokenizer.json" in message


@pytest.mark.parametrize(
    ("table", "settings", "added"),
    [
        ({"added_tokens": [{"id": 2, "content": END}]}, {}, None),
        ({"model": {"vocab": {END: 2}}}, {}, None),
        ({"model": {"vocab": [["a", -1.0], [END, -2.0]]}}, {}, None),
        ({"model": {"vocab": {"a": 0}}}, {"added_tokens_decoder": {"2": {"content": END}}}, None),
        ({"model": {"vocab": {"a": 0}}}, {}, {END: 2}),
        (None, {}, None),
        ({}, {}, None),
        ({"model": {"vocab": {"a": 0}}}, {"eos_token": None}, None),
    ],
)
def test_clean_twins(tmp_path: Path, table: Any, settings: dict[str, Any], added: Any) -> None:
    assert look(tmp_path, table, {"eos_token": END} | settings, added) == []


def test_files_that_cannot_be_read_are_left_to_their_loader(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    assert look(tmp_path, None, {"eos_token": END}) == []
