"""Items of an eval that the models were trained on: every dataset of the chain, held against every item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from data_prep.faults import DataFault
from data_prep.overlap import Items
from data_prep.rows import Jsonl
from orchestrator.backend import Leak
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_NAMED = 5
_TICK = 20_000


@dataclass(frozen=True)
class LeakLook:
    """Every item that was seen in training, once, and what to say about it."""

    found: tuple[Leak, ...] = ()
    findings: tuple[Finding, ...] = ()


def look(spec: RunSpec, datasets: Callable[[], Mapping[Path, str]], say: Callable[[str], None]) -> LeakLook:
    """Hold the items of an eval, or those that watch over a GRPO, against training data.

    Args:
        datasets: gives file -> the run that was trained on it; asked only where there are items to hold against it.
    """
    setting, file, most = _watched(spec)
    if not file or not (known := datasets()):
        return LeakLook()
    try:
        rows = list(_rows(Path(file)))[:most]
    except DataFault:
        return LeakLook()  # said already: every data file of a stage is read before
    items, found, unread = Items([row for _, row in rows]), dict[int, Leak](), list[Finding]()
    for path, run in known.items():
        try:
            _hold(items, [place for place, _ in rows], path, found, say)
        except DataFault as fault:
            unread.append(_unread(run, fault))
    leaks = tuple(found[number] for number in sorted(found))
    return LeakLook(leaks, (*unread, *_findings(spec, leaks, len(rows), setting)))


def _watched(spec: RunSpec) -> tuple[str, str | None, int | None]:
    """The setting, the file of the items, and how many of them count."""
    if spec.stage == "grpo":
        return "rl.held_out", spec.rl.held_out, spec.rl.held_out_items
    return "data.eval", spec.data.eval if spec.stage == "eval" else None, spec.eval.max_items


def _rows(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    return ((f"{path}:{number}", row) for number, row in Jsonl(path))


def _hold(items: Items, places: list[str], path: Path, found: dict[int, Leak], say: Callable[[str], None]) -> None:
    for count, (place, row) in enumerate(_rows(path), 1):
        for number, how in items.within(row):
            found.setdefault(number, Leak(item=places[number], row=place, how=how))
        if count % _TICK == 0:
            say(f"looking for eval items in {path.name}: {count:,} rows")


def _unread(run: str, fault: DataFault) -> Finding:
    message = f"the training data of {run} can't be read, so whether it holds eval items is unknown: {fault.what}"
    return Finding(code="eval.leak_unknown", level="advice", message=message, where=fault.where)


def _findings(spec: RunSpec, leaks: tuple[Leak, ...], items: int, setting: str) -> list[Finding]:
    if not leaks:
        return []
    refused = len(leaks) / items > spec.eval.max_leaked
    named = "; ".join(f"{leak.item} in {leak.row} ({leak.how})" for leak in leaks[:_NAMED])
    more = f"; and {len(leaks) - _NAMED} more" if len(leaks) > _NAMED else ""
    message = f"{len(leaks)} of {items} items stand in data that these models were trained on: {named}{more}"
    allow = ", or allow them with --set eval.max_leaked=1" if spec.stage == "eval" else ""
    fix = f"take them out of the items{allow}"
    level = "error" if refused else "advice"
    return [Finding(code="eval.leak", level=level, message=message, fix=fix, where=setting)]
