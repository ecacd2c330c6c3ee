"""`post-train backends` and `post-train doctor`, called as a user calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def _call(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from orchestrator.cli import main; main()"
    return subprocess.run([sys.executable, "-c", program, *words], cwd=cwd, capture_output=True, text=True, check=False)


def _json(*words: str, cwd: Path, code: int = 0) -> dict[str, Any]:
    done = _call(*words, cwd=cwd)
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_list_tells_what_each_can_do_and_how_to_install_it(tmp_path: Path) -> None:
    rows = {row["name"]: row for row in _json("backends", "--json", cwd=tmp_path)["backends"]}
    assert set(rows["trl"]["stages"]) == {"sft", "dpo", "grpo"}
    assert set(rows["hf"]["stages"]) == {"merge", "eval", "verify"}
    assert not rows["trl"]["ready"]
    assert rows["fake"]["environment"] is None
    text = _call("backends", cwd=tmp_path).stdout
    assert "post-train backends install trl" in text


def test_a_backend_without_environment_needs_no_installation(tmp_path: Path) -> None:
    assert _json("backends", "install", "fake", "--json", cwd=tmp_path)["ready"] is True
    assert _call("backends", "path", "fake", cwd=tmp_path).stdout.strip() == sys.executable


def test_doctor_of_what_is_not_installed_exits_4_with_the_command(tmp_path: Path) -> None:
    report = _json("backends", "doctor", "trl", "--variant", "cpu", "--json", cwd=tmp_path, code=4)
    assert report["problems"] == ["not installed (cpu variant)"]
    assert report["fix"] == "post-train backends install trl --variant cpu"
    done = _call("backends", "path", "trl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    assert "post-train backends install trl" in done.stderr


def test_doctor_of_the_core_interpreter_names_what_is_missing(tmp_path: Path) -> None:
    done = _call("backends", "doctor", "trl", "--env", "current", cwd=tmp_path)
    assert done.returncode == 4
    assert "problem: transformers is missing; the lock has" in done.stdout


def test_an_unknown_backend_is_a_usage_error(tmp_path: Path) -> None:
    done = _call("backends", "install", "tlr", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'trl'" in done.stderr


def test_doctor_looks_at_everything(tmp_path: Path, cache: Path) -> None:
    report = _json("doctor", "--json", cwd=tmp_path)
    checks = {check["name"]: check for check in report["checks"]}
    assert report["usable"] is True
    assert {"post-train", "machine", "installer", "cache", "runs", "trl", "hf", "fake"} <= set(checks)
    assert str(cache) in checks["cache"]["text"]
    assert checks["trl"]["fix"] == "post-train backends install trl"


def test_doctor_fails_on_a_runs_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    report = _json("doctor", "--runs", str(tmp_path / "file" / "runs"), "--json", cwd=tmp_path, code=7)
    assert report["usable"] is False
    runs = next(check for check in report["checks"] if check["name"] == "runs")
    assert "--runs FOLDER" in runs["fix"]
