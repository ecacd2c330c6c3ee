"""Questions that want searching: a search tool over passages, graded by exact match of the answer."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import Any

from orchestrator.errors import DataError
from orchestrator.tasks import (
    Environment,
    Episode,
    Limits,
    Message,
    Opening,
    Policy,
    Reply,
    Reward,
    Sample,
    Task,
    read_rows,
    split,
)
from orchestrator.tasks.message import Call, answer, assistant, call, calls, system, tool, user
from orchestrator.tasks.policies import speaking
from orchestrator.tasks.retrieval.client import Search, at, inside
from orchestrator.tasks.retrieval.index import Index
from orchestrator.tasks.retrieval.passages import read_passages

ROWS = Path(__file__).resolve().parents[3] / "recipes" / "tasks" / "search_r1"
SEARCH = tool("search", "Search the passages. Gives the best ones.", query="What to look for, in a few words.")
_SYSTEM = (
    "Answer the question. You can call the tool `search` as often as you need to. When you know the answer, write it "
    "between <answer> and </answer>, without explanation, for example <answer>Lisbon</answer>."
)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
CHARACTERS = 2000
"""Of one search's passages that the model is shown."""


class SearchQa(Environment):
    """Searches until the model answers in words."""

    def __init__(self, sample: Sample, search: Search) -> None:
        self._question, self._search = sample.data["question"], search

    async def init(self) -> Opening:
        return Opening([system(_SYSTEM), user(self._question)], [SEARCH])

    async def step(self, message: Message) -> Reply:
        asked = calls(message)
        if not asked:
            return Reply(done=True)
        return Reply([answer(one, await self._found(one)) for one in asked])

    async def _found(self, one: Call) -> str:
        query = one.arguments.get("query")
        if one.fault or one.name != "search":
            return f"error: {one.fault or f'there is no tool {one.name!r}, only search'}"
        if not isinstance(query, str) or not query.strip():
            return "error: `query` must be a text that isn't empty"
        passages = await self._search(query)
        return "\n\n".join(passages)[:CHARACTERS] or "nothing found"


async def exact(episode: Episode) -> float:
    """1 when the last answer, without case, articles and punctuation, is one of the right ones."""
    given = _ANSWER.findall(episode.answer)
    right = episode.sample.data["answers"]
    return float(bool(given) and plain(given[-1]) in {plain(one) for one in right})


def plain(text: str) -> str:
    """The usual form for exact match of short answers."""
    bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def solved(sample: Sample) -> Policy:
    """Searches for the question once, and knows the answer."""
    last = assistant(f"<answer>{sample.data['answers'][0]}</answer>")
    return speaking(assistant("", call("search", "1", query=sample.data["question"])), last)


def _samples(path: str) -> list[Sample]:
    """Rows of Search-R1 or alike: a question, and its right answers under any of their usual names.

    Raises:
        DataError: a row without an answer.
    """
    return [Sample(row.id, _known(row, path)) for row in read_rows(path, "question")]


def _known(row: Sample, path: str) -> dict[str, Any]:
    given: Any = next((row.data[name] for name in ("golden_answers", "answers", "answer") if row.data.get(name)), [])
    answers = [str(one) for one in (given if isinstance(given, list) else [given])]
    if not answers:
        where = f"{path}:{row.id.rpartition(':')[2]}"
        raise DataError("no golden_answers, answers or answer", where=where, fix="give every question its answer")
    return {"question": row.data["question"], "answers": answers}


def task(
    *,
    data: str = str(ROWS / "questions.jsonl"),
    passages: str = str(ROWS / "passages.jsonl"),
    url: str = "",
    topk: int = 3,
    max_turns: int = 4,
) -> Task:
    """Options: questions with answers; the passages, or `url` of a retrieval server; passages that a search gives."""
    search = at(url, topk) if url else inside(Index(read_passages(passages)), topk)
    train, validation = split(_samples(data), share=0.15, key="question")
    return Task(
        name="search_r1",
        train=train,
        validation=validation,
        environment=lambda sample: SearchQa(sample, search),
        rewards=[Reward("exact", exact)],
        limits=Limits(max_turns=max_turns, max_tokens=512, context=4096),
        reference=solved,
    )
