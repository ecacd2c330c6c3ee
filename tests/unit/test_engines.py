"""The same recipe with another engine, and with every engine that can do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import engines
from orchestrator.recipe import Recipe, Value
from orchestrator.resolve import resolve

if TYPE_CHECKING:
    from tests.conftest import Cli, Write

NATIVE = {"config": {"neftune_noise_alpha": 5}, "peft": {"init_lora_weights": "gaussian"}}
KEYS = "native.config.neftune_noise_alpha, native.peft.init_lora_weights"


def of(**stage: Any) -> Recipe:
    return Recipe("it", "", None, ({k.replace("__", "."): Value(v, "r.yaml:3") for k, v in stage.items()},))


@pytest.fixture
def model(base: Path, write: Write) -> Path:
    """Enough of a model for the checks of real engines."""
    architecture = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 4096}
    write("base/config.json", json.dumps(architecture))
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    write("base/tokenizer_config.json", json.dumps({"chat_template": template}))
    return base


@pytest.fixture
def recipe(write: Write, model: Path, chat: Path) -> Path:
    """An SFT recipe of trl with keys of its own."""
    given = {"stage": "sft", "backend": "trl", "model": str(model), "data": str(chat), "native": NATIVE}
    return write("r.yaml", {"name": "it", **given, "training": {"learning_rate": 1.5e-4}})


@pytest.mark.parametrize(
    ("stage", "method", "found"),
    [("sft", "lora", ["trl", "axolotl"]), ("grpo", "full", ["trl"]), ("merge", "lora", [])],
)
def test_engines_that_can_do_a_stage(stage: str, method: str, found: list[str]) -> None:
    assert engines.able(of(stage=stage, method=method), 0, {}) == found


def test_an_engine_of_tasks_alone_is_offered_for_tasks() -> None:
    assert engines.able(of(stage="grpo", method="full", task__name="qa"), 0, {}) == ["trl", "titanrl"]


def test_the_recipes_own_engine_comes_first() -> None:
    assert engines.able(of(stage="sft", backend="axolotl"), 0, {}) == ["axolotl", "trl"]


def test_native_keys_of_another_engine_never_reach_it() -> None:
    recipe = of(stage="sft", backend="trl", native__config__optim_args="x")
    assert resolve(recipe, 0, {}).spec.native == {"config": {"optim_args": "x"}}
    own = {"backend": Value("axolotl", "--backend"), "native.tf32": Value(True, "--set native.tf32")}
    found = resolve(recipe, 0, own)
    assert (found.spec.backend, found.spec.native) == ("axolotl", {"tf32": True})
    (told,) = found.findings
    assert (told.code, told.level, told.where) == ("native.foreign", "error", "r.yaml:3")
    assert "native.config.optim_args are of trl and mean nothing to axolotl" in told.message


def test_they_can_be_left_out_on_purpose() -> None:
    recipe = of(stage="sft", backend="trl", native__config__optim_args="x")
    emptied = {"native.tf32": Value(True, "--set native.tf32"), "native": Value({}, "--set native")}
    found = resolve(recipe, 0, emptied | {"backend": Value("axolotl", "--backend")})
    assert found.spec.native == {"tf32": True}
    assert [(f.code, f.level) for f in found.findings] == [("native.dropped", "note")]
    assert resolve(recipe, 0, {"native": Value({}, "--set native")}).spec.native == {}


def test_running_with_another_engine_is_refused_until_its_keys_are_dropped(cli: Cli, recipe: Path) -> None:
    words = ("sft", "--recipe", str(recipe), "--backend", "fake")
    err = cli(*words, code=5).err
    assert f"the recipe's native keys {KEYS} are of trl and mean nothing to fake" in err
    assert "--set native={}" in err
    (run,) = cli(*words, "--set", "native={}", "--json").json
    assert (run["spec"]["backend"], run["spec"]["native"]) == ("fake", {})


def test_in_a_pipeline_they_are_dropped_of_one_stage(cli: Cli, write: Write, base: Path, chat: Path) -> None:
    stage = {"model": str(base), "data": str(chat), "native": {"config": {"neftune_noise_alpha": 5}}}
    stages = [{"stage": "sft", **stage}, {"stage": "merge", "backend": "fake", "native": {"silent": False}}]
    path = write("p.yaml", {"name": "chain", "stages": stages})
    words = ("run", str(path), "--dry-run", "--set", "sft.backend=fake")
    assert "fix: leave them out with --set sft.native={}" in cli(*words, code=5).out
    sft, merge = cli(*words, "--set", "sft.native={}", "--json").json
    assert (sft["spec"]["native"], merge["spec"]["native"]) == ({}, {"silent": False})


def test_a_plan_with_another_engine_leaves_them_out_and_says_so(cli: Cli, recipe: Path) -> None:
    (plan,) = cli("plan", str(recipe), "--backend", "fake", "--json").json
    assert plan["spec"]["backend"] == "fake"
    assert plan["origins"]["backend"] == "--backend"
    (told,) = [f for f in plan["findings"] if f["code"].startswith("native.")]
    assert (told["level"], told["code"]) == ("note", "native.dropped")
    assert KEYS in told["message"]
    (own,) = cli("plan", str(recipe), "--backend", "trl", "--json").json
    assert own["spec"]["native"] == NATIVE


def test_both_shows_every_real_engine(cli: Cli, recipe: Path, runs: Path) -> None:
    (sft,) = cli("plan", str(recipe), "--backend", "both", "--json").json
    trl, axolotl = sft["plans"]
    assert [p["spec"]["backend"] for p in (trl, axolotl)] == ["trl", "axolotl"]
    assert [p["native"]["files"][0]["path"] for p in (trl, axolotl)] == ["native/sft.yaml", "native/sft.yml"]
    assert (trl["spec"]["native"], axolotl["spec"]["native"]) == (NATIVE, {})
    rows = {row["setting"]: row for row in sft["settings"]}
    assert rows["training.learning_rate"]["places"] == {
        "trl": {"config.learning_rate": 1.5e-4},
        "axolotl": {"learning_rate": 1.5e-4},
    }
    assert rows["training.learning_rate"]["origin"].startswith(str(recipe))
    assert not runs.exists()


def test_what_each_engine_says_of_the_keys_it_declares(cli: Cli, recipe: Path) -> None:
    """Most of the vocabulary has a place in each file: a renamed key would leave the table silently."""
    (sft,) = cli("plan", str(recipe), "--backend", "both", "--json").json
    for engine, least in (("trl", 25), ("axolotl", 20)):
        assert sum(bool(row["places"][engine]) for row in sft["settings"]) >= least


@pytest.mark.parametrize(("columns", "beside"), [("200", True), ("80", False)])
def test_two_columns_where_there_is_room(
    cli: Cli, recipe: Path, monkeypatch: pytest.MonkeyPatch, columns: str, beside: bool
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    out = cli("plan", str(recipe), "--backend", "both").out
    assert "sft lora with trl and axolotl" in out
    lines = out.splitlines()
    assert any("native/sft.yaml" in line and "native/sft.yml" in line for line in lines) is beside
    (row,) = [line.split() for line in lines if line.strip().startswith("training.learning_rate ")]
    assert row == ["training.learning_rate", "0.00015", "config.learning_rate", "learning_rate"]
    assert lines[-1] == "nothing was started"


def test_errors_of_one_engine_do_not_hide_the_other(cli: Cli, recipe: Path) -> None:
    recipe.write_text(recipe.read_text().replace("neftune_noise_alpha", "nonsense"))
    (sft,) = cli("plan", str(recipe), "--backend", "both", "--json", code=5).json
    trl, axolotl = sft["plans"]
    assert "trl.native.key" in {f["code"] for f in trl["findings"] if f["level"] == "error"}
    assert trl["native"] is None
    assert axolotl["native"]["files"]
    rows = {row["setting"]: row["places"] for row in sft["settings"]}
    assert rows["training.max_length"] == {"axolotl": {"sequence_len": 1024}}
    out = cli("plan", str(recipe), "--backend", "both", code=5).out
    assert "SFTConfig has no `nonsense`" in out
    assert "base_model: " in out


def test_only_training_stages_get_another_engine(
    cli: Cli, write: Write, model: Path, chat: Path, prompts: Path, held_out: Path, reward: Path
) -> None:
    scored = f"{reward}:score"
    stages = [
        {"stage": "sft", "method": "full", "model": str(model), "data": str(chat)},
        {"stage": "grpo", "method": "full", "data": str(prompts), "rl": {"reward": [scored]}},
        {"stage": "eval", "data": {"eval": str(held_out)}},
    ]
    path = write("p.yaml", {"name": "chain", "stages": stages})
    plans = cli("plan", str(path), "--backend", "axolotl", "--json").json
    assert [p["spec"]["backend"] for p in plans] == ["axolotl", "trl", "hf"]
    sft, grpo = cli("plan", str(path), "--backend", "both", "--json").json
    assert [p["spec"]["backend"] for p in sft["plans"]] == ["trl", "axolotl"]
    assert [p["spec"]["backend"] for p in grpo["plans"]] == ["trl"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--backend tlr", "no backend is called 'tlr'; did you mean 'trl'?"),
        ("--backend hf", "backend hf does eval, merge, verify, and the recipe trains nothing of that"),
        ("--backend both --set native.tf32=true", "native keys are of one engine, and --backend both plans with"),
        ("--backend both --set backend=trl", "`backend` and --backend both both name an engine"),
        ("--backend both --smoke --set training.max_steps=9", "contradict each other"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, recipe: Path, words: str, told: str) -> None:
    assert told in cli("plan", str(recipe), *words.split(), code=2).err


def test_a_recipe_that_trains_nothing_has_no_engines_to_compare(cli: Cli, write: Write, held_out: Path) -> None:
    path = write("e.yaml", {"stage": "eval", "model": "m", "data": {"eval": str(held_out)}})
    assert "the recipe trains nothing" in cli("plan", str(path), "--backend", "both", code=2).err


def test_both_in_two_steps(cli: Cli, recipe: Path) -> None:
    (sft,) = cli("plan", str(recipe), "--backend", "both", "--smoke", "--json").json
    rows = {row["setting"]: row["places"] for row in sft["settings"]}
    assert rows["training.max_steps"] == {"trl": {"config.max_steps": 2}, "axolotl": {"max_steps": 2}}
    assert rows["training.save_steps"] == {"trl": {"config.save_steps": 2}, "axolotl": {"save_steps": 2}}
