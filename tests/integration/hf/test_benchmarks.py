"""Benchmarks by the real lm-eval from local task files: its numbers are its own, and compared in pairs."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backend import Learned, ModelRef

from .conftest import Outcome, Workshop, sft
from .test_eval import report_of

pytestmark = pytest.mark.integration

PYTHON = "POST_TRAIN_AXOLOTL_PYTHON"
COUNT = 40
_HEAD = """
dataset_path: json
dataset_kwargs:
  data_files:
    test: items.jsonl
test_split: test
doc_to_text: "{{question}}"
"""
CHOOSE = f"""
task: my_choose{_HEAD}
output_type: multiple_choice
doc_to_choice: "{{{{choices}}}}"
doc_to_target: "{{{{label}}}}"
metric_list:
  - metric: acc
  - metric: acc_norm
"""
SAY = f"""
task: my_say{_HEAD}
output_type: generate_until
doc_to_target: "{{{{choices[label]}}}}"
generation_kwargs:
  until: ["e"]
  max_gen_toks: 6
metric_list:
  - metric: exact_match
"""
LENGTH = f"""
task: my_length{_HEAD}
output_type: loglikelihood_rolling
doc_to_target: "{{{{question}}}}"
metric_list:
  - metric: word_perplexity
"""


@pytest.fixture(scope="module")
def python() -> str:
    """An environment with lm-eval: the backend axolotl's."""
    if not (found := os.environ.get(PYTHON)):
        pytest.skip(f"set {PYTHON} to the Python of the axolotl environment")
    return found


@pytest.fixture(scope="module")
def shop(python: str, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(python, tmp_path_factory.mktemp("benchmarks"))


@pytest.fixture(scope="module")
def models(shop: Workshop) -> Path:
    (root := shop.root / "zoo").mkdir()
    shop.script("make_models.py", root)
    return root


@pytest.fixture(scope="module")
def tasks(shop: Workshop) -> Path:
    (folder := shop.root / "tasks").mkdir()
    source = random.Random(3)
    words = ["".join(source.choices("abcdefghij", k=source.randint(2, 9))) for _ in range(5 * COUNT)]
    rows = [
        {"question": " ".join(words[n : n + 3]), "choices": words[n + 3 : n + 5], "label": source.randint(0, 1)}
        for n in range(0, 5 * COUNT, 5)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, text in {"choose": CHOOSE, "say": SAY, "length": LENGTH}.items():
        (folder / f"{name}.yaml").write_text(text)
    trained = [{"prompt": row["question"], "completion": "x"} for row in rows[:4]]
    (folder / "trained.jsonl").write_text("".join(json.dumps(row) + "\n" for row in trained))
    return folder


@pytest.fixture(scope="module")
def found(shop: Workshop, models: Path, tasks: Path) -> dict[str, Outcome]:
    base, adapted = ModelRef(label="base", path=str(models / "plain")), sft(models / "plain", models / "plain-lora")
    learned = (Learned(run="chain-sft", rows=tasks / "trained.jsonl"),)

    def asking(*names: str, **more: Any) -> dict[str, Any]:
        files = [str(tasks / f"{name}.yaml") if (tasks / f"{name}.yaml").exists() else name for name in names]
        return {"eval": {"benchmarks": files, "batch_size": 8, **more}}

    runs = {
        "both": shop.prepare("eval", base, base, adapted, **asking("choose", "say", gates=["accuracy>=base-1"])),
        "few": shop.prepare("eval", base, **asking("choose", max_items=5)),
        "unknown": shop.prepare("eval", base, **asking("no_such_benchmark")),
        "no mean": shop.prepare("eval", base, **asking("length")),
        "leak": shop.prepare("eval", base, learned=learned, **asking("choose")),
        "allowed": shop.prepare("eval", base, learned=learned, **asking("choose", max_leaked=1)),
    }
    return dict(zip(runs, shop.finish(*runs.values()), strict=True))


def test_the_numbers_are_those_of_lm_eval_by_hand(
    shop: Workshop, found: dict[str, Outcome], models: Path, tasks: Path
) -> None:
    said = shop.script("ask_lm_eval.py", models / "plain", tasks, "my_choose", "my_say").splitlines()[-1]
    by_hand, (row, _) = json.loads(said), report_of(found["both"])["models"]
    for name, metric in (("my_choose", "acc"), ("my_choose", "acc_norm"), ("my_say", "exact_match")):
        assert row["benchmarks"][f"{name}.{metric}"]["score"] == pytest.approx(by_hand[name][f"{metric},none"])
    assert 0 < by_hand["my_choose"]["acc,none"] < 1


def test_models_are_compared_item_by_item(found: dict[str, Outcome]) -> None:
    report = report_of(found["both"])
    base, adapted = report["models"]
    assert report["items"] == 2 * COUNT
    items = [json.loads(line) for line in (found["both"].run / "artifacts/report/items.jsonl").read_text().splitlines()]
    assert [item["sample"] for item in items[:2]] == ["my_choose/0", "my_choose/1"]
    for row in (base, adapted):
        values = [item["models"][row["label"]]["score"] for item in items]
        assert row["score"] == pytest.approx(sum(values) / len(values))
        assert row["benchmarks"]["my_choose.acc"]["score"] == pytest.approx(sum(values[:COUNT]) / COUNT)
    assert any(item["models"]["base"]["answer"] != item["models"]["sft"]["answer"] for item in items)
    assert f"{COUNT} items" in adapted["benchmarks"]["my_choose.acc"]["differences"][0]["sentence"]
    assert report["gates"][0]["passed"]
    assert report["settings"]["versions"]["my_choose"]["num_fewshot"] == 0


def test_the_manifest_gets_every_metric(found: dict[str, Outcome]) -> None:
    measured = ["score", "my_choose.acc", "my_choose.acc_norm", "my_say.exact_match"]
    assert set(found["both"].metrics) == {f"{label}.{name}" for label in ("base", "sft") for name in measured}
    assert report_of(found["few"])["items"] == 5


def test_what_can_not_be_asked_or_compared_is_refused(found: dict[str, Outcome]) -> None:
    assert found["unknown"].error == "eval.benchmark"
    assert found["no mean"].error == "eval.benchmark"
    assert not (found["no mean"].run / "artifacts" / "report").exists()


def test_items_that_the_chain_was_trained_on_refuse_the_eval(found: dict[str, Outcome]) -> None:
    assert found["leak"].error == "eval.leak"
    assert len(report_of(found["allowed"])["settings"]["leaks"]) == 4
