"""What is refused before a launch, and what is only advised against."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.titanrl.adapter import BACKEND

from .conftest import NODE, MakeJob, MakeSpec


@pytest.mark.parametrize(
    ("sections", "code"),
    [
        ({"task": {"name": None}}, "titanrl.task"),
        ({"rl": {"loss_type": "bnpo"}}, "titanrl.loss_type"),
        ({"rl": {"num_generations": 5}}, "titanrl.groups"),
        ({"rl": {"max_completion_length": 1024}}, "titanrl.lengths"),
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
    [({"rl": {"beta": 0.04}}, "titanrl.beta"), ({"training": {"max_steps": None}}, "titanrl.steps")],
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
    assert [f.code for f in BACKEND.check(make_spec(), make_job(path=str(folder)))] == ["titanrl.head_dim"]
    assert BACKEND.check(make_spec(), make_job(path=str(folder), machine=NODE)) == []


def test_a_model_without_a_template(make_spec: MakeSpec, make_job: MakeJob, folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()
    assert [f.code for f in BACKEND.check(make_spec(), make_job(path=str(folder)))] == ["titanrl.template"]


def test_a_model_that_titanrl_lacks(make_spec: MakeSpec, make_job: MakeJob, folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    assert [f.code for f in BACKEND.check(make_spec(), make_job(path=str(folder)))] == ["titanrl.model"]


@pytest.mark.parametrize(("engines", "codes"), [(4, []), (5, ["titanrl.gpus"])])
def test_the_gpus_of_trainer_and_engines_add_up(
    make_spec: MakeSpec, make_job: MakeJob, engines: int, codes: list[str]
) -> None:
    spec = make_spec(native={"trainer": {"shard": 4}, "generator": {"count": engines}})
    assert [f.code for f in BACKEND.check(spec, make_job(machine=NODE))] == codes
