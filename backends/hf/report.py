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

from backends.trainer.comparing import difference
from backends.trainer.items import Item
from backends.trainer.statistics import bootstrap, is_binary, wilson
from orchestrator import gate

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
        "data_sha256": hashlib.sha256(Path(settings["data"]).read_bytes()).hexdigest(),
        "settings": {k: v for k, v in settings.items() if k not in ("stage", "output")},
        "same_prompts": len({result.prompts_digest for result in results}) == 1,
        "models": list(rows),
        "gates": judged(settings.get("gates", ()), rows),
    }
    (folder / "report.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    lines = (json.dumps(_answered(n, item, results), ensure_ascii=False) for n, item in enumerate(items))
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "summary.md").write_text(_summary(report), encoding="utf-8")


def _row(result: Result, others: Sequence[Result]) -> Row:
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
        "differences": [difference(result.label, result.scores, other.label, other.scores) for other in others],
    }


def _answered(number: int, item: Item, results: Sequence[Result]) -> Row:
    models = {r.label: {"answer": r.answers[number], "score": r.scores[number]} for r in results}
    return {"item": number, "prompt": item.prompt, "expected": item.expected, "models": models}


def _summary(report: Row) -> str:
    """A table, and under it the differences in words, the gates, and what puts the scores in doubt."""
    head = f"{report['items']} items, metric `{report['metric']}`, intervals 95 %.\n\n"
    table = "| model | score | interval | cut at limit |\n|---|---|---|---|\n"
    said = [f"{change['sentence']}." for row in report["models"] for change in row["differences"]]
    said += [gate.line(one) for one in report["gates"]]
    leaked = report["settings"].get("leaks") or []
    said += [f"{len(leaked)} of {report['items']} items stand in the training data of the chain."] if leaked else []
    if not report["same_prompts"]:
        said.append("The models did not see the same prompt tokens: templates or tokenizers differ.")
    return head + table + "".join(map(_line, report["models"])) + "".join(f"\n{text}\n" for text in said)


def _line(row: Row) -> str:
    low, high = row["interval"]
    cut = 100 * row["share_cut_at_limit"]
    return f"| {row['label']} | {row['score']:.3f} | {low:.3f} to {high:.3f} | {cut:.1f} % |\n"
