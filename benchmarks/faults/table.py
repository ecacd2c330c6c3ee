"""The table that the bench prints, and the page in the docs."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.faults.fault import Outcome

_LONGEST = 160
_HEAD = ("kind", "fault", "outcome", "where", "seconds", "message")


def lines(found: Sequence[Outcome], hidden: Sequence[str] = ()) -> list[str]:
    """Markdown, one row a fault, and the sums below; `hidden`: folders left out of messages."""
    rows = ["| " + " | ".join(_HEAD) + " |", "|" + "---|" * len(_HEAD), *(_row(one, hidden) for one in found), ""]
    return [*rows, *sums(found)]


def sums(found: Sequence[Outcome]) -> list[str]:
    """Detection rate and false alarms."""
    refused = sum(one.verdict == "refused" for one in found)
    told = sum(one.verdict == "told" for one in found)
    alarms = [one.fault.name for one in found if one.false_alarm]
    missed = len(found) - refused - told
    return [
        f"{len(found)} faults: {refused} refused, {told} told as advice, {missed} missed; "
        f"detection rate {(refused + told) / len(found):.1%}.",
        f"{len(alarms)} false alarms on the clean twins{': ' + '; '.join(alarms) if alarms else ''}.",
    ]


def _row(one: Outcome, hidden: Sequence[str]) -> str:
    message = one.message.replace("|", "\\|").replace("`", "'")
    for folder in hidden:
        message = message.replace(f"{folder}/", "")
    cut = message if len(message) <= _LONGEST else message[:_LONGEST] + " ..."
    cells = (
        one.fault.kind,
        one.fault.name,
        one.verdict,
        one.where,
        f"{one.faulty.seconds:.1f}",
        f"`{cut}`" if cut else "",
    )
    return "| " + " | ".join(cells) + " |"
