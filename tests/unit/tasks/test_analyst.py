"""The data analyst: its cases, its graded table to the letter, and whole episodes in the sandbox."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections import Counter, defaultdict

import pytest

from orchestrator.errors import EnvironmentMissing, UsageError
from orchestrator.sandbox import NotPlain
from orchestrator.sandbox.probe import require
from orchestrator.tasks import Episode, Task, load, play
from orchestrator.tasks.analyst.cases import TEMPLATES, Case, case
from orchestrator.tasks.analyst.grade import Attempt, Credits, grade, parsed
from orchestrator.tasks.message import Message, assistant, call
from orchestrator.tasks.policies import speaking

RIGHT, WRONG, MALFORMED = b'{"answer": 12.5}', b'{"answer": 1}', b"12.5 or so"


@pytest.mark.parametrize(
    ("worked", "repeats", "file", "earned"),
    [
        (1, 0, RIGHT, 1.0),
        (1, 9, RIGHT, 1.0),
        (1, 0, WRONG, 0.45),
        (1, 2, WRONG, 0.35),
        (1, 0, MALFORMED, 0.20),
        (1, 0, NotPlain("a link"), 0.20),
        (1, 1, MALFORMED, 0.15),
        (3, 0, None, 0.05),
        (1, 1, None, 0.0),
        (1, 8, None, 0.0),
        (0, 0, None, 0.0),
        (0, 3, RIGHT, 0.0),
    ],
)
def test_the_table(worked: int, repeats: int, file: bytes | NotPlain | None, earned: float) -> None:
    assert grade(Attempt(worked, repeats, file), 12.5, Credits()) == pytest.approx(earned)


def test_without_credits_only_the_right_number_counts() -> None:
    strict = Credits(ran_ok=0, file_exists=0, file_parses=0)
    assert [grade(Attempt(1, 0, file), 12.5, strict) for file in (RIGHT, WRONG, MALFORMED, None)] == [1, 0, 0, 0]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[1]",
        b"7",
        b'{"answer": "7"}',
        b'{"answer": true}',
        b'{"answer": NaN}',
        b'{"answer": 1e999}',
        b'{"answer": ' + b"9" * 5000 + b"}",
        b"[" * 4000,
        b"\xff\xfe",
        b'{"answer": null}',
    ],
)
def test_what_is_no_finite_number_is_malformed(content: bytes) -> None:
    assert parsed(content) is None


def recomputed(template: str, made: Case) -> float:
    """The answer again, from the file and the question's words alone."""
    if made.file == "data.csv":
        rows = list(csv.DictReader(io.StringIO(made.content)))
        if template == "filtered_sum":
            found = re.search(r"`region` is (\w+) and whose `units` is at least (\d+)", made.question)
            assert found
            region, least = found[1], int(found[2])
            kept = [r for r in rows if r["region"] == region and int(r["units"]) >= least]
            return round(sum(float(r["amount"]) for r in kept), 2)
        groups = defaultdict(list)
        for row in rows:
            groups[row["product"]].append(float(row["amount"]))
        return round(max(sum(g) / len(g) for g in groups.values()), 2)
    lines = made.content.splitlines()
    if template == "level_count":
        found = re.search(r"level (\w+) and come from the service (\w+)", made.question)
        assert found
        return sum(f" {found[1]} [{found[2]}] " in line for line in lines)
    return Counter(line.split('" ')[1].split()[0] for line in lines).most_common(1)[0][1]


@pytest.mark.parametrize("template", TEMPLATES)
def test_cases_are_seeded_and_their_answers_follow_from_the_file(template: str) -> None:
    cases = [case(template, seed) for seed in range(25)]
    assert cases == [case(template, seed) for seed in range(25)]
    assert len({c.content for c in cases}) == 25
    for made in cases:
        assert made.answer == pytest.approx(recomputed(template, made), abs=0.0051)


@pytest.fixture(scope="module")
def task() -> Task:
    try:
        require()
    except EnvironmentMissing as error:
        pytest.skip(str(error))
    return load("data_analyst")


def bash(command: str) -> Message:
    return assistant("", call("bash", "1", command=command))


def episode(task: Task, *said: Message) -> Episode:
    return asyncio.run(play(task, task.train[0], speaking(*said, assistant("Done."))))


def tools(played: Episode) -> list[str]:
    return [m["content"] for m in played.messages if m["role"] == "tool"]


def test_an_episode_climbs_the_table(task: Task) -> None:
    right = case("filtered_sum", 0).answer
    played = episode(
        task,
        bash("cat nothing"),
        bash("head -n 1 data.csv"),
        bash("cat nothing"),
        bash("echo text > answer.json"),
        bash("echo '{\"answer\": -1}' > answer.json"),
        bash(f"echo '{json.dumps({'answer': right})}' > answer.json"),
    )
    assert [given["grade"] for given in played.rewards] == pytest.approx([0, 0.05, 0, 0.15, 0.40, 1.0])
    assert (played.end, played.turns) == ("done", 6)
    assert tools(played)[:2] == [
        "cat: nothing: No such file or directory\n[exit code 1]",
        "day,region,product,units,amount",
    ]


def test_what_is_no_command_is_answered(task: Task) -> None:
    odd: Message = {"role": "assistant", "content": "", "tool_calls": [
        call("python", "1", code="1"),
        call("bash", "2"),
        {"id": "3", "function": {"name": "bash", "arguments": "{"}},
        *(call("bash", str(n), command="true") for n in range(4, 7)),
    ]}  # fmt: skip
    answers = tools(episode(task, odd))
    assert ["error" in text for text in answers] == [True, True, True, False, True, True]
    assert answers[3] == "[no output]"


def test_long_output_is_shortened_in_the_middle(task: Task) -> None:
    shown = tools(episode(task, bash("seq 100000; echo end")))[0]
    assert len(shown) < 2200
    assert shown.startswith("1\n2\n")
    assert shown.endswith("\nend")


def test_the_weaker_sandbox_must_be_named() -> None:
    assert load("data_analyst", {"sandbox": "unconfined"}).limits.max_tokens == 384
    with pytest.raises(UsageError, match="no sandbox is called 'none'"):
        load("data_analyst", {"sandbox": "none"})
