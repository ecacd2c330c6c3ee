"""The shipped recipes: what each would be to TitanRL, on a machine with as many GPUs as it wants, byte by byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.titanrl import settings
from backends.titanrl.adapter import BACKEND
from orchestrator import library
from orchestrator.findings import accept
from orchestrator.hardware import Gpu, Machine
from orchestrator.preflight import lengths
from orchestrator.resolve import resolve
from orchestrator.spec import RunSpec

from .conftest import MakeJob

GOLDEN = Path(__file__).parents[3] / "golden" / "titanrl"
NAMES = [
    "muse_glimmer/titanrl_data_analyst",
    "muse_glimmer/titanrl_data_analyst_smoke",
    "muse_glimmer/titanrl_search_r1",
    "muse_spark/dapo_math",
    "muse_spark/dapo_math_train",
    "muse_spark/qa",
    "titanrl/alphabet_sort",
    "titanrl/dapo_math",
    "titanrl/qa",
    "titanrl/search_r1",
]
TOLD = {"titanrl.assets", "titanrl.generation", "titanrl.muse_spark"}
"""Advice that a recipe can't answer: that the model isn't here, and that its TitanRL was never run here."""


def spec_of(name: str) -> RunSpec:
    """The recipe's only stage."""
    return resolve(library.find(name), 0, {}).spec


@pytest.mark.parametrize("name", NAMES)
def test_what_titanrl_would_read(make_job: MakeJob, name: str) -> None:
    spec = spec_of(name)
    count, memory = (272, 180) if name.startswith("muse_spark") else (8, 95)
    gpu = Gpu(name="GPU", memory=memory * 2**30, capability=9.0)
    job = make_job(path=spec.model.path, machine=Machine(cores=64, memory=2**40, gpus=(gpu,) * count))
    found = accept([*BACKEND.check(spec, job), *lengths.check(spec)], spec.accept)
    assert {f.code for f in found if not f.accepted} <= TOLD
    (file,) = BACKEND.materialize(spec, job).files
    compile(file.content, file.path, "exec")
    assert file.content == (GOLDEN / f"recipe_{name.replace('/', '_')}.txt").read_text(encoding="utf-8")


def test_no_recipe_and_no_file_is_left_out() -> None:
    shipped = {name for name in library.names() if any(spec.backend == "titanrl" for spec in _specs(name))}
    assert shipped - {"titanrl_tiny"} == set(NAMES)
    files = {path.stem.removeprefix("recipe_") for path in GOLDEN.glob("recipe_*")}
    assert files == {name.replace("/", "_") for name in NAMES}


@pytest.mark.parametrize(
    ("first", "second", "differs"),
    [
        (
            "muse_spark/dapo_math",
            "muse_spark/dapo_math_train",
            {
                "name",
                "training.max_steps",
                "training.save_steps",
                "training.save_total_limit",
                "native.offpolicy_steps",
                "native.drop_equal_groups",
                "native.validation_samples",
            },
        ),
        ("muse_spark/dapo_math", "muse_spark/qa", {"name", "task.name"}),
        (
            "muse_glimmer/titanrl_data_analyst",
            "muse_glimmer/titanrl_data_analyst_smoke",
            {
                "name",
                "training.max_steps",
                "training.batch_size",
                "training.gradient_accumulation",
                "training.save_steps",
                "rl.num_generations",
                "native.validation_samples",
            },
        ),
    ],
)
def test_a_variant_changes_only_what_differs(first: str, second: str, differs: set[str]) -> None:
    one, two = (dict(_flat(spec_of(name).model_dump())) for name in (first, second))
    assert {key for key in one | two if one.get(key) != two.get(key)} == differs


def test_muse_spark_takes_256_and_16_gpus() -> None:
    titan = settings.read(spec_of("muse_spark/dapo_math"))
    assert (titan.trainer.ranks, titan.generator.ranks) == (256, 16)


def _specs(name: str) -> list[RunSpec]:
    recipe = library.find(name)
    return [resolve(recipe, n, {}).spec for n in range(len(recipe.stages))]


def _flat(tree: dict[str, Any], head: str = "") -> list[tuple[str, Any]]:
    """Dotted key -> value."""
    found = []
    for key, value in tree.items():
        found += _flat(value, f"{head}{key}.") if isinstance(value, dict) else [(f"{head}{key}", value)]
    return found
