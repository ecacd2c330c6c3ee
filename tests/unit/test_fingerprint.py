"""What makes a run what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import inputs
from orchestrator.fingerprint import drift, fingerprint, identity
from orchestrator.preflight.data import DataLook

if TYPE_CHECKING:
    from tests.conftest import MakeSpec

GOLDEN = Path(__file__).parents[1] / "golden" / "plans" / "identity.json"


def payload(make_spec: MakeSpec, stage: str = "sft", data: str = "d", **given: Any) -> dict[str, Any]:
    return identity(make_spec(stage, **given), {"data.train": data, "model": "m"}, {"backend": "fake", "lock": "k"})


@pytest.mark.parametrize(
    "given",
    [
        {"name": "other"},
        {"model__path": "/somewhere/else"},
        {"data__train": "/moved/rows.jsonl"},
        {"data__eval": "/moved/eval.jsonl"},
        {"accept": ["hp.epochs"]},
        {"tracking__wandb": "offline"},
        {"hardware__threads": 3},
        {"training__save_total_limit": 5},
        {"from": ["other-run"]},
    ],
)
def test_paths_names_and_habits_change_nothing(make_spec: MakeSpec, given: dict[str, Any]) -> None:
    assert fingerprint(payload(make_spec, **given)) == fingerprint(payload(make_spec))


@pytest.mark.parametrize(
    "given",
    [
        {"data": "other"},
        {"training__seed": 1},
        {"training__learning_rate": 1e-3},
        {"method": "full"},
        {"lora__r": 8},
        {"data__max_rows": 5},
        {"model__dtype": "float32"},
        {"hardware__processes": 2},
        {"native__x": 1},
    ],
)
def test_content_changes_it(make_spec: MakeSpec, given: dict[str, Any]) -> None:
    assert fingerprint(payload(make_spec, **given)) != fingerprint(payload(make_spec))


def test_no_path_is_in_the_payload(make_spec: MakeSpec) -> None:
    given: dict[str, Any] = {
        "model__path": "/p/m",
        "data__train": "/p/d",
        "data__eval": "/p/e",
        "rl__reward": ["/p/r.py:f"],
    }
    assert "/p/" not in json.dumps(payload(make_spec, "grpo", **given))
    assert "/p/" not in json.dumps(payload(make_spec, "eval", data__eval="/p/e", eval__metric="reward:/p/r.py:f"))


def test_settings_that_mean_nothing_are_not_in_it(make_spec: MakeSpec) -> None:
    assert not [k for k in payload(make_spec, method="full")["settings"] if k.startswith(("lora", "rl", "eval"))]


def test_drift_is_told_field_by_field(make_spec: MakeSpec) -> None:
    old, new = payload(make_spec), payload(make_spec, data="e", training__seed=1, native__x=1)
    assert drift(old, new) == [
        "inputs.data.train: 'd' -> 'e'",
        "settings.native.x: None -> 1",
        "settings.training.seed: 42 -> 1",
    ]
    assert drift(old, old) == []


def test_the_payload_of_every_stage_is_the_known_one(make_spec: MakeSpec) -> None:
    """A change here makes every finished run a stranger to `--reuse`: make it on purpose, then edit the golden file."""
    found = {stage: payload(make_spec, stage)["settings"] for stage in ("sft", "dpo", "grpo", "merge", "eval")}
    assert found == json.loads(GOLDEN.read_text())


def test_a_folder_that_is_no_model_is_not_read(make_spec: MakeSpec, work: Path) -> None:
    (work / "big.json").write_bytes(b"{}")
    spec = make_spec(model__path=str(work), data__train="d")
    assert inputs.identify(spec, [], DataLook({}, ()), print)["model"] == "no model"
