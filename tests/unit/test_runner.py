"""Runs of the fake engine, a real process: how they end, and what they leave when they are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import process
from orchestrator.plan import load_plan
from orchestrator.store import Run, Store

if TYPE_CHECKING:
    from tests.conftest import Cli, Said, Start, Write
    from tests.unit.conftest import Replan

Sft = Callable[..., "Said"]


def words(base: Path, chat: Path, **native: Any) -> list[str]:
    given = ["sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--name", "t"]
    return [*given, *(w for k, v in native.items() for w in ("--set", f"native.{k}={json.dumps(v)}"))]


@pytest.fixture
def sft(cli: Cli, base: Path, chat: Path) -> Sft:
    def call(*more: str, code: int = 0, **native: Any) -> Said:
        return cli(*words(base, chat, **native), *more, code=code)

    return call


def only(runs: Path) -> Run:
    return Store(runs).find("t")


def until(done: Callable[[], object], child: subprocess.Popen[str] | None = None, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it never happened"
        assert child is None or child.poll() is None, child.communicate() if child else ""
        time.sleep(0.02)


def trains(runs: Path) -> bool:
    return any(b'"step"' in path.read_bytes() for path in runs.glob("t-*/attempts/*/events.jsonl"))


def worker_of(orchestrator: int) -> int:
    import psutil

    below = psutil.Process(orchestrator).children(recursive=True)
    return next(p.pid for p in below if p.cmdline()[1:3] == ["-m", "backends.fake.worker"])


def test_a_run_succeeds_and_remembers_everything(sft: Sft, runs: Path, base: Path, cli: Cli) -> None:
    said = sft("--json")
    (shown,) = said.json
    run = only(runs)
    m = run.manifest
    assert (m.state, m.id, shown["id"], shown["state"]) == ("SUCCEEDED", run.path.name, run.path.name, "SUCCEEDED")
    (adapter,) = m.artifacts
    assert (adapter.kind, adapter.base, adapter.dtype, adapter.facts) == (
        "adapter",
        str(base),
        "float32",
        {"tensors": 1},
    )
    assert [f.path for f in adapter.files] == ["adapter_config.json", "adapter_model.safetensors"]
    assert m.metrics["loss"] > 0
    assert m.origins["data.train"] == "--data"
    (attempt,) = m.attempts
    assert (attempt.exit_code, attempt.state, attempt.resumed) == (0, "SUCCEEDED", False)
    assert {"spec.json", "plan.json", "native", "attempts", "artifacts", "manifest.json"} <= {
        p.name for p in run.path.iterdir()
    }
    assert (runs / "latest").resolve() == run.path
    assert cli("runs", "path", "t").out.strip() == str(run.path / "artifacts" / "adapter")


@pytest.mark.parametrize(
    ("native", "code", "words_said", "state"),
    [
        ({"silent": True}, 8, "exited with code 0 without saying that it is done", "FAILED"),
        ({"silent": True, "exit_code": 3}, 8, "ended with exit code 3 and gave no reason", "FAILED"),
        ({"die_at": 2}, 8, "killed (signal 9) without a word", "FAILED"),
        ({"hollow": True}, 9, "left no adapter: adapter_config.json, adapter_model.safetensors not found", "FAILED"),
        ({"fail": 2}, 8, "fake.failure: told to fail at step 2", "FAILED"),
        ({"silent": True, "exit_code": 75}, 130, "stopped", "INTERRUPTED"),
    ],
)  # fmt: skip
def test_a_bad_end_is_told_and_kept(
    sft: Sft, runs: Path, native: dict[str, Any], code: int, words_said: str, state: str
) -> None:
    said = sft(code=code, **native)
    assert words_said in said.err
    assert "post-train run --resume" in said.err or "fix: do not ask for it" in said.err
    m = only(runs).manifest
    assert (m.state, m.artifacts) == (state, ())
    assert (m.failure is not None) == (state == "FAILED")
    assert m.attempts[0].ended


def test_a_bad_end_is_json_when_json_is_wanted(sft: Sft) -> None:
    error = sft("--json", code=8, fail=1).json["error"]
    assert (error["kind"], error["exit_code"]) == ("WorkerFailed", 8)
    assert "why: a test wants it" in error["message"]


def test_garbage_in_the_event_file_is_passed_over_and_told(sft: Sft, runs: Path) -> None:
    sft(garbage=True)
    m = only(runs).manifest
    assert m.state == "SUCCEEDED"
    assert m.warnings == ("events.garbage: 4 lines of the event file were no events",)


def test_a_setting_that_the_engine_stumbles_over_is_named_with_its_place(
    cli: Cli, base: Path, chat: Path, write: Write
) -> None:
    """A resume can't help: a resumed run keeps its settings."""
    native = {"surprise": ["'cosine' is no scheduler,", *["and so on"] * 300]}
    stage = {"stage": "sft", "backend": "fake", "model": str(base), "data": str(chat), "native": native}
    recipe = write("r.yaml", {"name": "t", **stage, "training": {"lr_scheduler": "cosine", "learning_rate": 1e-4}})
    said = cli("run", str(recipe), code=8).err
    assert f"training.lr_scheduler: 'cosine' ({recipe}:{line_of(recipe, 'lr_scheduler: cosine')})" in said
    assert " [...]\n" in said
    assert "fix: correct the setting and start a new run" in said
    assert "--resume" not in said


def line_of(file: Path, text: str) -> int:
    return next(n for n, line in enumerate(file.read_text().splitlines(), 1) if text in line)


def test_a_stumble_over_nothing_that_was_set_may_be_resumed(sft: Sft) -> None:
    said = sft(code=8, surprise=["Address already", "in use"]).err
    assert "mend what it names, then post-train run --resume t-sft-" in said


def test_a_failed_run_can_be_resumed_once_mended(sft: Sft, runs: Path, cli: Cli) -> None:
    sft(code=8, die_at=3)
    cli("sft", "--resume", "t")
    m = only(runs).manifest
    assert (m.state, m.failure, [a.resumed for a in m.attempts]) == ("SUCCEEDED", None, [False, True])
    lines = (only(runs).path / "attempts/002/events.jsonl").read_text().splitlines()
    steps = [json.loads(line).get("step") for line in lines]
    assert [s for s in steps if s] == [3, 4, 5]


def test_what_only_an_earlier_attempt_logged_is_kept(sft: Sft, runs: Path, cli: Cli) -> None:
    """A run that is resumed at its last step logs no loss any more."""
    sft(code=8, die_at=3)
    with (only(runs).path / "attempts/001/events.jsonl").open("a") as events:
        events.write(json.dumps({"type": "step", "step": 2, "metrics": {"loss": 9.0, "eval_loss": 0.25}}) + "\n")
    cli("sft", "--resume", "t")
    assert only(runs).manifest.metrics["eval_loss"] == 0.25
    assert only(runs).manifest.metrics["loss"] < 9


@pytest.mark.parametrize("role", ["data.train", "model"])
def test_a_run_whose_inputs_changed_is_not_resumed(
    role: str, sft: Sft, runs: Path, base: Path, chat: Path, cli: Cli
) -> None:
    sft(code=8, die_at=3)
    file = {"data.train": chat, "model": base / "config.json"}[role]
    before = file.read_bytes()
    file.write_bytes(before + b" ")
    said = cli("run", "--resume", only(runs).id, code=3)
    assert f"{role} changed since the run was planned" in said.err
    file.unlink()
    assert f"{role} changed" in cli("run", "--resume", only(runs).id, code=3).err
    file.write_bytes(before)
    cli("run", "--resume", only(runs).id)


def test_a_finished_run_is_not_resumed(sft: Sft, runs: Path, cli: Cli) -> None:
    sft()
    before = only(runs).manifest
    assert "is finished" in cli("run", "--resume", "t", code=2).err
    assert only(runs).manifest == before


@pytest.mark.parametrize("more", [("--seed", "0"), ("--set", "training.seed=1"), ("--name", "x"), ("--dry-run",)])
def test_resume_takes_no_other_setting(cli: Cli, more: tuple[str, ...]) -> None:
    assert "--resume takes no other setting" in cli("sft", "--resume", "t", *more, code=2).err


def test_an_empty_resume_never_starts_a_new_run(sft: Sft, runs: Path) -> None:
    sft("--resume", "", code=2)
    assert not runs.exists()


def test_the_output_folder_is_never_overwritten(sft: Sft, work: Path, runs: Path, cli: Cli) -> None:
    (work / "out").mkdir()
    assert "exists already" in sft("--output", "out", code=6).err
    assert list((work / "out").iterdir()) == []
    sft("--output", "fresh")
    assert only(runs).path == work / "fresh"
    assert cli("runs", "list").out.count("SUCCEEDED") == 1
    assert cli("runs", "rm", "t").out.startswith("removed t-sft-")
    assert not (work / "fresh").exists()


def test_a_read_only_runs_folder(start: Start, runs: Path, base: Path, chat: Path) -> None:
    runs.mkdir(mode=0o500)
    child = start(*words(base, chat), obedient=True)
    _, err = child.communicate(timeout=120)
    runs.chmod(0o700)
    assert child.returncode == 7
    assert "can't write: Permission denied" in err
    assert "fix: name a writable folder with --runs" in err
    assert "Traceback" not in err
    assert list(runs.iterdir()) == []


def test_the_manifest_says_running_before_the_worker_starts(
    sft: Sft, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []
    begin = process.Child.__init__

    def look(self: process.Child, *args: Any, **more: Any) -> None:
        (folder,) = runs.glob("t-*")
        seen.append(json.loads((folder / "manifest.json").read_text()))
        assert (folder / "plan.json").exists()
        assert (folder / "native" / "fake.json").exists()
        begin(self, *args, **more)

    monkeypatch.setattr(process.Child, "__init__", look)
    sft()
    assert [(s["state"], [a["state"] for a in s["attempts"]]) for s in seen] == [("RUNNING", ["RUNNING"])]


def test_a_vanished_interpreter_is_named(sft: Sft, runs: Path, cli: Cli, replan: Replan) -> None:
    sft(code=8, die_at=3)
    replan(only(runs).path, str(load_plan(only(runs).path).env.python), "/nowhere/python")
    assert "the environment's Python is gone" in cli("run", "--resume", "t", code=4).err
    assert only(runs).manifest.state in ("INTERRUPTED", "FAILED")


def test_once_to_stop_and_save(start: Start, runs: Path, base: Path, chat: Path, cli: Cli, replan: Replan) -> None:
    child = start(*words(base, chat, seconds_per_step=0.05, steps=400))
    until(lambda: trains(runs), child)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 130, err
    assert "saving a checkpoint" in err
    assert "post-train run --resume t-sft-" in err
    assert "Traceback" not in out + err
    m = only(runs).manifest
    assert (m.state, m.attempts[0].exit_code) == ("INTERRUPTED", 75)
    replan(only(runs).path, '"seconds_per_step": 0.05', '"seconds_per_step": 0')
    cli("run", "--resume", "latest")
    assert only(runs).manifest.state == "SUCCEEDED"


def test_twice_to_end_at_once(start: Start, runs: Path, base: Path, chat: Path) -> None:
    child = start(*words(base, chat, seconds_per_step=0.2, steps=400, ignore_stop=True))
    until(lambda: trains(runs), child)
    worker = worker_of(child.pid)
    child.send_signal(signal.SIGINT)
    until(lambda: any(runs.glob("t-*/attempts/001/stop")), child)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 130, err
    assert not process.alive(worker)
    m = only(runs).manifest
    assert (m.state, m.attempts[0].exit_code) == ("INTERRUPTED", -9)


def test_a_killed_orchestrator_leaves_no_worker_and_a_resumable_run(
    start: Start, runs: Path, base: Path, chat: Path, cli: Cli, replan: Replan
) -> None:
    child = start(*words(base, chat, seconds_per_step=0.1, steps=40))
    until(lambda: trains(runs), child)
    worker = worker_of(child.pid)
    child.kill()
    child.communicate()
    assert json.loads((only(runs).path / "manifest.json").read_text())["state"] == "RUNNING"
    assert "INTERRUPTED" in cli("runs", "list").out
    until(lambda: not process.alive(worker), seconds=60)
    replan(only(runs).path, '"seconds_per_step": 0.1', '"seconds_per_step": 0')
    cli("sft", "--resume", "t")
    assert only(runs).manifest.state == "SUCCEEDED"


def test_a_resume_right_after_a_kill_waits_for_the_worker_that_was_left_behind(
    start: Start, runs: Path, base: Path, chat: Path, cli: Cli
) -> None:
    child = start(*words(base, chat, seconds_per_step=1.5, steps=3))
    until(lambda: trains(runs), child)
    worker = worker_of(child.pid)
    child.kill()
    child.communicate()
    told = cli("sft", "--resume", "t").err
    assert not process.alive(worker)
    assert "waiting for it to stop" in told
    m = only(runs).manifest
    assert [a.state for a in m.attempts] == ["INTERRUPTED", "SUCCEEDED"]
    first, second = (read_events(only(runs).path, number) for number in (1, 2))
    assert not {e["step"] for e in first} & {e["step"] for e in second}


def read_events(folder: Path, attempt: int) -> list[dict[str, Any]]:
    """Step events of one attempt."""
    lines = (folder / "attempts" / f"{attempt:03d}" / "events.jsonl").read_text().splitlines()
    return [event for line in lines if (event := json.loads(line))["type"] == "step"]


def test_a_kill_after_the_work_and_before_the_record_loses_nothing(sft: Sft, runs: Path, cli: Cli) -> None:
    sft()
    path = only(runs).path / "manifest.json"
    raw = json.loads(path.read_text())
    raw |= {"state": "RUNNING", "artifacts": []}
    path.write_text(json.dumps(raw))
    cli("run", "--resume", "t")
    assert (only(runs).manifest.state, len(only(runs).manifest.artifacts)) == ("SUCCEEDED", 1)


def test_two_resumes_of_one_run_are_one(sft: Sft, start: Start, runs: Path) -> None:
    sft(code=8, die_at=3, seconds_per_step=0.1)
    both = [start("run", "--resume", "t"), start("run", "--resume", "t")]
    ended = [(child.communicate(timeout=120)[1], child.returncode) for child in both]
    codes = sorted(code for _, code in ended)
    assert codes in ([0, 2], [0, 6]), ended
    m = only(runs).manifest
    assert (m.state, len(m.attempts)) == ("SUCCEEDED", 2)


def test_a_run_that_is_busy_is_refused(start: Start, runs: Path, base: Path, chat: Path, cli: Cli) -> None:
    child = start(*words(base, chat, seconds_per_step=0.1, steps=400))
    until(lambda: trains(runs), child)
    assert f"another process (pid {child.pid}) is working on this run" in cli("run", "--resume", "t", code=6).err
    assert "is running" in cli("runs", "rm", "t", code=6).err
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=120)
    assert only(runs).manifest.state == "INTERRUPTED"
    assert os.environ["POST_TRAIN_RUNS"] == str(runs)


def test_a_stop_that_comes_too_late_for_a_stage_stops_before_the_next(
    start: Start, runs: Path, base: Path, chat: Path, write: Write
) -> None:
    slow = {"ignore_stop": True, "seconds_per_step": 0.1, "steps": 5}
    stages = [{"stage": "sft", "model": str(base), "data": str(chat), "native": slow}, {"stage": "merge"}]
    child = start("run", str(write("p.yaml", {"name": "t", "defaults": {"backend": "fake"}, "stages": stages})))
    until(lambda: trains(runs), child)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 130, err
    assert "stopped before merge" in err
    assert [row.state for row in Store(runs).rows()] == ["SUCCEEDED"]
