"""Recipes as written: names checked, places remembered, every problem told at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import recipe
from orchestrator.errors import RecipeError

if TYPE_CHECKING:
    from tests.conftest import Write


def problems(path: Path) -> list[str]:
    with pytest.raises(RecipeError) as caught:
        recipe.read(path)
    assert caught.value.fix
    return [line.removeprefix(str(path)) for line in caught.value.details]


def test_a_single_stage(write: Write) -> None:
    path = write("my-run.yaml", "stage: sft\ndescription: one line\nmodel: m\ntraining:\n  epochs: 2\n")
    found = recipe.read(path)
    assert (found.name, found.description, found.is_pipeline) == ("my-run", "one line", False)
    assert {k: v.value for k, v in found.stages[0].items()} == {"stage": "sft", "model.path": "m", "training.epochs": 2}
    assert found.stages[0]["training.epochs"].origin == f"{path}:5"


def test_a_pipeline(write: Write) -> None:
    text = "name: p\ndefaults: {training: {seed: 1}}\nstages:\n- {stage: sft, data: d}\n- stage: eval\n  from: [sft]\n"
    found = recipe.read(write("x.yaml", text))
    assert found.is_pipeline
    assert found.name == "p"
    assert found.defaults["training.seed"].value == 1
    assert [s["stage"].value for s in found.stages] == ["sft", "eval"]
    assert found.stages[1]["from"].origin.endswith("x.yaml:6")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stage: sft\nmetod: lora\n", ":2: unknown key `metod`; did you mean 'method'?"),
        ("stage: sft\ntraining:\n  max_step: 1\n", ":3: unknown key `training.max_step`; did you mean 'max_steps'?"),
        ("stage: sft\nlearning_rate: 1\n", ":2: unknown key `learning_rate`; it belongs under `training`"),
        ("stage: sft\n1: x\n", ":2: unknown key `1`"),
        ("stage: sft\nlora: 16\n", ":2: `lora` is a section with r, alpha"),
        ("stage: sft\ntraining: [1]\n", ":2: `training` is a section with"),
        ("method: lora\n", ":1: `stage` is missing; one of sft, dpo, grpo, merge, eval"),
        ("stage: grop\n", ":1: unknown stage 'grop'; did you mean 'grpo'?"),
        ("stage: [sft]\n", ":1: unknown stage ['sft']"),
        ("stages: []\n", ":1: `stages` is a list with at least one stage"),
        ("stages: sft\n", ":1: `stages` is a list with at least one stage"),
        ("stages:\n- sft\n", ":2: `stages.0` must be a mapping of settings, not 'sft'"),
        ("stages:\n- {stage: sft}\nmodel: m\n", ":3: unknown key 'model' beside `stages`; a setting for all stages"),
        ("stages:\n- {stage: sft}\n1: m\n", ":3: unknown key '1' beside `stages`"),
        ("stages:\n- {stage: sft}\nstagse: m\n", ":3: unknown key 'stagse' beside `stages`; did you mean 'stages'?"),
        ("defaults: 5\nstages:\n- {stage: sft}\n", ":1: `defaults` must be a mapping of settings, not 5"),
        ("defaults: {rl: {beta: 0.1}}\nstages:\n- {stage: sft}\n", ":1: `rl.beta` under `defaults` has no effect"),
    ],
)  # fmt: skip
def test_a_problem_names_line_and_nearest_word(write: Write, text: str, expected: str) -> None:
    found = problems(write("r.yaml", text))
    assert any(line.startswith(expected) for line in found), found


def test_all_problems_come_together(write: Write) -> None:
    text = "name: x\nmodle: a\ndefaults: {lora: {rr: 1}}\nstages:\n- {stage: sft, lora: 5}\n- {foo: 1}\n"
    found = problems(write("r.yaml", text))
    assert [line.split(":")[1] for line in found] == ["2", "3", "5", "6", "6"]


def test_paths_with_a_dot_are_beside_the_recipe(write: Write, work: Path) -> None:
    settings: dict[str, Any] = {
        "stage": "grpo",
        "model": "./m",
        "data": {"train": "../d.jsonl", "eval": "plain.jsonl"},
        "rl": {"reward": ["./r.py:f", "package.module:f"]},
    }
    found = recipe.read(write("sub/r.yaml", settings)).stages[0]
    assert found["model.path"].value == str(work / "sub" / "m")
    assert found["data.train"].value == str(work / "d.jsonl")
    assert found["data.eval"].value == "plain.jsonl"
    assert found["rl.reward"].value == [str(work / "sub" / "r.py:f"), "package.module:f"]
    metric = recipe.read(write("sub/e.yaml", {"stage": "eval", "eval": {"metric": "reward:./r.py:f"}})).stages[0]
    assert metric["eval.metric"].value == f"reward:{work / 'sub' / 'r.py'}:f"


def test_native_keys_are_taken_as_they_are(write: Write) -> None:
    found = recipe.read(write("r.yaml", "stage: sft\nnative:\n  sft: {anything: {deep: 1}}\n  empty: {}\n")).stages[0]
    assert found["native.sft.anything.deep"].value == 1
    assert found["native.empty"].value == {}
