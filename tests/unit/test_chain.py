"""Plans of chains with the fake engine: what starts from what, what is converted, what is reused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import addressing, chain, library
from orchestrator.errors import HandoffError, ModelError, PostTrainError, RunNotFound, UsageError
from orchestrator.findings import errors
from orchestrator.hardware import Machine
from orchestrator.plan import RunPlan
from orchestrator.planner import Planner
from orchestrator.recipe import Settings, Value
from orchestrator.store import Store

if TYPE_CHECKING:
    from tests.conftest import Cli, Write
    from tests.unit.conftest import Replan

MakePlans = Callable[..., list[RunPlan]]
MACHINE = Machine(cores=2, memory=2**34)


@pytest.fixture
def pipeline(base: Path, chat: Path, prompts: Path, held_out: Path, reward: Path) -> dict[str, Any]:
    return {
        "name": "p",
        "defaults": {"backend": "fake"},
        "stages": [
            {"stage": "sft", "model": str(base), "data": str(chat)},
            {"stage": "grpo", "data": str(prompts), "rl": {"reward": [f"{reward}:score"]}},
            {"stage": "merge"},
            {"stage": "eval", "data": {"eval": str(held_out)}},
        ],
    }


@pytest.fixture
def plans(write: Write, runs: Path, monkeypatch: pytest.MonkeyPatch) -> MakePlans:
    """Plans of a recipe; conversions go to the fake engine, too."""
    from orchestrator import defaults

    monkeypatch.setitem(defaults._BACKEND, "merge", "fake")

    def make(recipe: dict[str, Any], reuse: bool = False, **flags: Any) -> list[RunPlan]:
        settings: Settings = {k.replace("__", "."): Value(v, f"--set {k.replace('__', '.')}") for k, v in flags.items()}
        return Planner(Store(runs), reuse=reuse, machine=MACHINE).recipe(
            library.find(str(write("p.yaml", recipe))), settings
        )

    return make


def run_all(cli: Cli, write: Write, recipe: dict[str, Any], *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("run", str(write("p.yaml", recipe)), "--json", *more).json
    return found


def test_a_merge_is_planned_before_training_on_an_adapter(
    plans: MakePlans, pipeline: dict[str, Any], base: Path
) -> None:
    made = plans(pipeline)
    assert [p.spec.stage for p in made] == ["sft", "merge", "grpo", "merge", "eval"]
    sft, merge, grpo, last, judge = made
    assert [errors(p.findings) for p in made] == [[]] * 5
    assert [tuple(x.run for x in p.parents) for p in made] == [
        (),
        (sft.run_id,),
        (merge.run_id,),
        (grpo.run_id,),
        (last.run_id,),
    ]
    assert (sft.model.path, sft.model.adapter) == (str(base), None)
    assert (merge.model.path, merge.model.adapter) == (str(base), str(sft.run_dir / "artifacts/adapter"))
    assert (grpo.model.path, grpo.model.adapter) == (str(merge.run_dir / "artifacts/model"), None)
    assert [m.label for m in judge.compare] == ["base", "sft", "grpo"]
    assert [m.path for m in judge.compare] == [str(base), grpo.model.path, str(last.run_dir / "artifacts/model")]
    assert len({p.pipeline for p in made}) == 1


def test_full_training_needs_no_merge(plans: MakePlans, pipeline: dict[str, Any]) -> None:
    pipeline["stages"][0]["method"] = "full"
    assert [p.spec.stage for p in plans(pipeline)[:2]] == ["sft", "grpo"]
    pipeline["stages"].insert(1, {"stage": "merge"})
    with pytest.raises(UsageError, match="full model already"):
        plans(pipeline)


def test_the_same_recipe_plans_the_same_run(plans: MakePlans, pipeline: dict[str, Any]) -> None:
    first, second = plans(pipeline), plans(pipeline)
    assert [p.fingerprint for p in first] == [p.fingerprint for p in second]
    assert [p.run_id for p in first] != [p.run_id for p in second]


def test_moved_files_are_the_same_run_and_changed_ones_are_not(
    plans: MakePlans, pipeline: dict[str, Any], chat: Path, base: Path, work: Path
) -> None:
    before = plans(pipeline)[0].fingerprint
    pipeline["stages"][0] |= {"data": str(chat.rename(work / "moved.jsonl")), "model": str(base.rename(work / "m"))}
    assert plans(pipeline)[0].fingerprint == before
    moved = work / "moved.jsonl"
    moved.write_text(moved.read_text() * 2)
    assert plans(pipeline)[0].fingerprint != before


def test_names_of_earlier_stages_and_runs(plans: MakePlans, pipeline: dict[str, Any], base: Path) -> None:
    pipeline["stages"][3]["from"] = ["sft", "grpo"]
    made = plans(pipeline)
    assert [p.run for p in made[4].parents] == [made[0].run_id, made[2].run_id]
    pipeline["stages"][3]["from"] = "nowhere"
    with pytest.raises(RunNotFound):
        plans(pipeline)
    pipeline["stages"][3] = {"stage": "eval", "model": str(base), "data": pipeline["stages"][3]["data"]}
    assert plans(pipeline)[4].parents == ()


def test_an_eval_without_items_says_how_to_name_the_task_of_its_chain(
    plans: MakePlans, pipeline: dict[str, Any]
) -> None:
    pipeline["stages"][1] = {"stage": "grpo", "task": {"name": "qa", "options": {"max_tokens": 9}}}
    pipeline["stages"][3] = {"stage": "eval"}
    made = plans(pipeline)
    (finding,) = errors(made[-1].findings)
    assert finding.code == "data.missing"
    assert f"{made[2].run_id} was trained on a task" in (finding.fix or "")
    assert (finding.fix or "").endswith("--task qa --task-option max_tokens=9")
    pipeline["stages"][3] |= {"task": "qa"}
    assert errors(plans(pipeline)[-1].findings) == []


def test_what_a_chain_learned_is_every_file_and_every_task_once(
    cli: Cli, base: Path, chat: Path, held_out: Path, runs: Path
) -> None:
    fake = ("--backend", "fake", "--json")
    first = cli("sft", *fake, "--method", "full", "--model", str(base), "--data", str(chat)).json[-1]["id"]
    second = cli("rl", *fake, "--method", "full", "--from", first, "--task", "qa").json[-1]["id"]
    third = cli("rl", *fake, "--method", "full", "--from", second, "--task", "qa").json[-1]["id"]
    found = chain.learned([chain.link(Store(runs).find(third))], lambda one: chain.link(Store(runs).find(one)))
    assert [(one.run, one.rows, one.task and one.task.name) for one in found] == [
        (first, chat, None),
        (third, None, "qa"),
    ]


def test_a_stage_name_that_two_stages_have_is_refused(plans: MakePlans, pipeline: dict[str, Any]) -> None:
    first = pipeline["stages"][0]
    pipeline["stages"] = [first, first | {"name": "again"}, {"stage": "merge", "from": "sft"}]
    with pytest.raises(UsageError, match="several earlier stages are called 'sft'"):
        plans(pipeline)
    pipeline["stages"][2]["from"] = "again"
    made = plans(pipeline)
    assert made[-1].parents[0].run == next(p.run_id for p in made if p.spec.name == "again")


def test_an_eval_alone_is_no_model_to_go_on_from(plans: MakePlans, pipeline: dict[str, Any], base: Path) -> None:
    judge = pipeline["stages"][3] | {"model": str(base)}
    recipe = pipeline | {"stages": [judge, {"stage": "sft", "data": pipeline["stages"][0]["data"]}]}
    found = errors(plans(recipe)[1].findings)
    assert [f.code for f in found] == ["model.missing"]
    recipe["stages"][1] |= {"from": "eval"}
    with pytest.raises(ModelError, match="leaves no model"):
        plans(recipe)


@pytest.mark.parametrize("stage", ["sft", "merge"])
def test_only_an_eval_takes_several_runs(plans: MakePlans, pipeline: dict[str, Any], stage: str) -> None:
    pipeline["stages"] = [*pipeline["stages"][:2], {"stage": stage, "from": ["sft", "grpo"]}]
    with pytest.raises(UsageError, match="starts from one run, not from 2"):
        plans(pipeline)


def test_settings_reach_the_stages_that_have_them(plans: MakePlans, pipeline: dict[str, Any]) -> None:
    made = plans(pipeline, training__seed=7, grpo__training__epochs=2, eval__metric="contains", merge__dtype="float32")
    by_stage = {p.spec.stage: p.spec for p in made}
    assert [by_stage[s].training.seed for s in ("sft", "grpo")] == [7, 7]
    assert (by_stage["sft"].training.epochs, by_stage["grpo"].training.epochs) == (3, 2)
    assert by_stage["eval"].eval.metric == "contains"
    assert made[3].spec.merge.dtype == "float32"


@pytest.mark.parametrize("key", ["rl__rewardd", "dpo__training__seed", "lora__rank", "nonsense"])
def test_a_setting_that_no_stage_takes_is_refused(plans: MakePlans, pipeline: dict[str, Any], key: str) -> None:
    with pytest.raises(PostTrainError) as caught:
        plans(pipeline, **{key: 1})
    assert f"--set {key.replace('__', '.')}" in str(caught.value)


def test_another_model_for_a_pipeline(plans: MakePlans, pipeline: dict[str, Any], base: Path) -> None:
    other = shutil.copytree(base, base.with_name("other"))
    made = plans(pipeline, model__path=str(other))
    assert [errors(p.findings) for p in made] == [[]] * 5
    assert made[0].model.path == str(other)
    assert made[4].compare[0].path == str(other)


def test_a_single_stage_takes_every_flag(write: Write) -> None:
    recipe = library.find(str(write("one.yaml", {"stage": "sft"})))
    flags = {"anything": Value(1, "--set anything")}
    assert addressing.flags_of(recipe, 0, flags) == flags


def test_a_merge_is_reused_until_the_adapter_changes(
    cli: Cli, write: Write, plans: MakePlans, pipeline: dict[str, Any], runs: Path
) -> None:
    sft, merge = run_all(cli, write, pipeline)[:2]
    later = pipeline | {"stages": [{**pipeline["stages"][1], "from": sft["id"]}]}
    assert [(p.spec.stage, p.reuses) for p in plans(later)] == [("merge", merge["id"]), ("grpo", None)]
    weights = runs / sft["id"] / "artifacts/adapter/adapter_model.safetensors"
    kept = weights.read_bytes()
    weights.write_bytes(kept[:-1] + b"\x01")
    assert [(p.spec.stage, p.reuses) for p in plans(later)] == [("merge", None), ("grpo", None)]
    said = cli("run", str(write("later.yaml", later)), code=9)
    assert "not those its manifest records" in said.err
    assert len(list(runs.glob("p-*"))) == 5, "a refused stage leaves no folder"
    weights.write_bytes(kept)
    assert plans(later)[0].reuses == merge["id"]


def test_a_whole_pipeline_is_reused_and_a_changed_seed_is_not(
    cli: Cli, write: Write, plans: MakePlans, pipeline: dict[str, Any]
) -> None:
    first = [run["id"] for run in run_all(cli, write, pipeline)]
    assert [p.reuses for p in plans(pipeline, reuse=True)] == first
    assert [run["id"] for run in run_all(cli, write, pipeline, "--reuse")] == first
    assert [p.reuses for p in plans(pipeline, reuse=True, grpo__training__seed=1)] == [*first[:2], None, None, None]


def test_a_stopped_pipeline_goes_on(
    cli: Cli, write: Write, plans: MakePlans, pipeline: dict[str, Any], runs: Path, replan: Replan
) -> None:
    pipeline["stages"][1]["native"] = {"silent": True, "exit_code": 75}
    path = str(write("p.yaml", pipeline))
    cli("run", path, code=130)
    stopped = Store(runs).find("latest")
    assert stopped.manifest.state == "INTERRUPTED"
    made = plans(pipeline, reuse=True)
    assert [(p.spec.stage, bool(p.reuses), p.resumes) for p in made] == [
        ("sft", True, None),
        ("merge", True, None),
        ("grpo", False, stopped.id),
        ("merge", False, None),
        ("eval", False, None),
    ]
    replan(stopped.path, '"silent": true', '"silent": false')
    assert [run["state"] for run in run_all(cli, write, pipeline, "--reuse")] == ["SUCCEEDED"] * 5


@pytest.mark.parametrize("state", ["FAILED", "INTERRUPTED"])
def test_nothing_starts_from_an_unfinished_run(
    cli: Cli, write: Write, plans: MakePlans, pipeline: dict[str, Any], runs: Path, state: str
) -> None:
    native = {"fail": 1} if state == "FAILED" else {"silent": True, "exit_code": 75}
    pipeline["stages"] = [{**pipeline["stages"][0], "native": native}]
    cli("run", str(write("p.yaml", pipeline)), code=8 if state == "FAILED" else 130)
    run = Store(runs).find("latest")
    with pytest.raises(HandoffError, match=state) as caught:
        plans({"stage": "merge", "from": run.id, "backend": "fake"})
    assert caught.value.fix == f"post-train run --resume {run.id}"


def test_lineage_and_comparison_follow_the_chain(
    cli: Cli, write: Write, plans: MakePlans, pipeline: dict[str, Any]
) -> None:
    sft, merge, grpo, last, judge = (run["id"] for run in run_all(cli, write, pipeline))
    shown = cli("runs", "lineage", grpo, "--json").json
    assert list(shown["runs"]) == [sft, merge, grpo, last, judge]
    assert shown["runs"][grpo] == {"parents": [merge], "state": "SUCCEEDED"}
    assert "parent of" in cli("runs", "rm", sft, code=6).err
    differences = cli("runs", "compare", sft, grpo, "--json").json["differences"][grpo]
    assert "settings.stage: 'sft' -> 'grpo'" in differences
    assert cli("runs", "rm", judge, last, grpo, merge, sft, "--json").json["removed"][-1] == sft
    assert "no runs" in cli("runs", "list").out
