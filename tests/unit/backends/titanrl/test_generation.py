"""Which generation an environment is: by its files, else by its version, and refused where neither tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.titanrl import generation, settings
from backends.titanrl.adapter import BACKEND

from .conftest import NODE, MakeJob, MakeSpec

SEPTEMBER = ("rl/train.py", "rl/distributed/parallelism.py", "components/optimizer/__init__.py")
OCTOBER = ("rl/train.py", "config/loader.py", "components/optim/__init__.py", "rl/components/data.py")
RELEASE = ("experiments/rl/train.py", "experiments/rl/actors/trainer.py", "components/optimizer/optimizer.py")
BETWEEN = ("rl/train.py", "config/loader.py", "components/optim/__init__.py")


def python(folder: Path, files: tuple[str, ...]) -> Path:
    """The interpreter of an environment in which TorchTitan has these files."""
    for name in files:
        path = folder / "lib/python3.12/site-packages/torchtitan" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder / "bin" / "python"


@pytest.mark.parametrize(
    ("files", "name"), [(RELEASE, "0.3.0"), (SEPTEMBER, "2026-09"), (OCTOBER, "2026-10"), (BETWEEN, None), ((), None)]
)
def test_files_tell(make_job: MakeJob, tmp_path: Path, files: tuple[str, ...], name: str | None) -> None:
    job = make_job(packages={"torchtitan": "0.4.0.dev"}, python=python(tmp_path, files))
    found = generation.of(settings.Titan(), job)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(("version", "name"), [("0.3.0", "0.3.0"), ("0.2.2", None)])
def test_the_version_tells_where_files_cannot_be_seen(make_job: MakeJob, version: str, name: str | None) -> None:
    found = generation.of(settings.Titan(), make_job(packages={"torchtitan": version}))
    assert (found.name if found else None) == name


def test_what_is_not_installed_will_be_the_locked_release(make_job: MakeJob) -> None:
    found = generation.of(settings.Titan(), make_job())
    assert found is not None
    assert found.name == generation.RELEASE


def test_an_unknown_generation_is_refused(make_spec: MakeSpec, make_job: MakeJob) -> None:
    job = make_job(packages={"torchtitan": "0.2.2"}, machine=NODE)
    (found,) = [f for f in BACKEND.check(make_spec(native={"generator": {"count": 7}}), job) if f.level == "error"]
    assert found.code == "titanrl.generation"
    assert "0.3.0, 2026-09, 2026-10" in found.message


def test_a_named_generation_wins(make_spec: MakeSpec, make_job: MakeJob) -> None:
    job = make_job(packages={"torchtitan": "0.2.2"}, machine=NODE)
    spec = make_spec(native={"api": "2026-10", "flavor": "4B", "generator": {"count": 7}})
    assert [(f.code, f.level) for f in BACKEND.check(spec, job)] == [("titanrl.generation", "advice")]
