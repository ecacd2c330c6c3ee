"""What is refused before a launch, and what is only advised against."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.titanrl.adapter import BACKEND
from orchestrator.hardware import Gpu, Machine

from .conftest import NODE, MakeJob, MakeSpec


@pytest.mark.parametrize(
    ("sections", "code"),
    [
        ({"task": {"name": None}}, "titanrl.task"),
        ({"rl": {"loss_type": "bnpo"}}, "titanrl.loss_type"),
        ({"rl": {"num_generations": 5}}, "titanrl.groups"),
        ({"native": {"sessions": 31}}, "titanrl.sessions"),
        ({"native": {"trainer": {"shard": 4, "expert": 3}}}, "titanrl.expert"),
        ({"native": {"api": "2026-09"}}, "titanrl.generation_cpu"),
        ({"hardware": {"processes": 2}}, "titanrl.processes"),
        ({"native": {"flavour": "4B"}}, "titanrl.native"),
        ({"native": {"trainer": {"shard": 0}}}, "titanrl.native"),
    ],
)
def test_refused(make_spec: MakeSpec, make_job: MakeJob, sections: dict[str, Any], code: str) -> None:
    found = BACKEND.check(make_spec(**sections), make_job())
    assert [f.code for f in found if f.level == "error"] == [code]


@pytest.mark.parametrize(
    ("sections", "code"),
    [
        ({"rl": {"beta": 0.04}}, "titanrl.beta"),
        ({"training": {"max_steps": None}}, "titanrl.steps"),
        ({"task": {"name": "data_analyst"}, "rl": {"max_completion_length": 200}}, "titanrl.turns"),
        ({"task": {"options": {"max_turns": 2}}, "native": {"truncation_reward": 0.0}}, "titanrl.truncation_reward"),
    ],
)
def test_advised_against(make_spec: MakeSpec, make_job: MakeJob, sections: dict[str, Any], code: str) -> None:
    assert [(f.code, f.level) for f in BACKEND.check(make_spec(**sections), make_job())] == [(code, "advice")]


def test_a_sound_run_has_no_findings(make_spec: MakeSpec, make_job: MakeJob, folder: Path) -> None:
    assert BACKEND.check(make_spec(), make_job(path=str(folder))) == []


def test_more_engines_ranks_than_key_value_heads(make_spec: MakeSpec, make_job: MakeJob, folder: Path) -> None:
    (found,) = BACKEND.check(make_spec(native={"generator": {"tensor": 4}}), make_job(path=str(folder)))
    assert (found.code, found.fix) == ("titanrl.heads", "native.generator.tensor: 2")


def test_small_heads_need_a_gpu(make_spec: MakeSpec, make_job: MakeJob, folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "qwen3", "head_dim": 16}', encoding="utf-8")
    spec = make_spec(native={"generator": {"count": 7}})
    assert [f.code for f in BACKEND.check(spec, make_job(path=str(folder)))] == ["titanrl.head_dim"]
    assert BACKEND.check(spec, make_job(path=str(folder), machine=NODE)) == []


def test_a_model_without_a_template(make_spec: MakeSpec, make_job: MakeJob, folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()
    assert [f.code for f in BACKEND.check(make_spec(), make_job(path=str(folder)))] == ["titanrl.template"]


def test_a_model_that_titanrl_lacks(make_spec: MakeSpec, make_job: MakeJob, folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    assert [f.code for f in BACKEND.check(make_spec(), make_job(path=str(folder)))] == ["titanrl.model"]


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_a_folder_that_is_not_whole(make_spec: MakeSpec, make_job: MakeJob, folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert [f.code for f in BACKEND.check(make_spec(), make_job(path=str(folder)))] == ["titanrl.assets"]


GLIMMER = {"path": "meta-models/Muse-Glimmer-30B"}
SPLIT = {"flavor": "30B", "trainer": {"shard": 3, "tensor": 2}, "generator": {"tensor": 2}}


@pytest.mark.parametrize(
    ("gpu", "sections", "codes"),
    [
        (95, {"training": {"max_length": 4096}}, []),
        (95, {"training": {"max_length": 12288}}, ["titanrl.memory"]),
        (95, {"training": {"max_length": 12288}, "native": {**SPLIT, "moments": "bfloat16"}}, []),
        (80, {"training": {"max_length": 12288}, "native": {**SPLIT, "moments": "bfloat16"}}, ["titanrl.memory"]),
        (80, {}, ["titanrl.memory"]),
        (95, {"training": {"gradient_checkpointing": False}}, ["titanrl.checkpointing"]),
        (95, {"native": SPLIT | {"generator": {"tensor": 2, "memory": 0.6}}}, ["titanrl.generator_memory"]),
        (95, {"native": SPLIT | {"generator": {"tensor": 2, "memory": 0.2}}}, ["titanrl.generator_memory"]),
        (
            95,
            {"native": SPLIT | {"trainer": {"shard": 2, "tensor": 2}, "generator": {"tensor": 4}}},
            ["titanrl.heads", "titanrl.memory"],
        ),
        (95, {"native": SPLIT | {"flavor": None}}, ["titanrl.flavor"]),
        (95, {"native": SPLIT | {"generator": {"tensor": 1}}}, ["titanrl.idle"]),
    ],
)
def test_a_30b_model_on_one_node(
    make_spec: MakeSpec, make_job: MakeJob, gpu: int, sections: dict[str, Any], codes: list[str]
) -> None:
    """The figures of the public runs: what ran has no finding beside that it isn't here; what failed has."""
    machine = Machine(cores=64, memory=2**40, gpus=(Gpu(name="H100", memory=gpu * 2**30, capability=9.0),) * 8)
    found = BACKEND.check(make_spec(**{"native": SPLIT} | sections), make_job(machine=machine, **GLIMMER))
    assert [f.code for f in found if f.code not in ("titanrl.assets", "titanrl.renderer")] == codes
    assert any(f.code == "titanrl.assets" for f in found)


def test_muse_spark_is_in_another_generation(make_spec: MakeSpec, make_job: MakeJob) -> None:
    job = make_job(path="meta-models/Muse-Spark-Open-816B-A42B", machine=NODE)
    (found,) = [f for f in BACKEND.check(make_spec(native={"flavor": "x"}), job) if f.code == "titanrl.model"]
    assert "TitanRL 2026-10 has it" in found.message


@pytest.mark.parametrize(("engines", "codes"), [(4, []), (5, ["titanrl.gpus"])])
def test_the_gpus_of_trainer_and_engines_add_up(
    make_spec: MakeSpec, make_job: MakeJob, engines: int, codes: list[str]
) -> None:
    spec = make_spec(native={"trainer": {"shard": 4}, "generator": {"count": engines}})
    assert [f.code for f in BACKEND.check(spec, make_job(machine=NODE))] == codes
