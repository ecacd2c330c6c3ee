"""What an eval leaves: report.json (all of it), items.jsonl (every answer), summary.md (a table), and where a task was
played, conversations/MODEL.md.

Standard library only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from backends.hf.conversations import page
from backends.hf.summary import SOLVED, summary
from backends.trainer.comparing import difference
from backends.trainer.items import Item
from backends.trainer.statistics import bootstrap, is_binary, wilson
from orchestrator import gate

Row = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One model's answers to all items, in their order.

    Attributes:
        generated: tokens generated for each item, the end token included; empty where nobody tells.
        ended: whether each answer came to its end within the token limit; likewise.
        prompts_digest: sha256 over the prompt token ids that the model saw.
        rewards: of a task: each reward's number for every item, by name.
        benchmarks: by lm-eval: each metric's number for every item of its benchmark, by `benchmark.metric`.
        episodes: of a task: what is kept of every episode beside its answer and its score.
    """

    label: str
    scores: tuple[float, ...]
    answers: tuple[str, ...]
    generated: tuple[int, ...]
    ended: tuple[bool, ...]
    seconds: float
    prompts_digest: str
    rewards: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    episodes: tuple[Row, ...] = ()
    benchmarks: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def solved(results: Sequence[Result]) -> list[Result]:
    """The same with a reward `solved`, 1 where all rewards are: only if there are several, and all are 0 or 1."""
    graded = not all(is_binary(values) for one in results for values in one.rewards.values())
    if graded or len(results[0].rewards) < 2 or SOLVED in results[0].rewards:
        return list(results)
    whole = [tuple(map(min, zip(*one.rewards.values(), strict=True))) for one in results]
    return [replace(one, rewards={**one.rewards, SOLVED: done}) for one, done in zip(results, whole, strict=True)]


def compare(results: Sequence[Result], against: Sequence[str] = ()) -> list[Row]:
    """One row a model, with its difference to the model before it, or, where some are named, to each of those."""
    return [_row(result, _others(results, number, against)) for number, result in enumerate(results)]


def _others(results: Sequence[Result], number: int, against: Sequence[str]) -> Sequence[Result]:
    if not against:
        return results[max(0, number - 1) : number]
    return () if results[number].label in against else [one for one in results if one.label in against]


def judged(gates: Sequence[str], rows: Sequence[Row]) -> list[Row]:
    """Every gate with what it found."""
    scores = {row["label"]: row["score"] for row in rows}
    return [gate.judge(gate.parse(text, scores), scores) for text in gates]


def write(folder: Path, settings: Row, items: Sequence[Item], results: Sequence[Result], rows: Sequence[Row]) -> None:
    """Write the three files."""
    report = {
        "metric": settings["metric"],
        "items": len(items),
        "data_sha256": _data(settings, items),
        "settings": {k: v for k, v in settings.items() if k not in ("stage", "output")},
        "same_prompts": len({result.prompts_digest for result in results}) == 1,
        "models": list(rows),
        "gates": judged(settings.get("gates", ()), rows),
    }
    (folder / "report.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    answered = [_answered(n, item, results) for n, item in enumerate(items)]
    lines = (json.dumps(row, ensure_ascii=False) for row in answered)
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "summary.md").write_text(summary(report), encoding="utf-8")
    for row in rows if results[0].episodes else ():
        (folder / "conversations").mkdir(exist_ok=True)
        (folder / "conversations" / f"{row['label']}.md").write_text(page(row, answered), encoding="utf-8")


def _data(settings: Row, items: Sequence[Item]) -> str:
    """sha256 of the items' file, or over the contents of a task's samples."""
    if "data" in settings:
        return hashlib.sha256(Path(settings["data"]).read_bytes()).hexdigest()
    return hashlib.sha256("".join(item.columns["digest"] for item in items).encode()).hexdigest()


def _row(result: Result, others: Sequence[Result]) -> Row:
    rewards = {
        name: _measured(result.label, values, [(other.label, other.rewards[name]) for other in others])
        for name, values in result.rewards.items()
    }
    benchmarks = {
        name: _measured(result.label, values, [(other.label, other.benchmarks[name]) for other in others])
        for name, values in result.benchmarks.items()
    }
    return {
        "label": result.label,
        **_measured(result.label, result.scores, [(other.label, other.scores) for other in others]),
        **_lengths(result),
        "seconds": round(result.seconds, 3),
        "prompts_digest": result.prompts_digest,
        **({"rewards": rewards} if rewards else {}),
        **({"benchmarks": benchmarks} if benchmarks else {}),
    }


def _lengths(result: Result) -> Row:
    if not result.generated:
        return {}
    n = len(result.generated)
    return {"mean_generated_tokens": sum(result.generated) / n, "share_cut_at_limit": result.ended.count(False) / n}


def _measured(label: str, values: Sequence[float], others: Sequence[tuple[str, Sequence[float]]]) -> Row:
    n, binary = len(values), is_binary(values)
    low, high = wilson(sum(values), n) if binary else bootstrap(values)
    return {
        "score": sum(values) / n,
        "interval": [low, high],
        "interval_kind": "wilson" if binary else "bootstrap",
        "differences": [difference(label, values, name, scores) for name, scores in others],
    }


def _answered(number: int, item: Item, results: Sequence[Result]) -> Row:
    models = {r.label: {"answer": r.answers[number], "score": r.scores[number], **_kept(r, number)} for r in results}
    return {"item": number, **_sample(item), "prompt": item.prompt, "expected": item.expected, "models": models}


def _sample(item: Item) -> Row:
    return {"sample": item.columns["sample"]} if "sample" in item.columns else {}


def _kept(result: Result, number: int) -> Row:
    return result.episodes[number] if result.episodes else {}
