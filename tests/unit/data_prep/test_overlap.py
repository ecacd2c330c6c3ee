"""Evaluation items found in training data, and what only looks like them."""

from __future__ import annotations

from typing import Any

from data_prep.overlap import SAME, Items

LONG = "the quick brown fox jumps over the lazy dog and then it sleeps under a very old tree"


def turns(*texts: str) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


def held(items: list[dict[str, Any]], row: dict[str, Any]) -> dict[int, str]:
    found: dict[int, str] = {}
    for number, how in Items(items).within(row):
        found.setdefault(number, how)
    return found


def test_the_same_question_in_every_form() -> None:
    question = {"prompt": "What is  2+2?", "answer": "4"}
    for row in (
        {"messages": turns("what is 2+2?", "4")},
        {"messages": [{"role": "system", "content": "Be brief."}, *turns("What is 2+2?", "4")]},
        {"messages": turns("hi", "hello", "x", "y")} | {"messages": turns("WHAT IS 2+2?", "4", "thanks", "welcome")},
        {"prompt": turns("what is 2+2?")},
        {"prompt": "what is 2+2?", "completion": "4"},
        {"chosen": turns("What is 2+2?", "4"), "rejected": turns("What is 2+2?", "5")},
    ):
        assert held([question], row) == {0: SAME}


def test_the_same_greeting_is_no_leak() -> None:
    item = {"messages": turns("hi", "hello", "What is 2+2?", "4")}
    assert held([item], {"messages": turns("hi", "hello")}) == {}
    assert held([item], {"messages": turns("hi", "hello", "What is 2+2?", "4")}) == {0: SAME}


def test_a_run_of_words_is_a_leak_and_names_them() -> None:
    item = {"prompt": f"Complete: {LONG}.", "answer": "x"}
    found = held(
        [{"prompt": "other", "answer": "x"}, item], {"messages": turns("Tell me a story", f"Once {LONG.upper()}!")}
    )
    assert list(found) == [1]
    assert "quick brown fox" in found[1]


def test_words_that_many_items_share_are_their_form() -> None:
    items = [{"prompt": f"{LONG} {number}", "answer": "x"} for number in range(10)]
    assert held(items, {"messages": turns(f"{LONG} 77", "x")}) == {}
    assert held(items, {"messages": turns(f"{LONG} 7", "x")}) == {7: SAME}


def test_an_empty_question_matches_nothing() -> None:
    assert held([{"prompt": "", "answer": "x"}], {"messages": [{"role": "assistant", "content": "x"}]}) == {}
