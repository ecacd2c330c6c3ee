"""Every name and keyword of a materialised file exists in the API of its generation.

What each API has was read in TorchTitan's public source, whose commits the recorded files name.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOLDEN = HERE.parents[2] / "golden" / "titanrl"
APIS = {"September 2026": "api_2026_09.toml", "October 2026": "api_2026_10.toml"}
FILES = [(path, name) for path in sorted(GOLDEN.iterdir()) for month, name in APIS.items() if month in path.read_text()]

Api = dict[str, dict[str, list[str]]]


def imported(tree: ast.Module) -> dict[str, str]:
    """Name -> module, for what comes from TorchTitan and its renderers."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("torchtitan", "renderers"):
            found |= {alias.name: node.module or "" for alias in node.names}
    return found


def calls(tree: ast.Module) -> Iterator[tuple[str, str, list[str]]]:
    """Head, whole name and keywords of each call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            yield name.split(".")[0], name, [one.arg for one in node.keywords if one.arg]


@pytest.mark.parametrize(("path", "api"), FILES, ids=lambda value: getattr(value, "stem", value))
def test_a_file_uses_what_its_generation_has(path: Path, api: str) -> None:
    known: Api = tomllib.loads((HERE / api).read_text(encoding="utf-8"))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = imported(tree)
    unknown = [f"{m}.{n}" for n, m in names.items() if not any(n == k.split(".")[0] for k in known.get(m, {}))]
    assert unknown == []
    seen = 0
    for head, name, keywords in calls(tree):
        if head in names:
            seen += 1
            assert set(keywords) <= set(known[names[head]][name]), name
    assert seen > 15


def test_both_generations_were_looked_at() -> None:
    assert {name for _, name in FILES} == set(APIS.values())
