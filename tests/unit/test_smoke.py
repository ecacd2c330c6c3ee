"""The smoke run of a recipe: what bounds it, what contradicts it, and what it proves at its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends import axolotl
from backends.axolotl import mapping
from backends.trl import schema as trl
from backends.trl.steps import CADENCE
from orchestrator import smoke
from orchestrator.errors import UsageError
from orchestrator.recipe import Recipe, Settings, Value
from orchestrator.resolve import Resolved, resolve

if TYPE_CHECKING:
    from tests.conftest import Cli, Write


def bounded(flags: Settings | None = None, /, **stage: Any) -> Resolved:
    given = {"stage": "sft", "backend": "trl", "name": "it"} | {k.replace("__", "."): v for k, v in stage.items()}
    recipe = Recipe(None, "", None, ({k: Value(v, "r.yaml:1") for k, v in given.items()},))
    return smoke.bounded(resolve(recipe, 0, flags or {}), flags or {})


def test_it_wins_over_the_recipe_and_says_so() -> None:
    found = bounded(
        training__max_steps=500,
        training__gradient_accumulation=16,
        training__save_steps=100,
        training__eval_steps=50,
        training__warmup_steps=30,
        training__logging_steps=10,
        data__eval="held_out.jsonl",
        training__batch_size=3,
    )
    t = found.spec.training
    assert (t.max_steps, t.gradient_accumulation, t.save_steps, t.eval_steps) == (2, 1, 2, None)
    assert (t.warmup_steps, t.logging_steps, found.spec.data.eval, t.batch_size) == (0, 1, None, 3)
    ours = {k for k, v in found.origins.items() if v == "--smoke"}
    assert {"name", "training.max_steps", "training.eval_steps", "data.eval"} <= ours
    assert found.origins["training.batch_size"] == "r.yaml:1"
    assert found.spec.name == "it-smoke"


@pytest.mark.parametrize("name", ["x" * 100, "x-smoke"])
def test_its_name_fits_and_says_it_once(name: str) -> None:
    assert bounded(name=name).spec.name == name.removesuffix("-smoke")[:94] + "-smoke"


@pytest.mark.parametrize(
    "key",
    [
        "training.max_steps",
        "training.epochs",
        "training.gradient_accumulation",
        "training.save_steps",
        "training.eval_steps",
        "native.config.eval_strategy",
    ],
)
def test_a_flag_that_contradicts_it_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match=f"`{key}` and --smoke contradict each other") as caught:
        bounded({key: Value({"native.config.eval_strategy": "epoch"}.get(key, 1), f"--set {key}")})
    assert caught.value.where == f"--set {key}"


@pytest.mark.parametrize(("batch", "processes", "group", "kept"), [(1, 1, 8, 8), (4, 2, 8, 1), (6, 1, 8, 4)])
def test_grpo_keeps_the_accumulation_that_whole_groups_need(batch: int, processes: int, group: int, kept: int) -> None:
    given = {"training__batch_size": batch, "hardware__processes": processes, "rl__num_generations": group}
    found = bounded(stage="grpo", training__gradient_accumulation=16, **given)
    assert found.spec.training.gradient_accumulation == kept
    (told,) = found.findings
    assert (told.code, told.level) == ("smoke.generation", "note")
    assert f"{batch * kept} completions a rank here, and {batch * 16} in the real run" in told.message


def test_native_keys_that_would_undo_it_are_left_out_and_told() -> None:
    config = {"eval_strategy": "epoch", "save_strategy": "epoch", "neftune_noise_alpha": 5}
    found = bounded(**{f"native__config__{k}": v for k, v in config.items()}, native__peft__init_lora_weights=True)
    assert found.spec.native == {"config": {"neftune_noise_alpha": 5}, "peft": {"init_lora_weights": True}}
    (told,) = found.findings
    assert (told.code, told.level) == ("smoke.native", "note")
    assert "native.config.save_strategy, native.config.eval_strategy: left out" in told.message
    assert "native.config.eval_strategy" not in found.origins


@pytest.mark.parametrize(("given", "kept"), [(None, 8), (100, 8), (3, 3)])
def test_an_eval_looks_at_few_items(given: int | None, kept: int) -> None:
    found = bounded(stage="eval", backend="fake", eval__max_items=given, data__eval="d.jsonl")
    assert (found.spec.eval.max_items, found.spec.data.eval) == (kept, str(Path.cwd() / "d.jsonl"))


def test_keys_of_axolotl_that_would_undo_it_are_left_out() -> None:
    undoing = {"native__saves_per_epoch": 4, "native__val_set_size": 0.1, "native__warmup_steps": 0.5}
    assert bounded(backend="axolotl", native__tf32=True, **undoing).spec.native == {"tf32": True}


def test_cadence_keys_are_keys_of_their_engine() -> None:
    known = {key for config in ("SFTConfig", "DPOConfig", "GRPOConfig") for key in trl.fields(config)}
    assert set(CADENCE) <= known
    table = json.loads((Path(axolotl.__file__).parent / "schema.json").read_text(encoding="utf-8"))
    assert set(mapping.BOUNDED) <= set(table["properties"])


def test_a_run_prints_what_it_proved(cli: Cli, base: Path, chat: Path) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--name", "it", "--smoke")
    out = cli(*words).out
    assert "sft it-smoke-sft-" in out
    assert "smoke    2 optimizer steps done, checkpoint written at step 2 (" in out
    assert "smoke" in cli("runs", "show", "latest").out
    (run,) = cli(*words, "--json").json
    assert run["smoke"]["steps"] == 2
    assert Path(run["smoke"]["checkpoint"]).exists()
    assert run["smoke"]["seconds"] > 0


def test_a_real_run_proves_nothing_of_the_kind(cli: Cli, base: Path, chat: Path) -> None:
    (run,) = cli("sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--json").json
    assert "smoke" not in run


def test_a_run_that_leaves_no_checkpoint_fails(cli: Cli, base: Path, chat: Path) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--smoke")
    err = cli(*words, "--set", "native.unsaved=true", code=8).err
    assert "the smoke run proves nothing: 2 of 2 steps were reported, and no checkpoint at step 2" in err


def test_every_stage_of_a_pipeline_is_bounded(
    cli: Cli, write: Write, base: Path, chat: Path, prompts: Path, held_out: Path, reward: Path
) -> None:
    scored = f"{reward}:score"
    stages = [
        {"stage": "sft", "name": "first", "method": "full", "model": str(base), "data": str(chat)},
        {
            "stage": "grpo",
            "method": "full",
            "from": "first",
            "data": str(prompts),
            "rl": {"reward": [scored]},
        },
        {"stage": "eval", "data": {"eval": str(held_out)}},
    ]
    recipe = write("p.yaml", {"name": "chain", "defaults": {"backend": "fake"}, "stages": stages})
    sft, grpo, last = cli("plan", str(recipe), "--smoke", "--json").json
    assert [p["spec"]["name"] for p in (sft, grpo, last)] == ["first-smoke", "chain-smoke", "chain-smoke"]
    assert [p["run"] for p in grpo["parents"]] == [sft["run_id"]]
    assert [json.loads(p["native"]["files"][0]["content"])["steps"] for p in (sft, grpo)] == [2, 2]
    assert last["spec"]["eval"]["max_items"] == 8
    assert "smoke       data.eval unset, training.max_steps 2" in cli("plan", str(recipe), "--smoke").out
    shown = cli("recipes", "show", str(recipe), "--resolved", "--smoke").out
    assert "max_steps: 2                                            # --smoke" in shown.replace("  max", "max")
    err = cli("run", str(recipe), "--smoke", "--set", "training.max_steps=5", code=2).err
    assert "--set training.max_steps: `training.max_steps` and --smoke contradict each other" in err


def test_advice_on_the_batch_is_about_the_real_run(cli: Cli, base: Path, chat: Path) -> None:
    words = ("sft", "--backend", "fake", "--method", "qlora", "--model", str(base), "--data", str(chat), "--dry-run")
    assert "advice [hp.batch_size]" not in cli(*words, "--smoke").out
    assert "accepted [hp.batch_size]" in cli(*words, "--smoke").out


def test_the_real_command_with_the_flag_added_will_do() -> None:
    found = bounded({"data.eval": Value("held_out.jsonl", "--eval-data")})
    assert found.spec.data.eval is None
    assert [f.code for f in found.findings if f.where == "data.eval"] == ["smoke.eval"]
