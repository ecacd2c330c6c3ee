"""Which settings mean something where."""

from __future__ import annotations

from typing import get_args

import pytest

from orchestrator.spec import RunSpec, Stage
from orchestrator.vocabulary import OPEN, keys_of, meaningful, part_of, relevant, settings


def test_settings_are_leaves_with_the_names_of_a_recipe() -> None:
    found = list(settings())
    assert len(found) == len(set(found))
    assert {"from", "model.path", "training.learning_rate", "native", "hardware.processes"} <= set(found)
    assert "training" not in found
    assert "parents" not in found


def test_every_setting_means_something_somewhere() -> None:
    idle = [s for s in settings() if not any(meaningful(s, stage, "lora") for stage in get_args(Stage))]
    assert idle == []


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("training.learning_rate", {"sft", "dpo", "grpo"}),
        ("training.packing", {"sft"}),
        ("rl.beta", {"dpo", "grpo"}),
        ("rl.reward", {"grpo"}),
        ("task.name", {"grpo", "eval"}),
        ("task.options.x", {"grpo", "eval"}),
        ("merge.dtype", {"merge"}),
        ("eval.metric", {"eval"}),
        ("data.train", {"sft", "dpo", "grpo"}),
        ("data.eval", {"sft", "dpo", "grpo", "eval"}),
        ("native.sft.x", {"sft", "dpo", "grpo", "merge", "eval", "verify"}),
        ("training.learning_rates", set()),
        ("nonsense", set()),
    ],
)
def test_where_a_setting_means_something(setting: str, stages: set[str]) -> None:
    known = setting in set(settings()) or setting.startswith(OPEN)
    assert {s for s in get_args(Stage) if known and meaningful(setting, s, "lora")} == stages


def test_a_full_method_has_no_adapter_settings() -> None:
    assert meaningful("lora.r", "sft", "qlora")
    assert not meaningful("lora.r", "sft", "full")


def test_sections_are_known_by_the_words_of_a_recipe() -> None:
    assert part_of(RunSpec, "training") is not None
    assert part_of(RunSpec, "native") is None
    assert "from" in keys_of(RunSpec)
    assert "parents" not in keys_of(RunSpec)


def test_a_dump_keeps_only_what_matters() -> None:
    dump = {
        "stage": "merge",
        "training": {"seed": 1},
        "merge": {"dtype": "auto"},
        "data": {"train": None, "eval": None},
    }
    assert relevant(dump, "merge", "lora") == {"stage": "merge", "merge": {"dtype": "auto"}}
    assert relevant(dump, "eval", "lora") == {"stage": "merge", "data": {"eval": None}}
