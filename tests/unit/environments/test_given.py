"""Interpreters that the user names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from orchestrator import envs
from orchestrator.backend import EnvLock
from orchestrator.environments.examine import examine
from orchestrator.hardware import Machine

from .conftest import put

CPU = Machine(cores=1, memory=2**30)


def test_without_a_lock_the_core_interpreter_is_ready() -> None:
    found = envs.locate("fake", None, CPU, None)
    assert (found.ready, found.python) == (True, Path(sys.executable))
    assert found.packages is not None
    assert "pydantic" in found.packages


def test_a_complete_one_is_ready_by_folder_or_by_python(lock: EnvLock, own: Path) -> None:
    put(own, "tiny", "1.5")
    put(own, "torch", "9.8.7+cpu")
    by_folder = envs.locate("one", lock, CPU, str(own))
    assert (by_folder.ready, by_folder.problems, by_folder.differences) == (True, (), ())
    assert by_folder.variant == "given"
    assert by_folder.packages == {"tiny": "1.5", "torch": "9.8.7+cpu"}
    assert envs.locate("one", lock, CPU, str(own / "bin" / "python")) == by_folder
    report = examine(by_folder, lock)
    assert (report.problems, report.fix) == ((), None)


def test_missing_packages_are_problems(lock: EnvLock, own: Path) -> None:
    put(own, "tiny", "1.5")
    found = envs.locate("one", lock, CPU, str(own))
    assert not found.ready
    assert found.problems == ("torch is missing; the lock has 9.8.7",)
    assert "torch" in "".join(examine(found, lock).problems)


def test_another_version_is_a_difference_and_changes_the_key(lock: EnvLock, own: Path) -> None:
    put(own, "tiny", "1.4")
    put(own, "torch", "9.8.7")
    found = envs.locate("one", lock, CPU, str(own))
    assert (found.ready, found.differences) == (True, ("tiny is 1.4; the lock has 1.5; it may work all the same",))
    assert examine(found, lock).notes == found.differences
    put(own, "other", "1")
    assert envs.locate("one", lock, CPU, str(own)).key != found.key


def test_what_cannot_be_imported_makes_it_unusable(lock: EnvLock, own: Path) -> None:
    put(own, "tiny", "1.5", "raise ImportError('libtiny.so.3')\n")
    put(own, "torch", "9.8.7")
    report = examine(envs.locate("one", lock, CPU, str(own)), lock)
    assert "libtiny.so.3" in report.problems[0]
    assert report.fix


def test_current_is_this_interpreter(lock: EnvLock) -> None:
    found = envs.locate("one", lock, CPU, "current")
    assert found.python == Path(sys.executable)
    assert any(line.startswith("tiny is missing") for line in found.problems)


@pytest.mark.parametrize("choice", ["nowhere", "folder", "text", "program"])
def test_what_is_no_python_is_a_problem_and_no_traceback(lock: EnvLock, tmp_path: Path, choice: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("hello")
    (tmp_path / "program").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "program").chmod(0o755)
    found = envs.locate("one", lock, CPU, str(tmp_path / choice))
    assert not found.ready
    assert len(found.problems) == 1
    assert "not a working Python interpreter" in found.problems[0]
    assert str(tmp_path / choice) in found.problems[0]
    assert examine(found, lock).problems == found.problems
