"""Known conflicts: how conditions are read, and every one that ships beside its clean twin."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator import envs
from orchestrator.backend import EnvLock
from orchestrator.environments import conflicts, pins
from orchestrator.environments.examine import examine
from orchestrator.errors import EnvironmentMissing
from orchestrator.hardware import Machine
from orchestrator.preflight import environment

from .conftest import put

CPU = Machine(cores=1, memory=2**30)
ROOT = Path(__file__).parents[3]
AXOLOTL = EnvLock(folder=ROOT / "backends" / "axolotl" / "env")
MARKERS = {"python_full_version": "3.11.7", "python_version": "3.11", "sys_platform": "linux"}
MARKERS |= {"platform_machine": "x86_64", "platform_system": "Linux"}
LOCKED = pins.expected(AXOLOTL, "cpu", MARKERS)
CLEAN = {name: LOCKED[name] for name in ("accelerate", "axolotl", "bitsandbytes", "datasets", "peft", "transformers")}
CLEAN |= {"torch": f"{LOCKED['torch']}+cpu", "trl": LOCKED["trl"]}
BROKEN = "raise ImportError('undefined symbol: _ZN3c104cuda')\n"

CASES = [
    pytest.param({"axolotl": "0.18.1"}, "problem", "axolotl 0.18.1 is too old", id="old-axolotl"),
    pytest.param({"axolotl": "0.20.0", "peft": "9.0"}, "difference", "axolotl 0.20.0 is newer", id="new-axolotl"),
    pytest.param({"axolotl": "0.20.0.dev0"}, "difference", "axolotl 0.20.0.dev0 is newer", id="development-axolotl"),
    pytest.param({"torchvision": "0.28.0"}, "problem", "operator torchvision::nms does not exist", id="torchvision"),
    pytest.param({"deepspeed": "0.18.9"}, "difference", "deepspeed 0.18.9 is there", id="deepspeed"),
    pytest.param({"bitsandbytes": ""}, "difference", "qlora and 8-bit optimizers can't run", id="bitsandbytes"),
    pytest.param({"peft": "0.19.0"}, "difference", "this axolotl asks for exactly 0.20.0", id="peft"),
]


def _fill(env: Path, changed: dict[str, str]) -> None:
    for name, version in (CLEAN | changed).items():
        if version:
            put(env, name, version)


@pytest.mark.parametrize("changed", [{}, {"torchvision": "0.28.0+cpu"}, {"flash-attn": "2.8.3"}])
def test_an_environment_as_locked_has_no_conflict(own: Path, changed: dict[str, str]) -> None:
    _fill(own, changed)
    found = envs.locate("axolotl", AXOLOTL, CPU, str(own))
    assert (found.ready, found.problems, found.differences) == (True, (), ())
    assert examine(found, AXOLOTL).conflicts == ()


@pytest.mark.parametrize(("changed", "level", "words"), CASES)
def test_a_known_conflict_is_seen_by_plan_and_doctor(
    own: Path, changed: dict[str, str], level: str, words: str
) -> None:
    _fill(own, changed)
    found = envs.locate("axolotl", AXOLOTL, CPU, str(own))
    said = found.problems if level == "problem" else found.differences
    assert (found.ready, len(found.problems) + len(found.differences)) == (level != "problem", 1)
    assert words in said[0]
    (finding,) = environment.check(found)
    assert (finding.level, finding.message) == ("error" if level == "problem" else "advice", said[0])
    report = examine(found, AXOLOTL)
    (conflict,) = report.conflicts
    assert (conflict.level, conflict.message) == (level, said[0])
    assert conflict.package in changed
    assert said[0] in (report.problems if level == "problem" else report.notes)
    assert str(own) in conflict.fix


def test_what_is_there_and_cannot_be_imported_is_a_problem(own: Path) -> None:
    _fill(own, {})
    put(own, "flash-attn", "2.8.3", BROKEN)
    found = envs.locate("axolotl", AXOLOTL, CPU, str(own))
    assert "flash-attn 2.8.3 is there and can't be imported" in found.problems[0]
    assert "undefined symbol: _ZN3c104cuda" in found.problems[0]


def test_another_release_of_the_same_series_is_told_once(own: Path) -> None:
    _fill(own, {"axolotl": "0.19.1", "peft": "9.0"})
    found = envs.locate("axolotl", AXOLOTL, CPU, str(own))
    assert found.ready
    assert found.differences == ("axolotl is 0.19.1; the lock has 0.19.0; it may work all the same",)


def test_doctor_shows_each_conflict_with_its_fix_and_each_piece_with_its_purpose(own: Path, tmp_path: Path) -> None:
    _fill(own, {"deepspeed": "0.18.9"})
    put(own, "flash-attn", "2.8.3", BROKEN)
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from orchestrator.cli import main; main()"
    argv = [sys.executable, "-c", program, "backends", "doctor", "axolotl", "--env", str(own)]
    text, data = (
        subprocess.run([*argv, *more], cwd=tmp_path, capture_output=True, text=True, check=False)
        for more in ([], ["--json"])
    )
    assert (text.returncode, data.returncode) == (4, 4)
    lines = text.stdout.splitlines()
    problem = next(number for number, line in enumerate(lines) if line.startswith("problem: flash-attn 2.8.3"))
    assert lines[problem + 1].startswith("  fix: ")
    assert any(line.startswith("note: deepspeed 0.18.9 is there") for line in lines)
    assert any(line.startswith("  peft ") and f"lock {LOCKED['peft']}" in line for line in lines)
    report = json.loads(data.stdout)
    assert {conflict["package"] for conflict in report["conflicts"]} == {"flash-attn", "deepspeed"}
    assert report["pieces"]["flash-attn"]["found"] == "2.8.3"
    assert report["pieces"]["cut-cross-entropy"]["found"] is None
    assert "--build cut-cross-entropy" in report["pieces"]["cut-cross-entropy"]["fix"]
    assert report["pieces"]["torchvision"]["fix"] is None


def test_an_extra_that_conflicts_makes_no_environment(lock: EnvLock, house: Path) -> None:
    entry = '[[conflict]]\npackages = ["extra"]\nfound = ">=3"\nbeside = { tiny = "locked", torch = "not +cu130" }\n'
    entry += 'level = "problem"\nmessage = "{package} {found} breaks tiny {locked}"\nfix = "leave it out of {python}"\n'
    (lock.folder / "conflicts.toml").write_text(entry)
    with pytest.raises(EnvironmentMissing, match="not one that can be used") as caught:
        envs.install(lock, "one", "cpu", say=print, find_links=str(house), extras=["extra"])
    assert caught.value.details == ("extra 3.0 breaks tiny VERSION",)
    assert "without --with extra" in (caught.value.fix or "")
    assert not envs.locate("one", lock, CPU, None).ready
    assert envs.install(lock, "one", "cpu", say=print, find_links=str(house)).ready


@pytest.mark.parametrize(
    ("condition", "version", "holds"),
    [
        ("present", "1.0", True),
        ("present", None, False),
        ("missing", None, True),
        ("missing", "1.0", False),
        ("locked", "2.0+cpu", True),
        ("locked", "2.1", False),
        ("not locked", "2.1", True),
        ("not locked", None, False),
        ("+cpu", "2.0+cpu", True),
        ("+cpu", "2.0+cpu.cxx11.abi", True),
        ("+cpu", "2.0", False),
        ("not +cpu", "2.0+cu130", True),
        ("not +cpu", None, False),
        ("<2", "1.9+cu130", True),
        ("<2", "2.0", False),
        (">=2.1.dev0", "2.1.0rc1", True),
    ],
)
def test_conditions(lock: EnvLock, condition: str, version: str | None, holds: bool) -> None:
    entry = f'[[conflict]]\npackages = ["a"]\nfound = "{condition}"\nlevel = "difference"\nmessage = ""\nfix = ""\n'
    (lock.folder / "conflicts.toml").write_text(entry)
    packages = {"a": version} if version else {}
    assert bool(conflicts.seen(lock, conflicts.Place(Path(sys.executable), packages, {"a": "2.0"}))) is holds


def test_a_lock_without_the_file_knows_no_conflict(lock: EnvLock) -> None:
    assert conflicts.read(lock) == ()


def test_every_shipped_conflict_about_another_version_is_about_a_locked_package() -> None:
    known = conflicts.read(AXOLOTL)
    assert {name for entry in known if "{locked}" in entry.fix + entry.message for name in entry.packages} <= set(
        LOCKED
    )
