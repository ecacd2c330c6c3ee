"""The plan of a whole chain, word for word: a change of what would run is seen here before it is seen on a GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Cli, Write

GOLDEN = Path(__file__).parents[1] / "golden" / "plans" / "chain.json"


def general(text: str, ids: list[str], folders: dict[str, Path]) -> str:
    """The plan without what differs from machine to machine and from run to run."""
    for number, run_id in enumerate(ids):
        text = text.replace(run_id, f"<{number}>")
    for name, folder in folders.items():
        text = text.replace(str(folder), f"<{name}>")
    return text


def shown(plan: dict[str, Any]) -> dict[str, Any]:
    launched = {"argv": plan["argv"], "environment": plan["environment"]}
    files = {file["path"]: json.loads(file["content"]) for file in plan["native"]["files"]}
    kept = ("run_dir", "parents", "model", "compare")
    facts = {name: plan[name] for name in kept}
    codes = sorted({finding["code"] for finding in plan["findings"]})
    return {"stage": plan["spec"]["stage"], **facts, **launched, "files": files, "findings": codes}


def test_the_plan_of_a_chain_is_the_known_one(
    cli: Cli, write: Write, runs: Path, work: Path, base: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orchestrator import defaults

    monkeypatch.setitem(defaults._BACKEND, "merge", "fake")
    pairs = write("pairs.jsonl", [{"prompt": "a", "chosen": "b", "rejected": "c"}])
    items = write("items.jsonl", [{"prompt": "5+1?", "answer": "6"}])
    stages = [
        {"stage": "sft", "model": str(base), "data": str(chat), "training": {"max_steps": 3}},
        {"stage": "dpo", "data": str(pairs), "training": {"seed": 7}},
        {"stage": "merge"},
        {"stage": "eval", "data": {"eval": str(items)}},
    ]
    recipe = write("p.yaml", {"name": "golden", "defaults": {"backend": "fake"}, "stages": stages})
    plans = cli("plan", str(recipe), "--json").json
    folders = {"runs": runs, "work": work, "python": Path(sys.executable)}
    text = general(json.dumps([shown(p) for p in plans]), [p["run_id"] for p in plans], folders)
    assert json.loads(text) == json.loads(GOLDEN.read_text(encoding="utf-8"))
