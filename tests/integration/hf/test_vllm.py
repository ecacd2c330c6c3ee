"""vLLM answers what transformers answers, is held to the same probe, and listens to nobody outside this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backend import ModelRef

from .conftest import Outcome, Workshop
from .test_eval import answers_of, eval_parts, report_of, write_items

pytestmark = pytest.mark.integration

REPO = Path(__file__).parents[3]
PYTHON = "POST_TRAIN_TITANRL_PYTHON"
MODEL = REPO / "recipes" / "titanrl_tiny" / "model"
COUNT = 24


@pytest.fixture(scope="module")
def python() -> str:
    """An environment with vLLM: the backend titanrl's."""
    if not (found := os.environ.get(PYTHON)):
        pytest.skip(f"set {PYTHON} to the Python of the titanrl environment")
    return found


@pytest.fixture(scope="module")
def found(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Every eval in one process, one engine after the other."""
    root = tmp_path_factory.mktemp("vllm")
    shop = Workshop(python, root)
    shop.script("vllm_cases.py", "models", MODEL, root)
    items, probe = write_items(root / "items.jsonl", ["?"] * COUNT), str(root / "probe.json")
    whole = ModelRef(label="base", path=str(MODEL), probe=probe)
    other = ModelRef(label="other", path=str(root / "damaged"), probe=probe)
    narrow = ModelRef(label="narrow", path=str(REPO / "recipes" / "quickstart" / "model"))
    vllm: dict[str, Any] = {"generation": "vllm", "room": 16}
    drawn: dict[str, Any] = {"temperature": 1.0, "top_p": 0.95}
    runs = {
        "transformers": shop.prepare("eval", whole, **eval_parts(items, room=16)),
        "vllm": shop.prepare("eval", whole, **eval_parts(items, **vllm)),
        "unsupported": shop.prepare("eval", narrow, **eval_parts(items, **vllm)),
        "damaged": shop.prepare("eval", other, **eval_parts(items, **vllm)),
        **{
            f"drawn {n}": shop.prepare("eval", whole, **eval_parts(items, batch_size=n, **vllm, **drawn))
            for n in (8, 3)
        },
        "other seed": shop.prepare("eval", whole, **eval_parts(items, seed=1, **vllm, **drawn)),
    }
    return dict(zip(runs, shop.finish(*runs.values()), strict=True))


def test_greedy_answers_are_those_of_transformers(found: dict[str, Outcome]) -> None:
    one, other = (answers_of(found[name], "base") for name in ("transformers", "vllm"))
    assert one == other
    assert len(set(one)) > COUNT // 4
    rows = [report_of(found[name])["models"][0] for name in ("transformers", "vllm")]
    for key in ("mean_generated_tokens", "share_cut_at_limit", "prompts_digest"):
        assert rows[0][key] == rows[1][key]
    assert report_of(found["vllm"])["settings"]["generation"] == "vllm"


def test_the_hand_off_into_vllm_is_measured(found: dict[str, Outcome]) -> None:
    (told,) = found["vllm"].of("handoff")
    assert 0 < told["difference"] < 1e-4 < told["tolerance"]


def test_another_model_than_was_made_is_refused(found: dict[str, Outcome]) -> None:
    assert found["damaged"].error == "handoff.answers"
    assert not (found["damaged"].run / "artifacts" / "report").exists()


def test_a_model_that_vllm_can_not_run_here_is_refused_with_the_way_out(found: dict[str, Outcome]) -> None:
    assert found["unsupported"].error == "generation.vllm"
    (told,) = found["unsupported"].of("error")
    assert told["fix"] == "set eval.generation: transformers"


def test_an_answer_that_is_drawn_depends_on_its_seed_alone(found: dict[str, Outcome]) -> None:
    drawn = answers_of(found["drawn 8"], "base")
    assert drawn == answers_of(found["drawn 3"], "base")
    assert drawn != answers_of(found["vllm"], "base")
    assert drawn != answers_of(found["other seed"], "base")


def test_nothing_listens_but_on_this_machine(python: str, tmp_path: Path) -> None:
    told = Workshop(python, tmp_path).script("vllm_cases.py", "listening", MODEL).splitlines()[-1]
    assert json.loads(told) == ["0100007F"]
