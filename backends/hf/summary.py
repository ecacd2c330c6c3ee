"""An eval in words: a table, the differences, the gates, and what puts the scores in doubt. Standard library only."""

from __future__ import annotations

from typing import Any

from orchestrator import gate

Row = dict[str, Any]
SOLVED = "solved"
"""A reward of ours beside those of a task: 1 where all of them are."""


def summary(report: Row) -> str:
    """A table, and under it the differences in words, the gates, and what puts the scores in doubt."""
    head = f"{report['items']} items, metric `{report['metric']}`, intervals 95 %.\n\n"
    first = report["models"][0]
    rewards, benchmarks = list(first.get("rewards", ())), list(first.get("benchmarks", ()))
    cut = ["cut at limit"] if "share_cut_at_limit" in first else []
    names = ["model", "score", "interval", *cut, *rewards, *benchmarks]
    table = f"| {' | '.join(names)} |\n|{'---|' * len(names)}\n"
    said = [f"{change['sentence']}." for row in report["models"] for change in row["differences"]]
    if SOLVED in rewards:
        changes = [change for row in report["models"] for change in row["rewards"][SOLVED]["differences"]]
        said += [f"Solved: {change['sentence']}." for change in changes]
    for name in benchmarks if len(benchmarks) > 1 else ():
        changes = [change for row in report["models"] for change in row["benchmarks"][name]["differences"]]
        said += [f"{name}: {change['sentence']}." for change in changes]
    said += [gate.line(one) for one in report["gates"]]
    leaked = report["settings"].get("leaks") or []
    said += [f"{len(leaked)} of {report['items']} items stand in the training data of the chain."] if leaked else []
    if not report["same_prompts"]:
        said.append("The models did not see the same prompt tokens: templates or tokenizers differ.")
    return head + table + "".join(map(_line, report["models"])) + "".join(f"\n{text}\n" for text in said)


def _line(row: Row) -> str:
    low, high = row["interval"]
    cut = f" {100 * row['share_cut_at_limit']:.1f} % |" if "share_cut_at_limit" in row else ""
    parts = row.get("rewards") or row.get("benchmarks") or {}
    more = "".join(f" {found['score']:.3f} |" for found in parts.values())
    return f"| {row['label']} | {row['score']:.3f} | {low:.3f} to {high:.3f} |{cut}{more}\n"
