"""The task of a stage: each fault that a plan finds, without running a line of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.fake.adapter import FakeBackend
from orchestrator import fingerprint, inputs, recipe
from orchestrator.backend import Capabilities
from orchestrator.errors import RecipeError
from orchestrator.preflight import combinations, task
from orchestrator.preflight.data import DataLook
from orchestrator.resolve import resolve

if TYPE_CHECKING:
    from tests.conftest import Cli, MakeSpec

BASE = {"stage": "grpo", "model__path": "m"}
MINE = """\
raise SystemExit("a plan ran me")
def task(*, data: str = "rows.jsonl", strict: bool = False): ...
"""


@pytest.fixture
def mine(work: Path) -> Path:
    (work / "mine.py").write_text(MINE)
    (work / "rows.jsonl").write_text("{}\n")
    return work / "mine.py"


class NoTasks(FakeBackend):
    def capabilities(self) -> Capabilities:
        return super().capabilities().model_copy(update={"tasks": False})


def codes(spec: Any, backend: FakeBackend | None = None) -> list[str]:
    return [finding.code for finding in task.check(spec, backend or FakeBackend())]


def test_a_sound_task_needs_no_data(make_spec: MakeSpec, mine: Path) -> None:
    for name in ("qa", str(mine), f"{mine}:task"):
        spec = make_spec(**BASE, task__name=name, training__eval_steps=2)
        assert codes(spec) == []
        assert combinations.check(spec, FakeBackend()) == []


def test_an_eval_plays_a_task_instead_of_items(make_spec: MakeSpec, mine: Path) -> None:
    spec = make_spec("eval", model__path="m", task__name="mine.py")
    assert (spec.eval.metric, codes(spec), combinations.check(spec, FakeBackend())) == ("task", [], [])
    assert make_spec("eval", model__path="m", data__eval="e").eval.metric == "exact"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"task__name": "gone.py"}, "task.missing"),
        ({"task__name": "qa", "eval__metric": "exact"}, "task.metric"),
        ({"task__name": "qa", "data__eval": "e"}, "task.data"),
        ({"task__options": {"data": "x"}, "data__eval": "e"}, "task.unnamed"),
        ({"eval__metric": "task", "data__eval": "e"}, "task.unnamed"),
    ],
)
def test_each_fault_of_an_eval_is_found(make_spec: MakeSpec, mine: Path, settings: dict[str, Any], code: str) -> None:
    assert codes(make_spec("eval", model__path="m", **settings)) == [code]


def test_the_length_of_an_answer_is_the_tasks_own(make_spec: MakeSpec) -> None:
    with pytest.raises(RecipeError) as caught:
        make_spec("eval", model__path="m", task__name="qa", eval__max_new_tokens=9)
    assert "`eval.max_new_tokens` has no effect on a task" in caught.value.details[0]


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"task__name": "qqa"}, "task.missing"),
        ({"task__name": "gone.py"}, "task.missing"),
        ({"task__name": "mine.py:tsak"}, "task.function"),
        ({"task__name": "mine.py", "task__options": {"strcit": True}}, "task.option"),
        ({"task__name": "qa", "rl__reward": ["r.py:f"]}, "task.reward"),
        ({"task__name": "qa", "data__train": "d"}, "task.data"),
        ({"task__options": {"data": "x"}}, "task.unnamed"),
    ],
)
def test_each_fault_is_found(make_spec: MakeSpec, mine: Path, settings: dict[str, Any], code: str) -> None:
    assert codes(make_spec(**BASE, **settings)) == [code]


def test_a_file_that_is_no_python_is_told_with_its_line(make_spec: MakeSpec, mine: Path) -> None:
    mine.write_text("\ndef task(:\n")
    (finding,) = task.check(make_spec(**BASE, task__name=str(mine)), FakeBackend())
    assert (finding.code, finding.where) == ("task.unreadable", str(mine))
    assert "line 2" in finding.message


def test_an_engine_without_tasks_refuses(make_spec: MakeSpec) -> None:
    assert codes(make_spec(**BASE, task__name="qa"), NoTasks()) == ["task.backend"]


def test_a_recipe_names_it_beside_itself_in_short_or_long(work: Path, mine: Path) -> None:
    folder = work / "recipes"
    folder.mkdir()
    for text in ("task: ../mine.py", "task: {name: ../mine.py, options: {data: ../rows.jsonl, strict: true}}"):
        (folder / "r.yaml").write_text(f"stage: grpo\nmodel: m\n{text}\n")
        found = resolve(recipe.read(folder / "r.yaml"), 0, {})
        assert found.spec.task.name == str(mine)
    assert found.spec.task.options == {"data": str(work / "rows.jsonl"), "strict": True}
    assert found.origins["task.options.data"] == f"{folder / 'r.yaml'}:3"


def identity(make_spec: MakeSpec, name: str, data: str) -> str:
    spec = make_spec(**BASE, task__name=name, task__options={"data": data, "strict": True})
    gone_in = inputs.identify(spec, [], DataLook({}, ()), lambda _: None)
    return fingerprint.fingerprint(fingerprint.identity(spec, gone_in, {"backend": "fake"}))


def test_content_makes_the_fingerprint_and_paths_do_not(make_spec: MakeSpec, work: Path, mine: Path) -> None:
    rows = work / "rows.jsonl"
    first = identity(make_spec, str(mine), str(rows))
    moved, copied = work / "moved.py", work / "copy.jsonl"
    moved.write_text(MINE)
    copied.write_bytes(rows.read_bytes())
    assert identity(make_spec, str(moved), str(copied)) == first
    rows.write_text("{}\n{}\n")
    assert identity(make_spec, str(mine), str(rows)) != first
    mine.write_text(MINE + "# changed\n")
    assert identity(make_spec, str(mine), str(copied)) != first


def test_a_run_records_its_task(cli: Cli, base: Path, mine: Path) -> None:
    words = ("rl", "--backend", "fake", "--model", str(base), "--task", "mine.py", "--task-option", "strict=true")
    made = cli(*words, "--task-option", "data=rows.jsonl", "--max-steps", "2", "--json").json
    manifest = cli("runs", "show", made[-1]["id"], "--json").json
    options = {"strict": True, "data": str(mine.with_name("rows.jsonl"))}
    assert manifest["spec"]["task"] == {"name": str(mine), "options": options}
    assert manifest["identity"]["inputs"].keys() >= {"task", "task.options.data"}
    assert "did you mean 'strict'" in cli(*words, "--task-option", "strcit=1", code=5).err


def test_an_eval_records_its_task(cli: Cli, base: Path, mine: Path) -> None:
    words = ("eval", "--backend", "fake", "--model", str(base), "--task", "mine.py", "--task-option", "strict=true")
    (made,) = cli(*words, "--json").json
    assert made["spec"]["task"] == {"name": str(mine), "options": {"strict": True}}
    assert made["spec"]["eval"]["metric"] == "task"
    assert "task" in made["identity"]["inputs"]
    assert "a task is judged by rewards of its own" in cli(*words, "--metric", "math", code=5).err
