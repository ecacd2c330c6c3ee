"""The eval stage of a task: every model plays the same validation samples, one model in memory at a time."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.hf import report, worker_publish
from backends.hf.worker_contestants import Contestant, contestants
from backends.hf.worker_episodes import Episodes, Voice
from backends.hf.worker_generation import taken_up
from backends.hf.worker_leaks import look
from backends.trainer import playing
from backends.trainer.chat import chat_of
from backends.trainer.items import Item
from backends.trainer.playing import Played
from backends.trainer.prompts import digest
from orchestrator.harness import Harness
from orchestrator.tasks import Order, Sample, Task

_SAMPLES = 3
_MANY = 0.5


@dataclass(frozen=True)
class Match:
    """What all models share."""

    harness: Harness
    settings: dict[str, Any]
    task: Task
    samples: list[Sample]
    items: list[Item]


def evaluate(harness: Harness, settings: dict[str, Any]) -> None:
    """Do the stage.

    Raises:
        WorkError: a task or models that can't be used; all that can be known before generating is found before.
    """
    task = playing.loaded(settings["task"]["name"], settings["task"]["options"])
    samples = _samples(task, settings)
    items = _items(task, samples)
    match = Match(harness, look(harness.events, settings, items), task, samples, items)
    found = contestants(harness, settings, Episodes(items, settings["chat_template_kwargs"], task.limits))
    partial = worker_publish.begin(Path(settings["output"]))
    harness.events.emit("state", state="evaluating", total=len(samples) * len(found))
    results = report.solved([_run(match, one, number * len(samples)) for number, one in enumerate(found)])
    rows = report.compare(results, settings["against"])
    report.write(partial, match.settings, items, results, rows)
    worker_publish.publish(partial, Path(settings["output"]))
    harness.events.emit("result", metrics={name: score for row in rows for name, score in _metrics(row)})


def _samples(task: Task, settings: dict[str, Any]) -> list[Sample]:
    """All validation samples, or as many as are wanted, drawn by the seed."""
    count = min(settings["max_items"] or len(task.validation), len(task.validation))
    order = Order(task.validation, settings["seed"])
    return [order[place] for place in range(count)]


def _items(task: Task, samples: list[Sample]) -> list[Item]:
    """Every episode's opening, before any model is there: what it asks can be wrong for a model."""
    return [
        Item(one.messages, None, {"sample": sample.id, "digest": sample.digest}, one.tools or None, sample.id)
        for sample, one in zip(samples, playing.openings(task, samples), strict=True)
    ]


def _run(match: Match, one: Contestant, done: int) -> report.Result:
    """One model's turn; `done` episodes were played by the models before it."""
    began, events, settings = time.monotonic(), match.harness.events, match.settings
    count, total, ended = len(match.samples), len(match.samples) * len(settings["models"]), 0

    def finished() -> None:
        nonlocal ended
        ended += 1
        events.emit("step", step=done + ended, total=total, metrics={})

    chat = chat_of(one.reader.tokenizer, one.reader.ends, settings["chat_template_kwargs"])
    limits = match.task.limits
    with taken_up(one, settings, events, limits.context) as generate:
        voice = Voice(generate, limits)
        found = playing.played(match.task, match.samples, chat, voice, limits.context, finished=finished)
    score = sum(each.scores.total for each in found) / count
    events.emit("step", step=done + count, total=total, metrics={f"{one.label}.score": score})
    _show(match, one, found, done + count)
    _warn_of_cuts(match, one, found)
    return _result(one, found, time.monotonic() - began)


def _result(one: Contestant, found: list[Played], seconds: float) -> report.Result:
    return report.Result(
        label=one.label,
        scores=tuple(each.scores.total for each in found),
        answers=tuple(each.episode.answer for each in found),
        generated=tuple(sum(each.track.mask) for each in found),
        ended=tuple(not each.episode.truncated for each in found),
        seconds=seconds,
        prompts_digest=digest([each.track.prompt for each in found]),
        rewards={name: tuple(each.scores.parts[name] for each in found) for name in found[0].scores.parts},
        episodes=tuple(_kept(each) for each in found),
    )


def _kept(one: Played) -> dict[str, Any]:
    """What is kept of an episode: what was said after its opening, and how it ended."""
    episode = one.episode
    said = list(episode.messages[episode.opening :])
    return {"rewards": one.scores.parts, "turns": episode.turns, "end": episode.end, "messages": said}


def _metrics(row: dict[str, Any]) -> list[tuple[str, float]]:
    parts = [(f"{row['label']}.reward.{name}", found["score"]) for name, found in row["rewards"].items()]
    return [(f"{row['label']}.score", row["score"]), *(parts if len(parts) > 1 else [])]


def _show(match: Match, one: Contestant, found: list[Played], step: int) -> None:
    for item, each in list(zip(match.items, found, strict=True))[:_SAMPLES]:
        texts = {"prompt": item.prompt, "answer": each.episode.answer, "rewards": each.scores.parts}
        match.harness.events.emit("sample", step=step, model=one.label, **texts)


def _warn_of_cuts(match: Match, one: Contestant, found: list[Played]) -> None:
    cut = Counter(each.episode.end for each in found if each.episode.truncated)
    if cut.total() / len(found) > _MANY:
        limits = match.task.limits
        text = f"{one.label}: {cut['tokens']} of {len(found)} episodes ran out of tokens, {cut['turns']} out of turns"
        text = (
            f"{text}; the task allows {limits.max_tokens} a message, {limits.context} in all, {limits.max_turns} turns"
        )
        match.harness.events.emit("warning", code="eval.cut", message=text)
