"""Recipe + flags + defaults -> RunSpec, with where each value came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import RecipeError
from orchestrator.recipe import Recipe, Settings, Value
from orchestrator.resolve import Resolved, resolve
from orchestrator.vocabulary import settings


def values(origin: str, **given: Any) -> Settings:
    return {k.replace("__", "."): Value(v, origin) for k, v in given.items()}


def resolved(flags: Settings | None = None, defaults: Settings | None = None, **stage: Any) -> Resolved:
    recipe = Recipe("named", "", Path("r.yaml"), (values("r.yaml:1", **{"stage": "sft", **stage}),), defaults or {})
    return resolve(recipe, 0, flags or {})


def problems(**given: Any) -> list[str]:
    with pytest.raises(RecipeError) as caught:
        resolved(**given)
    return list(caught.value.details) or [caught.value.what]


def test_flag_over_stage_over_recipe_defaults_over_ours() -> None:
    low = values("r.yaml:9", training__seed=1, training__epochs=4, training__weight_decay=0.5, training__max_length=7)
    found = resolved(values("--seed", training__seed=3), low, training__seed=2, training__epochs=5)
    t = found.spec.training
    assert (t.seed, t.epochs, t.weight_decay, t.max_length, t.learning_rate) == (3, 5, 0.5, 7, 2e-4)
    told = {
        k: found.origins[f"training.{k}"] for k in ("seed", "epochs", "weight_decay", "learning_rate", "adam_beta1")
    }
    assert told == {
        "seed": "--seed",
        "epochs": "r.yaml:1",
        "weight_decay": "r.yaml:9",
        "learning_rate": "default for sft lora",
        "adam_beta1": "default",
    }
    assert (found.spec.name, found.origins["name"]) == ("named", "recipe's name")


@pytest.mark.parametrize(
    ("stage", "method", "rate"),
    [
        ("sft", "lora", 2e-4),
        ("sft", "qlora", 2e-4),
        ("sft", "full", 1e-5),
        ("dpo", "lora", 5e-7),
        ("grpo", "full", 1e-6),
    ],
)
def test_defaults_follow_stage_and_method(stage: str, method: str, rate: float) -> None:
    assert resolved(stage=stage, method=method).spec.training.learning_rate == rate


@pytest.mark.parametrize("stage", ["sft", "dpo", "grpo", "merge", "eval", "verify"])
def test_every_stage_resolves_from_nothing(stage: str) -> None:
    found = resolved(stage=stage)
    assert found.spec.stage == stage
    assert set(found.origins) <= set(settings())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"method": "full", "lora__r": 8}, "`lora.r` has no effect in stage sft with method full"),
        ({"rl__beta": 0.1}, "`rl.beta` has no effect in stage sft"),
        ({"stage": "grpo", "training__packing": True}, "`training.packing` has no effect in stage grpo"),
        ({"stage": "dpo", "rl__reward": ["r.py:f"]}, "`rl.reward` has no effect in stage dpo"),
        ({"stage": "merge", "data__train": "d"}, "`data.train` has no effect in stage merge"),
        ({"stage": "eval", "training__seed": 1}, "`training.seed` has no effect in stage eval"),
    ],
)
def test_a_setting_without_effect_is_refused(given: dict[str, Any], expected: str) -> None:
    found = problems(**given)
    assert len(found) == 1
    assert found[0].startswith(f"r.yaml:1: {expected}")


def test_all_bad_values_are_told_together() -> None:
    found = problems(
        flags=values("--set training.sed", training__sed=1),
        training__epochs=-1,
        training__learning_rate="fast",
        lora__r=0,
        model__dtype="int3",
        rl__beta=1,
    )
    assert len(found) == 6
    assert "--set training.sed: unknown setting `training.sed`; did you mean 'training.seed'?" in found
    assert any(line.startswith("r.yaml:1: `training.learning_rate`: ") and "'fast'" in line for line in found)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0, -1.0])
def test_a_learning_rate_is_a_positive_finite_number(value: float) -> None:
    assert "learning_rate" in problems(training__learning_rate=value)[0]


@pytest.mark.parametrize(
    "flags",
    [
        values("--set stage", stage="bogus"),
        values("--set stage", stage=["sft"]),
        values("--set method", method="lorra"),
        values("--set method", method=[1]),
        values("--set native", native=5) | values("--set native.a", native__a=1),
        values("--set native.a", native__a=1) | values("--set native.a.b", native__a__b=1),
        values("--set name", name="a/b"),
        values("--set name", name=""),
        values("--set name", name="x" * 101),
        values("--set from", **{"from": 5}),
        values("--set model.path", model__path=""),
        values("--set data.train", data__train=""),
        values("--set data.eval", data__eval=""),
        values("--set training.seed", training__seed=2**32),
    ],
)
def test_flags_that_make_no_sense_are_recipe_errors(flags: Settings) -> None:
    with pytest.raises(RecipeError) as caught:
        resolved(flags)
    assert "--set" in str(caught.value)


def test_paths_become_absolute_and_names_stay(work: Path) -> None:
    (work / "m").mkdir()
    found = resolved(stage="grpo", model__path="m", data__train="d.jsonl", rl__reward="r.py:f").spec
    assert found.model.path == str(work / "m")
    assert found.data.train == str(work / "d.jsonl")
    assert found.rl.reward == [str(work / "r.py:f")]
    assert resolved(model__path="org/name").spec.model.path == "org/name"
    assert resolved(stage="grpo", rl__reward=["package.module:f"]).spec.rl.reward == ["package.module:f"]


def test_one_parent_may_be_written_as_a_word() -> None:
    assert resolved(values("--from", **{"from": "latest"})).spec.parents == ["latest"]


def test_a_stage_that_starts_from_a_run_does_not_take_the_recipes_model() -> None:
    shared = values("r.yaml:2", model__path="org/name", model__revision="abc", model__dtype="bfloat16")
    spec = resolved(values("--from", **{"from": "latest"}), shared).spec
    assert (spec.model.path, spec.model.revision, spec.model.dtype) == (None, None, "bfloat16")


@pytest.mark.parametrize(
    ("setting", "value"), [("training__batch_size", True), ("training__seed", "3"), ("lora__r", 1.0)]
)
def test_a_value_of_another_type_is_refused_not_converted(setting: str, value: object) -> None:
    (told,) = problems(**{setting: value})
    assert setting.replace("__", ".") in told


def test_a_whole_number_is_a_fine_learning_rate() -> None:
    assert resolved(training__epochs=2).spec.training.epochs == 2.0


def test_an_unknown_setting_is_told_of_once() -> None:
    (told,) = problems(seed=1)
    assert "unknown setting `seed`" in told
