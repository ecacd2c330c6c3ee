"""What an eval compares, what it is refused for, and what its gates make of it; with the fake engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.cli import runview

if TYPE_CHECKING:
    from tests.conftest import Cli, Write

FAKE = ("--backend", "fake")


@pytest.fixture
def sft(cli: Cli, base: Path, chat: Path) -> str:
    """A finished run, trained on `chat`."""
    made = cli("sft", *FAKE, "--model", str(base), "--data", str(chat), "--name", "first", "--json").json
    return str(made[0]["id"])


def planned(cli: Cli, *words: str, code: int = 0) -> dict[str, Any]:
    plan: dict[str, Any] = cli("eval", *FAKE, *words, "--dry-run", "--json", code=code).json[0]
    return plan


def test_against_takes_labels_and_runs(cli: Cli, sft: str, base: Path, chat: Path, held_out: Path) -> None:
    other = ("sft", *FAKE, "--model", str(base), "--data", str(chat), "--name", "second", "--seed", "7", "--json")
    second = cli(*other).json[0]["id"]
    data = ("--data", str(held_out))
    assert [m["label"] for m in planned(cli, sft, *data)["compare"]] == ["base", "sft"]
    plan = planned(cli, sft, "--against", f"base,{second}", *data)
    assert [m["label"] for m in plan["compare"]] == ["base", second, "sft"]
    assert [p["run"] for p in plan["parents"]] == [sft, second]


def test_against_refuses_strangers_and_the_model_itself(cli: Cli, sft: str, held_out: Path) -> None:
    data = ("--data", str(held_out))
    assert "name base, sft, or a run" in cli("eval", *FAKE, sft, *data, "--against", "dpo", code=2).err
    assert "compared with itself" in cli("eval", *FAKE, sft, *data, "--against", "sft", code=2).err


def test_items_of_the_training_data_are_named_and_refused(cli: Cli, sft: str, write: Write, chat: Path) -> None:
    rows = [{"prompt": f"{n}*3?", "answer": str(3 * n)} for n in range(9)]
    leaky = str(write("leaky.jsonl", [*rows, {"prompt": "1+1?", "answer": "2"}]))
    (found,) = (f for f in planned(cli, sft, "--data", leaky, code=5)["findings"] if f["code"] == "eval.leak")
    assert f"1 of 10 items stand in data that these models were trained on: {leaky}:10 in {chat}:1" in found["message"]
    allowed = planned(cli, sft, "--data", leaky, "--set", "eval.max_leaked=0.1")
    assert [f["level"] for f in allowed["findings"] if f["code"] == "eval.leak"] == ["advice"]
    chat.unlink()
    gone = planned(cli, sft, "--data", leaky)
    assert [f["code"] for f in gone["findings"] if f["code"].startswith("eval.leak")] == ["eval.leak_unknown"]


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 10)])
def test_a_failed_gate_is_an_exit_code(
    cli: Cli, sft: str, held_out: Path, passed: bool, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orchestrator.report.evaluation import Gate

    judged = Gate(gate="accuracy>=base", score=0.5, limit=0.5 if passed else 0.6, passed=passed)
    monkeypatch.setattr(runview, "gates", lambda run: [judged])
    said = cli("eval", *FAKE, sft, "--data", str(held_out), code=code)
    assert ("accuracy>=base, but 0.5 against 0.6" in said.err) is not passed
    assert cli("eval", *FAKE, sft, "--data", str(held_out), "--json", code=code).json[0]["state"] == "SUCCEEDED"
