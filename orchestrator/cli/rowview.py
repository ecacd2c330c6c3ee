"""How a list of runs looks. Light: lists are asked for often."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from orchestrator.index import Row

_HEADLINE = ("loss", "train_loss", "reward")


def table(rows: list[Row]) -> list[str]:
    """A list of runs, one line each; plain text, because ten thousand of them must be quick."""
    width = max((len(row.id) for row in rows), default=2)
    head = f"{'RUN':<{width}}  {'STATE':<11}  {'STAGE':<5}  {'METHOD':<6}  {'BACKEND':<8}  {'CREATED':<16}  RESULT"
    return [head, *(_line(row, width) for row in rows)]


def _line(row: Row, width: int) -> str:
    when = datetime.fromtimestamp(row.created).strftime("%Y-%m-%d %H:%M")
    fixed = f"{row.id:<{width}}  {row.state:<11}  {row.stage:<5}  {row.method:<6}  {row.backend:<8}  {when:<16}"
    return f"{fixed}  {headline(row.metrics)}".rstrip()


def headline(metrics: dict[str, Any]) -> str:
    """The numbers worth a line: scores, else loss and reward."""
    scores = {k: v for k, v in metrics.items() if k.endswith(".score")}
    picked = scores or {k: metrics[k] for k in _HEADLINE if k in metrics}
    return "  ".join(f"{k.removesuffix('.score')} {v:.4g}" for k, v in picked.items() if isinstance(v, int | float))
