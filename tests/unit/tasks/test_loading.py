"""Tasks by name and by file, with options."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import TaskError
from orchestrator.tasks import load
from orchestrator.tasks.loading import find, shipped, summary

HEAD = """\
from orchestrator.tasks import *
async def score(episode): return 1.0
def task(count: int = 2, strict: bool = False, prefix: str = 'x') -> Task:
    rows = [Sample(f'{prefix}{n}', {'n': n, 'strict': strict}) for n in range(count)]
    return Task('own', rows[1:], rows[:1], lambda sample: None, [Reward('one', score)])
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "own.py"
    file.write_text(HEAD)
    return file


@pytest.mark.parametrize("name", shipped())
def test_what_comes_along_says_what_it_is(name: str) -> None:
    assert find(name).file.is_file()
    assert 20 < len(summary(find(name).file)) < 110


def test_options_take_the_parameters_types(own: Path) -> None:
    made = load(str(own), {"count": "5", "strict": "yes", "prefix": "p"})
    assert [s.id for s in made.train] == ["p1", "p2", "p3", "p4"]
    assert made.train[0].data["strict"] is True


def test_another_function_is_named_behind_the_file(own: Path) -> None:
    own.write_text(HEAD + "def small():\n    return task(3)\n")
    assert len(load(f"{own}:small").train) == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"count": "many"}, "'count' takes int, not 'many'"),
        ({"strict": "maybe"}, "'strict' takes bool"),
        ({"cuont": "1"}, "did you mean 'count'"),
    ],
)
def test_options_that_mean_nothing_are_refused(own: Path, options: dict[str, str], told: str) -> None:
    with pytest.raises(TaskError) as raised:
        load(str(own), options)
    assert told in str(raised.value)
    assert raised.value.where == f"{own}:3"


@pytest.mark.parametrize(
    ("written", "line", "told"),
    [
        ("import nothing_of_that_name\n", 1, "ModuleNotFoundError"),
        ("\ndef task(:\n", 2, "SyntaxError"),
        ("def task():\n    raise KeyError('k')\n", 2, "KeyError"),
        ("def task():\n    return 3\n", 1, "returned int, not a Task"),
    ],
)
def test_a_file_that_fails_is_told_with_its_line(own: Path, written: str, line: int, told: str) -> None:
    own.write_text(written)
    with pytest.raises(TaskError, match=told) as raised:
        load(str(own))
    assert raised.value.where == f"{own}:{line}"


def test_unknown_names_get_the_nearest(own: Path) -> None:
    with pytest.raises(TaskError, match="did you mean 'task'"):
        load(f"{own}:tsak")
    with pytest.raises(TaskError, match="'qa'"):
        load("qaa")
    with pytest.raises(TaskError, match="doesn't exist"):
        load("missing.py")
