"""The eval stage of benchmarks: lm-eval asks every model the same items, one model in memory at a time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval.models.huggingface import HFLM

from backends.hf import report, worker_publish
from backends.hf.worker_contestants import Contestant, contestants, loaded
from backends.hf.worker_leaks import look
from backends.hf.worker_lm_eval import Nobody, Told, ask
from backends.trainer.prompts import Ids, Reader, digest
from orchestrator.harness import Harness, WorkError

_USUAL_NEW = 256
"""Tokens that lm-eval lets an answer have where its task says nothing."""


class Contexts:
    """What lm-eval puts before the models."""

    def __init__(self, told: Told, chat: bool) -> None:
        self.chat, self._told = chat, told

    def render(self, reader: Reader) -> list[Ids]:
        texts = ("".join(part for part in one if isinstance(part, str)) for one in self._told.requests)
        return [list(reader.tokenizer(text)["input_ids"]) for text in texts]

    def require_room(self, label: str, room: int, longest: int) -> None:
        limits = [one[1].get("max_gen_toks", _USUAL_NEW) for one in self._told.requests if isinstance(one[-1], dict)]
        wanted = longest + max(limits, default=0)
        if wanted > room:
            text = f"{label} has {room} positions, and lm-eval wants {wanted}: it would cut prompts"
            raise WorkError("eval.too_long", text, fix="lower native.num_fewshot, or leave the longest benchmark out")


@dataclass(frozen=True)
class Asked:
    """One model, and what lm-eval told of it."""

    one: Contestant
    told: Told
    seconds: float


def evaluate(harness: Harness, settings: dict[str, Any]) -> None:
    """Do the stage.

    Raises:
        WorkError: benchmarks or models that can't be used; what can be known before a model is loaded is found before.
    """
    nobody = ask(Nobody(), settings, apply_chat_template=False)
    items = ask(Nobody(), settings, apply_chat_template=False, num_fewshot=0).items
    settings = look(harness.events, settings, items) | {"versions": nobody.versions}
    found = contestants(harness, settings, Contexts(nobody, settings["apply_chat_template"]))
    partial = worker_publish.begin(Path(settings["output"]))
    harness.events.emit("state", state="evaluating", total=len(items) * len(found))
    results = _results([_asked(harness, settings, one, len(items), n) for n, one in enumerate(found, start=1)])
    rows = report.compare(results, settings["against"])
    report.write(partial, settings, items, results, rows)
    worker_publish.publish(partial, Path(settings["output"]))
    harness.events.emit("result", metrics={name: score for row in rows for name, score in _metrics(row)})


def _asked(harness: Harness, settings: dict[str, Any], one: Contestant, count: int, number: int) -> Asked:
    began, tokenizer = time.monotonic(), one.reader.tokenizer
    model = loaded(one, settings, harness.events)
    how = {"batch_size": settings["batch_size"], "chat_template_args": settings["chat_template_kwargs"]}
    told = ask(HFLM(pretrained=model, tokenizer=tokenizer, backend="causal", **how), settings)
    harness.events.emit("step", step=count * number, total=count * len(settings["models"]), metrics={})
    return Asked(one, told, time.monotonic() - began)


def _results(asked: list[Asked]) -> list[report.Result]:
    """Scores by the first metric of each benchmark that was measured for every model, and all such metrics."""
    shared = {
        name: [measure for measure in measures if all(measure in each.told.measures[name] for each in asked)]
        for name, measures in asked[0].told.measures.items()
    }
    if without := [name for name, measures in shared.items() if not measures]:
        text = f"{', '.join(without)} has no metric of which more is better and whose value is a mean over its items"
        raise WorkError("eval.benchmark", text, fix="leave it out of eval.benchmarks, or add acc to its metric_list")
    return [_result(each, shared) for each in asked]


def _result(each: Asked, shared: dict[str, list[str]]) -> report.Result:
    told, tokenizer = each.told, each.one.reader.tokenizer
    return report.Result(
        label=each.one.label,
        scores=tuple(value for name, (first, *_) in shared.items() for value in told.measures[name][first]),
        answers=told.answers,
        generated=(),
        ended=(),
        seconds=each.seconds,
        prompts_digest=digest([list(tokenizer(str(one[0]))["input_ids"]) for one in told.requests]),
        benchmarks={one: told.measures[name][one] for name, measures in shared.items() for one in measures},
    )


def _metrics(row: dict[str, Any]) -> list[tuple[str, float]]:
    parts = [(f"{row['label']}.{name}", found["score"]) for name, found in row["benchmarks"].items()]
    return [(f"{row['label']}.score", row["score"]), *parts]
