"""Installing, by both tools for real."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from orchestrator import envs
from orchestrator.backend import EnvLock
from orchestrator.environments import cache as folders
from orchestrator.errors import EnvironmentMissing, StorageError
from orchestrator.hardware import Machine

from .conftest import sdist

CPU = Machine(cores=1, memory=2**30)


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_both_tools_make_an_environment_that_runs(lock: EnvLock, house: Path, tool: Literal["uv", "pip"]) -> None:
    said: list[str] = []
    env = envs.install(lock, "one", "cpu", say=said.append, find_links=str(house), tool=tool)
    assert env.ready
    assert env.packages is not None
    assert (env.packages["tiny"], env.packages["torch"]) == ("1.5", "9.8.7+cpu")
    assert "never" not in env.packages
    asked = "import tiny, torch, sys; print(sys.prefix)"
    assert subprocess.check_output([env.python, "-c", asked], text=True).strip() == str(env.folder)
    ready = json.loads((env.folder / "READY.json").read_text())
    assert ready["tool"].startswith(tool)
    assert ready["lock"] == folders.digest(lock, "cpu")
    assert "tiny" in (env.folder / "install.log").read_text()
    assert any("installing torch==9.8.7+cpu" in line for line in said)


@pytest.fixture
def sourced(lock: EnvLock, house: Path) -> EnvLock:
    """The lock with a package that nobody has a wheel of."""
    file = lock.folder / "cpu.lock"
    file.write_text(f"{file.read_text()}raw==2.0 \\\n    --hash=sha256:{sdist(house, 'raw', '2.0')}\n    # via tiny\n")
    return lock


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_what_source_txt_names_is_built_with_what_the_lock_brought(
    sourced: EnvLock, house: Path, tool: Literal["uv", "pip"]
) -> None:
    (sourced.folder / "source.txt").write_text("# only ever published as source\nraw\n")
    said: list[str] = []
    env = envs.install(sourced, "one", "cpu", say=said.append, find_links=str(house), tool=tool)
    assert env.packages is not None
    assert env.packages["raw"] == "2.0"
    assert subprocess.check_output([env.python, "-c", "import raw; print(raw.BUILT)"], text=True).strip() == "True"
    assert [line for line in said if line.startswith(("installing", "building"))][1:] == [
        "installing the locked packages (cpu.lock)",
        "building raw",
    ]


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_a_package_that_source_txt_does_not_name_runs_no_code(
    sourced: EnvLock, house: Path, tool: Literal["uv", "pip"]
) -> None:
    with pytest.raises(EnvironmentMissing, match="installing the locked packages"):
        envs.install(sourced, "one", "cpu", say=print, find_links=str(house), tool=tool)


def test_a_source_file_with_another_hash_is_refused(sourced: EnvLock, house: Path) -> None:
    (sourced.folder / "source.txt").write_text("raw\n")
    (house / "raw-2.0.tar.gz").write_bytes((house / "raw-2.0.tar.gz").read_bytes() + b"\0")
    with pytest.raises(EnvironmentMissing, match="building raw") as caught:
        envs.install(sourced, "one", "cpu", say=print, find_links=str(house), tool="pip")
    assert "not the one that was locked" in (caught.value.why or "")


def test_the_cuda_lock_takes_its_own_torch_although_a_cpu_wheel_lies_about(lock: EnvLock, house: Path) -> None:
    env = envs.install(lock, "one", "cuda", say=print, find_links=str(house), tool="uv")
    assert env.packages is not None
    assert (env.variant, env.packages["torch"]) == ("cuda", "9.8.7")


def test_a_second_install_does_nothing_and_force_builds_anew(lock: EnvLock, house: Path) -> None:
    said: list[str] = []
    first = envs.install(lock, "one", "cpu", say=said.append, find_links=str(house))
    said.clear()
    (first.folder / "mine.txt").write_text("kept")
    assert envs.install(lock, "one", "cpu", say=said.append) == first
    assert said == []
    envs.install(lock, "one", "cpu", say=said.append, find_links=str(house), force=True)
    assert said
    assert not (first.folder / "mine.txt").exists()


def test_an_environment_belongs_to_its_lock_and_not_to_a_backend(lock: EnvLock, house: Path, tmp_path: Path) -> None:
    made = envs.install(lock, "one", "cpu", say=print, find_links=str(house))
    shutil.copytree(lock.folder, tmp_path / "other")
    other = EnvLock(folder=tmp_path / "other")
    found = envs.locate("two", other, CPU, None)
    assert (found.ready, found.folder, found.name) == (True, made.folder, "two")
    (other.folder / "cpu.lock").write_text((lock.folder / "cpu.lock").read_text() + "# changed\n")
    changed = envs.locate("two", other, CPU, None)
    assert (changed.ready, changed.packages) == (False, None)
    assert changed.folder != made.folder


def test_extras_come_on_top_and_are_found_again(lock: EnvLock, house: Path) -> None:
    plain = envs.install(lock, "one", "cpu", say=print, find_links=str(house))
    more = envs.install(lock, "one", "cpu", say=print, find_links=str(house), extras=["extra"])
    assert more.folder != plain.folder
    assert more.packages is not None
    assert (more.packages["extra"], more.packages["tiny"]) == ("3.0", "1.5")
    assert envs.locate("one", lock, CPU, None) == more
    assert envs.install(lock, "one", "cpu", say=print) == more


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_extras_move_no_locked_version(lock: EnvLock, house: Path, tool: Literal["uv", "pip"]) -> None:
    with pytest.raises(EnvironmentMissing, match=r"tiny>=1\.6: failed"):
        envs.install(lock, "one", "cpu", say=print, find_links=str(house), extras=["tiny>=1.6"], tool=tool)
    assert not envs.locate("one", lock, CPU, None).ready


def test_of_a_failed_installation_only_the_log_is_kept(lock: EnvLock, house: Path) -> None:
    said: list[str] = []
    with pytest.raises(EnvironmentMissing) as caught:
        envs.install(lock, "one", "cpu", say=said.append, find_links=str(house), extras=["tiny>=1.6"])
    log = Path(caught.value.where or "")
    assert list(log.parent.iterdir()) == [log]
    assert said[-1] == f"removing what was installed; the log stays: {log}"


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_a_file_with_another_hash_is_refused(lock: EnvLock, house: Path, tool: Literal["uv", "pip"]) -> None:
    text = (lock.folder / "cpu.lock").read_text()
    digest = text.split("sha256:")[1][:64]
    (lock.folder / "cpu.lock").write_text(text.replace(digest, "f" * 64))
    with pytest.raises(EnvironmentMissing) as caught:
        envs.install(lock, "one", "cpu", say=print, find_links=str(house), tool=tool)
    error = caught.value
    assert "not the one that was locked" in (error.why or "")
    assert error.where is not None
    assert Path(error.where).name == "install.log"
    assert error.details
    assert not envs.locate("one", lock, CPU, None).ready


def test_a_missing_package_is_named_with_log_and_fix(lock: EnvLock, house: Path) -> None:
    (house / "tiny-1.5-py3-none-any.whl").unlink()
    with pytest.raises(EnvironmentMissing) as caught:
        envs.install(lock, "one", "cpu", say=print, find_links=str(house))
    assert any("tiny" in line for line in caught.value.details)
    assert "no package source" in (caught.value.why or "")
    assert caught.value.fix


def test_a_package_that_cannot_be_imported_fails_the_installation(lock: EnvLock, house: Path) -> None:
    import hashlib
    import zipfile

    path = house / "tiny-1.5-py3-none-any.whl"
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["tiny/__init__.py"] = b"import nothing_of_that_name\n"
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    file = lock.folder / "cpu.lock"
    file.write_text(file.read_text().replace(before, hashlib.sha256(path.read_bytes()).hexdigest()))
    with pytest.raises(EnvironmentMissing, match="importing the packages: failed") as caught:
        envs.install(lock, "one", "cpu", say=print, find_links=str(house))
    assert any("nothing_of_that_name" in line for line in caught.value.details)
    assert not envs.locate("one", lock, CPU, None).ready


def test_too_little_room_is_refused_before_anything_is_made(cache: Path) -> None:
    with pytest.raises(StorageError, match="GiB free, and the environment needs"):
        folders.room(2**60)
    assert not cache.exists()


def test_an_unwritable_cache_says_how_to_name_another(
    lock: EnvLock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POST_TRAIN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(StorageError) as caught:
        envs.install(lock, "one", "cpu", say=print)
    assert "POST_TRAIN_CACHE" in (caught.value.fix or "")


def test_variables_that_bend_the_module_search_reach_no_step(
    lock: EnvLock, house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bent").mkdir()
    (tmp_path / "bent" / "tiny.py").write_text("raise RuntimeError('the wrong tiny')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "bent"))
    monkeypatch.setenv("PYTHONHOME", str(tmp_path / "bent"))
    assert envs.install(lock, "one", "cpu", say=print, find_links=str(house)).ready
