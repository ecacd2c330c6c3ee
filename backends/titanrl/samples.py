"""Episodes that TitanRL recorded, as a page to read. Standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backends.trainer import conversation

Record = dict[str, Any]
"""One line of `rollout_samples.jsonl`."""

GROUPS = 10
"""Groups on a page."""
_NUMBERS = {
    "reward": "reward",
    "rollout/reward": "reward",
    "frac_reward_zero_std": "share of groups whose answers all got the same",
    "completions/clipped_ratio": "share that was cut off",
    "rollout/truncation_rate/mean": "share that was cut off",
    "completions/mean_length": "tokens of an answer",
    "rollout/response_length/mean": "tokens of an answer",
    "rollout/num_turns/mean": "turns",
    "entropy": "entropy",
}
"""Metric, a validation's under the name of training's -> what it is called here."""
_PART = "/component/"


def page(step: int, kind: str, numbers: Mapping[str, Any], records: Sequence[Record]) -> str:
    """Markdown: what was measured over all episodes, then the recorded ones, groups that can teach something first.

    Args:
        kind: `training` or `validation`.
        numbers: metrics of the step; TitanRL records only the best and the worst episode of each group.
    """
    groups: dict[Any, list[Record]] = {}
    for record in records:
        groups.setdefault(record.get("group_id"), []).append(record)
    shown = sorted(groups.values(), key=_spread, reverse=True)[:GROUPS]
    ends = ", ".join(f"{count} {end}" for end, count in Counter(str(r.get("status")) for r in records).most_common())
    head = [f"# Step {step}, {kind}", "", *_measured(numbers), "", f"Recorded: {len(records)} episodes ({ends})."]
    return "\n".join([*head, *(line for group in shown for record in group for line in _episode(record))]) + "\n"


def _spread(group: list[Record]) -> float:
    rewards = [_number(record.get("reward")) for record in group]
    return max(rewards) - min(rewards)


def _measured(numbers: Mapping[str, Any]) -> Iterable[str]:
    for key, value in numbers.items():
        name = _NUMBERS.get(key.replace("validation/", "rollout/"))
        if _PART in key and key.endswith("/mean"):
            name = f"reward {key.partition(_PART)[2].removesuffix('/mean')!r}"
        if name and isinstance(value, int | float):
            yield f"- {name}: {value:.4g}"


def _episode(record: Record) -> Iterable[str]:
    parts = ", ".join(f"{name} {_number(value):.4g}" for name, value in (record.get("reward_breakdown") or {}).items())
    about = f"{record.get('status')}, advantage {_number(record.get('advantage')):.3g}"
    yield from ("", f"## Reward {_number(record.get('reward')):.4g} ({parts}): {about}")
    yield from conversation.lines(_messages(record.get("turns") or []))


def _messages(turns: list[Record]) -> list[Record]:
    """The whole conversation: a turn's prompt holds all that was said before it."""
    if not turns:
        return []
    last = turns[-1]
    said = last.get("completion_message")
    return [*last.get("prompt_messages", ()), *([said] if said else []), *last.get("env_messages", ())]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")
