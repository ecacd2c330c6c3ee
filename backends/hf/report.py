"""What an eval leaves: report.json (all of it), items.jsonl (every answer), summary.md (a table).

Standard library only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.hf import paired
from backends.hf.intervals import bootstrap, is_binary, wilson
from backends.hf.items import Item

Row = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One model's answers to all items, in their order.

    Attributes:
        generated: tokens generated for each item, the end token included.
        ended: whether each answer came to its end within the token limit.
        prompts_digest: sha256 over the prompt token ids that the model saw.
    """

    label: str
    scores: tuple[float, ...]
    answers: tuple[str, ...]
    generated: tuple[int, ...]
    ended: tuple[bool, ...]
    seconds: float
    prompts_digest: str


def compare(results: Sequence[Result]) -> list[Row]:
    """One row a model, each with its difference to the model before it."""
    return [_row(result, results[n - 1] if n else None) for n, result in enumerate(results)]


def write(folder: Path, settings: Row, items: Sequence[Item], results: Sequence[Result], rows: Sequence[Row]) -> None:
    """Write the three files."""
    report = {
        "metric": settings["metric"],
        "items": len(items),
        "data_sha256": hashlib.sha256(Path(settings["data"]).read_bytes()).hexdigest(),
        "settings": {k: v for k, v in settings.items() if k not in ("stage", "output")},
        "same_prompts": len({result.prompts_digest for result in results}) == 1,
        "models": list(rows),
    }
    (folder / "report.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    lines = (json.dumps(_answered(n, item, results), ensure_ascii=False) for n, item in enumerate(items))
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "summary.md").write_text(_summary(report), encoding="utf-8")


def _row(result: Result, before: Result | None) -> Row:
    n, binary = len(result.scores), is_binary(result.scores)
    low, high = wilson(sum(result.scores), n) if binary else bootstrap(result.scores)
    return {
        "label": result.label,
        "score": sum(result.scores) / n,
        "interval": [low, high],
        "interval_kind": "wilson" if binary else "bootstrap",
        "mean_generated_tokens": sum(result.generated) / n,
        "share_cut_at_limit": result.ended.count(False) / n,
        "seconds": round(result.seconds, 3),
        "prompts_digest": result.prompts_digest,
        "difference": None if before is None else _difference(result, before),
    }


def _difference(result: Result, before: Result) -> Row:
    steps = [new - old for new, old in zip(result.scores, before.scores, strict=True)]
    score, interval, binary = sum(steps) / len(steps), bootstrap(steps), is_binary((*result.scores, *before.scores))
    better, worse = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
    p_value = paired.mcnemar(better, worse) if binary else None
    sure, names = paired.beyond_noise(interval, p_value), (result.label, before.label)
    return {
        "to": before.label,
        "score": score,
        "interval": list(interval),
        "better_items": better,
        "worse_items": worse,
        "p_value": p_value,
        "smallest_detectable": paired.detectable(steps),
        "beyond_noise": sure,
        "sentence": paired.sentence(names, score, interval, len(steps), points=binary, sure=sure),
    }


def _answered(number: int, item: Item, results: Sequence[Result]) -> Row:
    models = {r.label: {"answer": r.answers[number], "score": r.scores[number]} for r in results}
    return {"item": number, "prompt": item.prompt, "expected": item.expected, "models": models}


def _summary(report: Row) -> str:
    head = f"{report['items']} items, metric `{report['metric']}`, intervals 95 %.\n\n"
    table = "| model | score | interval | change | interval of the change | cut at limit |\n|---|---|---|---|---|---|\n"
    note = (
        ""
        if report["same_prompts"]
        else "\nThe models did not see the same prompt tokens: templates or tokenizers differ.\n"
    )
    rows = report["models"]
    return head + table + "".join(_line(row) for row in rows) + note + _said(rows)


def _said(rows: Sequence[Row]) -> str:
    changes = [row["difference"] for row in rows if row["difference"]]
    lines = [
        f"- {one['sentence']} Smallest difference to be seen: {one['smallest_detectable']:.3f}." for one in changes
    ]
    return "".join(f"\n{line}" for line in lines) + ("\n" if lines else "")


def _line(row: Row) -> str:
    change = row["difference"]
    moved = "| | " if change is None else f"| {change['score']:+.3f} | {_range(change['interval'])}{_noise(change)} "
    return (
        f"| {row['label']} | {row['score']:.3f} | {_range(row['interval'])} {moved}"
        f"| {100 * row['share_cut_at_limit']:.1f} % |\n"
    )


def _range(interval: Sequence[float]) -> str:
    return f"{interval[0]:.3f} to {interval[1]:.3f}"


def _noise(change: Row) -> str:
    return "" if change["beyond_noise"] else ", within noise"
