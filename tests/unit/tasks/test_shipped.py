"""The tasks that come along: what they reward, what they refuse."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from orchestrator.errors import DataError, EnvironmentMissing, UsageError
from orchestrator.tasks import load, play
from orchestrator.tasks.checking import check
from orchestrator.tasks.maths.boxed import last_boxed
from orchestrator.tasks.maths.result import number
from orchestrator.tasks.maths.verify import verifier
from orchestrator.tasks.message import assistant, call
from orchestrator.tasks.policies import speaking
from orchestrator.tasks.retrieval.index import Index
from orchestrator.tasks.retrieval.passages import Passage, read_passages
from orchestrator.tasks.retrieval.server import Server
from orchestrator.tasks.shipped.alphabet_sort import likeness
from orchestrator.tasks.shipped.search_r1 import ROWS, plain
from orchestrator.tasks.trial import attempt


@pytest.mark.parametrize("name", ["qa", "alphabet_sort", "dapo_math", "search_r1"])
def test_each_would_teach_something(name: str) -> None:
    made = load(name, {"verifier": "numbers"} if name == "dapo_math" else {})
    found = asyncio.run(check(made, 8))
    assert found.problems == ()
    assert len(found.trials) == 3 * (8 + min(8, len(made.validation)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"so \boxed{41}, no, \boxed{42}.", "42"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{7} and \boxed{ unclosed", "7"),
        ("42", None),
        (r"\boxed 42", None),
    ],
)
def test_the_last_complete_box_holds_the_answer(text: str, found: str | None) -> None:
    assert last_boxed(text) == found


def test_plain_numbers_are_compared_exactly() -> None:
    same = verifier("numbers")
    assert same("1/2", "0.5")
    assert same("1000", "$1,000$")
    assert not same("0.3333333333", "1/3")
    assert not same("5", "five")
    assert [number(text) for text in ("1e999999999", "1/0", "--1", "", "1/2/3", "9" * 300)] == [None] * 6
    assert [number(text) for text in ("-.5", "+7.", "3 / 4")] == [Fraction(-1, 2), 7, Fraction(3, 4)]
    with pytest.raises(UsageError):
        verifier("sympy")


def test_math_verify_is_never_replaced_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EnvironmentMissing, match="pip install math-verify"):
        load("dapo_math")


def test_dapos_own_rows_are_read(tmp_path: Path) -> None:
    row = {"prompt": [{"role": "user", "content": "1+1?"}], "reward_model": {"ground_truth": "2", "style": "rule"}}
    file = tmp_path / "dapo.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps({"problem": "2+2?", "answer": 4}) + "\n")
    made = load("dapo_math", {"data": str(file), "verifier": "numbers"})
    assert [s.data for s in made.train] == [{"problem": "1+1?", "answer": "2"}, {"problem": "2+2?", "answer": "4"}]
    file.write_text('{"problem": "x"}\n')
    with pytest.raises(DataError) as raised:
        load("dapo_math", {"data": str(file), "verifier": "numbers"})
    assert raised.value.where == f"{file}:1"


def test_likeness_grows_with_order() -> None:
    right = ["Ada", "Bao", "Chen", "Edith"]
    said = ["nothing", "<sorted>\nEdith\nChen\nBao\nAda\n</sorted>", "<sorted>Ada\nBao\nEdith\nChen</sorted>"]
    values = [likeness(text, right) for text in (*said, "<sorted>\nAda\n Bao\nChen\nEdith\n</sorted>")]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.0, 1.0)


def test_the_index_finds_by_rare_words() -> None:
    index = Index([Passage("1", "the cat sat"), Passage("2", "a cat and a heron"), Passage("3", "the dog")])
    assert [hit.passage.id for hit in index.search("Heron cat?", 3)] == ["2", "1"]
    assert index.search("zebra", 3) == []


def test_most_answers_are_among_what_one_search_gives() -> None:
    made, index = load("search_r1"), Index(read_passages(ROWS / "passages.jsonl"))
    asked = [(s.data["question"], s.data["answers"]) for s in (*made.train, *made.validation)]
    found = sum(any(a in hit.passage.contents for hit in index.search(q, 3) for a in answers) for q, answers in asked)
    assert found / len(asked) > 0.8


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(Index([Passage("7", '"Owls"\nOwls are birds.')]), 0) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_the_server_speaks_search_r1s_interface(server: Server) -> None:
    body = json.dumps({"queries": ["owls", "x"], "topk": 3, "return_scores": True}).encode()
    with urllib.request.urlopen(urllib.request.Request(server.url, body)) as answer:
        result = json.load(answer)["result"]
    assert result[0][0]["document"] == {"id": "7", "contents": '"Owls"\nOwls are birds.'}
    assert result[0][0]["score"] > 0
    assert result[1] == []
    with pytest.raises(urllib.error.HTTPError, match="422") as refused:
        urllib.request.urlopen(urllib.request.Request(server.url, b"{"))
    refused.value.close()


def test_a_task_can_search_by_the_server_even_behind_a_proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    made = load("search_r1", {"url": server.url})
    policy = speaking(assistant("", call("search", "1", query="owls")), assistant("<answer>x</answer>"))
    played = asyncio.run(play(made, made.train[0], policy))
    assert played.messages[3]["content"] == '"Owls"\nOwls are birds.'


def test_a_missing_server_stops_the_run_by_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    made = load("search_r1", {"url": f"http://127.0.0.1:{port}/retrieve"})
    with pytest.raises(EnvironmentMissing, match="post-train tasks serve"):
        asyncio.run(attempt(made, made.train[0], "reference"))
    with pytest.raises(UsageError):
        load("search_r1", {"url": "file:///etc/passwd"})


def test_answers_are_compared_in_their_plain_form() -> None:
    assert plain("  The  Black-Oller. ") == "blackoller"
    assert plain("An apple, a pear") == "apple pear"
