"""The wheel: what is in it, and that it works where nothing else of the repository is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from email import message_from_string
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from orchestrator import __version__
from tests.conftest import ROOT, safetensors

pytestmark = pytest.mark.packaging

PACKAGES = {"orchestrator", "backends", "recipes", "data_prep"}
INFO = f"post_train-{__version__}.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout without a network."""
    out = tmp_path_factory.mktemp("dist")
    call(ROOT, sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out))
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """Paths in the wheel."""
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


@pytest.fixture(scope="module")
def bin_(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of an environment that holds the wheel, what it declares to need, and nothing else."""
    env = tmp_path_factory.mktemp("clean") / "venv"
    call(env.parent, sys.executable, "-m", "venv", "--without-pip", str(env))
    python = env / "bin" / "python"
    words = ("-m", "uv", "pip", "install", "--python", str(python), "--no-deps", "--offline", "--no-config")
    call(env.parent, sys.executable, *words, str(wheel))
    (site,) = env.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as opened:
        stated = opened.read(f"{INFO}/METADATA").decode()
    for dist in needed(message_from_string(stated).get_all("Requires-Dist", []), set()):
        link(dist, site)
    return python.parent


def needed(lines: Iterable[str], seen: set[str]) -> list[metadata.Distribution]:
    """Distributions here that requirements name, and those that they need in turn."""
    found = []
    for line in lines:
        wanted = Requirement(line)
        if wanted.name in seen or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        seen.add(wanted.name)
        dist = metadata.distribution(wanted.name)
        found += [dist, *needed(dist.requires or [], seen)]
    return found


def link(dist: metadata.Distribution, site: Path) -> None:
    for name in {Path(file).parts[0] for file in dist.files or []} - {"..", "__pycache__"}:
        (site / name).symlink_to(Path(str(dist.locate_file(name))).resolve())


def call(folder: Path, *words: str, **variables: str) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "POST_TRAIN", "VIRTUAL_ENV"))}
    done = subprocess.run(words, cwd=folder, env=kept | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_top_level_names_are_exactly_ours(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names} == PACKAGES | {INFO}


def test_every_file_of_the_packages_is_inside(names: set[str]) -> None:
    here = {str(p.relative_to(ROOT)) for package in PACKAGES for p in (ROOT / package).rglob("*") if p.is_file()}
    wanted = {name for name in here if "__pycache__" not in name}
    assert {name for name in names if ".dist-info/" not in name} == wanted


@pytest.mark.parametrize("ending", [".lock", ".safetensors", ".jinja", ".css", ".html", "schema.json", "env/torch.txt"])
def test_data_of_each_kind_is_inside(names: set[str], ending: str) -> None:
    assert [name for name in names if name.endswith(ending) and "dist-info" not in name]


def test_names_that_other_wheels_overwrite_are_not_used(names: set[str]) -> None:
    assert "recipes/__init__.py" not in names
    assert not [name for name in names if name.startswith("orchestrator/core")]


def test_no_test_is_inside(names: set[str]) -> None:
    assert not [name for name in names if Path(name).name.startswith(("test_", "conftest"))]


def test_the_licence_is_inside(names: set[str]) -> None:
    assert [name for name in names if name.endswith("dist-info/licenses/LICENSE")]


def test_it_runs_from_another_folder(bin_: Path, tmp_path: Path) -> None:
    program = str(bin_ / "post-train")
    where = call(tmp_path, str(bin_ / "python"), "-c", "import orchestrator; print(orchestrator.__file__)")
    assert Path(where.strip()).is_relative_to(bin_.parent)
    assert "Commands:" in call(tmp_path, program, "--help")
    listed = call(tmp_path, program, "recipes")
    assert "quickstart" in listed
    assert "muse_glimmer" in listed
    for task in ("qa", "search_r1"):
        assert "no problem found" in call(tmp_path, program, "tasks", "check", task)


def test_it_trains_with_a_worker_of_the_wheel(bin_: Path, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text("{}")
    (tmp_path / "base" / "tokenizer.json").write_text("{}")
    (tmp_path / "base" / "model.safetensors").write_bytes(safetensors({"w": ("BF16", [2, 3], 12)}))
    turns = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]
    (tmp_path / "chat.jsonl").write_text(json.dumps({"messages": turns}) + "\n")
    words = ("sft", "--backend", "fake", "--model", "base", "--data", "chat.jsonl", "--max-steps", "3", "--json")
    out = call(tmp_path, str(bin_ / "post-train"), *words, HOME=str(tmp_path), POST_TRAIN_CACHE=str(tmp_path / "cache"))
    (run,) = json.loads(out)
    assert run["state"] == "SUCCEEDED"
    assert (Path(run["outputs"]["adapter"]) / "adapter_model.safetensors").is_file()
    link_ = Path(run["folder"]) / "native" / "pythonpath" / "orchestrator"
    assert link_.resolve().is_relative_to(bin_.parent.resolve())
