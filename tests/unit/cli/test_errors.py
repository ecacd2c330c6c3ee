"""Bad input of every command: one clear message, the right exit code, JSON when asked for, nothing left on disk."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import __version__
from orchestrator.cli import COMMANDS

if TYPE_CHECKING:
    from tests.conftest import Cli, MakeRun, Start, Write

FAKE = ("--backend", "fake")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("sfft", 2, "no command is called 'sfft'; did you mean 'sft'?"),
        ("--nonsense", 2, "No such option"),
        ("sft --nonsense", 2, "No such option"),
        ("sft --seed abc", 2, "'abc' is not a valid integer"),
        ("sft --set novalue", 2, "--set wants KEY=VALUE, not 'novalue'"),
        ("sft --set =1", 2, "--set wants KEY=VALUE, not '=1'"),
        ("sft --set trainin.seed=1 --backend fake", 2, "--set trainin.seed: unknown setting `trainin.seed`"),
        ("sft --set stage=bogus", 2, "--set stage: unknown stage 'bogus'"),
        ("sft --method lorra", 2, "--method: unknown method 'lorra'; did you mean 'lora'?"),
        ("sft --seed -1 --epochs 0", 2, "2 problems"),
        ("sft --set rl.beta=0.1", 2, "--set rl.beta: `rl.beta` has no effect in stage sft"),
        ("sft --backend tlr", 2, "no backend is called 'tlr'; did you mean 'trl'?"),
        ("sft --backend fake", 5, "2 problems; nothing was started"),
        ("sft --backend fake --model m --data none.jsonl", 3, "no such data file"),
        ("sft --backend fake --from nowhere --data d", 6, "no run is called 'nowhere'"),
        ("sft --recipe none.yaml", 2, "none.yaml: no such recipe file"),
        ("sft --recipe nope", 2, "no recipe is called 'nope'"),
        ("sft --backend fake --smoke --max-steps 9", 2, "--max-steps: `training.max_steps` and --smoke contradict"),
            ("sft --resume x --smoke", 2, "--resume takes no other setting, but smoke was given"),
        ("rl --algorithm ppo", 2, "'ppo' is not one of 'grpo', 'dpo'"),
        ("rl --recipe muse_glimmer/dpo", 2, "the recipe has no stage grpo"),
        ("merge nowhere", 6, "no run is called 'nowhere'"),
        ("merge --backend fake", 3, "stage merge has nothing to start from"),
        ("eval nowhere --data d", 6, "no run is called 'nowhere'"),
        ("run", 2, "name a recipe to run, or a run with --resume"),
        ("run nope", 2, "no recipe is called 'nope'"),
        ("run --resume nowhere", 6, "no run is called 'nowhere'"),
        ("run recipe --resume x", 2, "--resume takes no other setting, but recipe was given"),
        ("plan", 2, "Missing argument 'RECIPE'"),
        ("plan none.yaml", 2, "no such recipe file"),
        ("plan muse_glimmer/dpo --backend tlr", 2, "no backend is called 'tlr'; did you mean 'trl'?"),
        ("plan muse_glimmer/dpo --backend axolotl", 2, "backend axolotl does sft, and the recipe trains nothing"),
        ("runs show nowhere", 6, "no run is called 'nowhere'"),
        ("runs lineage nowhere", 6, "no run is called 'nowhere'"),
        ("runs path nowhere", 6, "no run is called 'nowhere'"),
        ("runs rm nowhere", 6, "no run is called 'nowhere'"),
        ("runs rm", 2, "Missing argument"),
        ("runs compare a", 2, "compare wants two runs or more"),
        ("runs list --state bogus", 2, "'bogus' is not one of"),
        ("runs nonsense", 2, "no command is called"),
        ("recipes show nope", 2, "no recipe is called 'nope'"),
        ("recipes show muse_glimmer/dpo --set training.seed=1", 2, "--set changes nothing in a recipe as written"),
        ("recipes show muse_glimmer/dpo --smoke", 2, "--smoke changes nothing in a recipe as written"),
        ("recipes show muse_glimmer/dpo --resolved --set nonsense=1", 2, "unknown setting `nonsense`"),
        ("recipes check none.yaml", 2, "no such recipe file"),
        ("recipes check", 2, "Missing argument"),
        ("backends install nope", 2, "no backend is called 'nope'"),
        ("backends doctor nope", 2, "no backend is called 'nope'"),
        ("doctor --nonsense", 2, "No such option"),
    ],
)  # fmt: skip
def test_bad_input(cli: Cli, runs: Path, work: Path, words: str, code: int, told: str) -> None:
    said = cli(*words.split(), code=code)
    assert told in said.err
    assert said.out == ""
    assert not runs.exists()
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    "words", ["sft --seed abc", "run nope", "runs show nowhere", "sft --backend fake", "eval nowhere"]
)
def test_errors_are_json_when_json_is_wanted(cli: Cli, words: str) -> None:
    code = {"sft --backend fake": 5, "runs show nowhere": 6, "eval nowhere": 6}.get(words, 2)
    error = cli(*words.split(), "--json", code=code).json["error"]
    assert error["exit_code"] == code
    assert error["message"]
    assert error["kind"].endswith(("Error", "NotFound"))


def test_every_finding_of_a_pipeline_comes_at_once_and_nothing_starts(cli: Cli, write: Write, runs: Path) -> None:
    bad = write("bad.jsonl", '{"text": "a"}\nnot json\n')
    stages = [{"stage": "sft", "model": "m", "data": str(bad)}, {"stage": "grpo", "data": "none.jsonl"}]
    path = write("p.yaml", {"defaults": {"backend": "fake"}, "stages": stages})
    err = cli("run", str(path), code=3).err
    assert "2 problems; nothing was started" in err
    assert f"[sft] {bad}:2: not JSON" in err
    assert "[grpo]" in err
    assert not runs.exists()


def test_a_recipe_error_has_file_and_line(cli: Cli, write: Write) -> None:
    path = write("r.yaml", "stage: sft\nbackend: fake\ntraining:\n  epochs: many\n")
    assert f"{path}:4: `training.epochs`: " in cli("run", str(path), code=2).err


@pytest.mark.parametrize("command", ["plan r.yaml", "run r.yaml --dry-run", "sft --recipe r.yaml --dry-run"])
@pytest.mark.parametrize("as_json", [False, True])
def test_a_plan_starts_nothing(
    cli: Cli, write: Write, runs: Path, base: Path, chat: Path, command: str, as_json: bool
) -> None:
    write("r.yaml", {"stage": "sft", "backend": "fake", "model": str(base), "data": str(chat)})
    said = cli(*command.split(), *(["--json"] if as_json else []))
    if as_json:
        (plan,) = said.json
        assert plan["argv"][1:3] == ["-m", "backends.fake.worker"]
        assert plan["native"]["files"][0]["path"] == "native/fake.json"
        assert plan["command"].startswith("PYTHONPATH=")
    else:
        assert "nothing was started" in said.out
        assert "advice [data.few_rows]" in said.out
    assert not runs.exists()


def test_what_is_planned_is_what_runs(cli: Cli, base: Path, chat: Path, runs: Path) -> None:
    words = ("sft", *FAKE, "--model", str(base), "--data", str(chat), "--output", str(runs / "fixed"), "--json")
    (plan,) = cli(*words, "--dry-run").json
    (run,) = cli(*words).json
    kept = json.loads((runs / "fixed" / "plan.json").read_text())
    for name in ("spec", "native", "fingerprint", "identity", "parents", "machine", "env"):
        assert kept[name] == plan[name], name
    assert run["fingerprint"] == plan["fingerprint"]
    assert (runs / "fixed/native/fake.json").read_text() == plan["native"]["files"][0]["content"]


def test_debug_shows_the_traceback_and_changes_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from orchestrator.cli import main

    monkeypatch.setattr(sys, "argv", ["post-train", "--debug", "run", "nope"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "Traceback" in capsys.readouterr().err
    assert "POST_TRAIN_DEBUG" not in os.environ


def test_a_fault_of_ours_is_told_as_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from orchestrator import library

    def broken() -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(library, "names", broken)
    err = cli("recipes", code=70).err
    assert "internal error: ZeroDivisionError: oops" in err
    assert "post-train --debug" in err


def test_help_and_version(cli: Cli) -> None:
    assert cli("--version").out.strip() == f"post-train, version {__version__}"
    assert "--resume" in cli("sft", "-h").out
    for name in COMMANDS:
        assert cli(name, "--help").out.startswith(f"Usage: post-train {name}")


def test_a_reader_that_goes_away_is_no_error(start: Start, make_run: MakeRun, runs: Path) -> None:
    name = "x" * 200
    text = (make_run(name) / "manifest.json").read_text()
    for n in range(500):
        (runs / f"{n}-{name}").mkdir()
        (runs / f"{n}-{name}" / "manifest.json").write_text(text)
    child = start("runs", "list", "--all")
    assert child.stdout is not None
    child.stdout.readline()
    child.stdout.close()
    child.stdout = None
    _, err = child.communicate(timeout=120)
    assert "Traceback" not in err
    assert "Exception" not in err


def test_ctrl_c_while_planning_is_a_quiet_stop(start: Start, work: Path, base: Path, runs: Path) -> None:
    data = work / "slow.jsonl"
    data.write_text('{"text": "a"}\n' * 3_000_000)
    child = start("sft", *FAKE, "--model", str(base), "--data", str(data))
    assert child.stderr is not None
    assert "checking data" in child.stderr.readline()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert (child.returncode, err.splitlines()[-1:]) == (130, ["stopped"])
    assert not runs.exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("recipes", "--json"), list),
        (("runs", "list", "--json"), list),
        (("recipes", "schema"), dict),
        (("backends", "--json"), dict),
    ],
)
def test_json_is_json_and_nothing_else(cli: Cli, words: tuple[str, ...], expected: type) -> None:
    found: Any = cli(*words).json
    assert isinstance(found, expected)


def test_shipped_recipes_are_listed_shown_and_checked(cli: Cli) -> None:
    rows = cli("recipes", "--json").json
    assert rows
    for row in rows:
        assert cli("recipes", "show", row["name"]).out == Path(row["path"]).read_text(encoding="utf-8")
        assert "# " in cli("recipes", "show", row["name"], "--resolved").out
    assert cli("recipes", "check", *(row["name"] for row in rows)).out.count("no problem") == len(rows)


def test_a_dry_run_exits_as_the_run_would_be_refused(cli: Cli, base: Path, chat: Path, runs: Path) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--dry-run", "--json")
    assert cli(*words, "--data", str(chat)).json[0]["argv"]
    told = cli(*words, "--data", "nowhere.jsonl", code=3).json
    assert told[0]["findings"][0]["code"] == "data.fault"
    assert not runs.exists()


def test_an_empty_environment_is_an_unset_variable(cli: Cli, base: Path, chat: Path) -> None:
    said = cli("sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--env", "", code=2)
    assert "--env: it is empty" in said.err


def test_the_fix_finds_the_run_it_names(cli: Cli, base: Path, chat: Path, runs: Path, work: Path) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--set", "native.die_at=2")
    assert f"--resume {base.name}-sft-" in (here := cli(*words, code=8).err)
    assert "--runs" not in here
    said = cli(*words, "--runs", "some where", code=8).err
    assert f"--runs '{work / 'some where'}'" in said


@pytest.mark.parametrize("words", ["run", "plan"])
def test_a_disk_that_would_fill_up_has_the_code_of_a_full_one(
    cli: Cli, write: Write, base: Path, chat: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    stage = {"stage": "sft", "backend": "fake", "model": str(base), "data": str(chat)}
    said = cli(words, str(write("p.yaml", stage)), code=7)
    assert "are free" in said.out + said.err


def test_missing_data_is_told_with_what_every_command_takes(cli: Cli, write: Write) -> None:
    path = write("p.yaml", {"stage": "sft", "backend": "fake", "model": "m"})
    err = cli("run", str(path), code=3).err
    assert "--set data.train=FILE" in err
    assert "--data" not in err
