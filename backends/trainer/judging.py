"""A metric by its name: a rule of ours, or a reward function of the user's."""

from __future__ import annotations

from backends.trainer import metrics, reward_metric
from backends.trainer.metrics import Rule
from backends.trainer.written import Metric
from orchestrator.harness import WorkError

REWARD = "reward:"


def load(name: str) -> Metric:
    """The metric of that name: one of `metrics`, or reward:file.py:function.

    Raises:
        WorkError: no such metric, or its function can't be loaded.
    """
    if name.startswith(REWARD):
        return reward_metric.load(name.removeprefix(REWARD))
    rule = metrics.rule(name)
    if rule is None:
        fix = f"write {', '.join(metrics.NAMES)}, regex:PATTERN or reward:file.py:function"
        raise WorkError("eval.metric", f"unknown metric {name!r}", fix=fix)
    return _binary(rule)


def _binary(rule: Rule) -> Metric:
    return lambda items, found: [
        float(rule(written.answer, item.expected or "")) for item, written in zip(items, found, strict=True)
    ]
