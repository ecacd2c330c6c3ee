"""Runs faults and their clean twins, and tells what came out."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from benchmarks.engine_faults.fault import Act, Fault
from benchmarks.engine_faults.scene import Done, Scene

Place = Literal["before a run", "loading", "after training", "hand-off", "gone round", "told only", "missed"]
_HANDOFF = 9
_BAR = re.compile(r"\d+%\||\bit/s\b|\bs/it\b")
_RAISED = re.compile(r"[\w.]+(Error|Exception|Exit)\b")


@dataclass(frozen=True)
class Verdict:
    """What became of a fault.

    Attributes:
        place: where it was caught.
        seconds: from the command to its end.
        message: the line that names it; of a fault that was missed, how the command ended.
        false_alarm: what the clean twin was refused for; None when it passed.
        bare: what the same damage does without us; None where nothing compares.
    """

    fault: Fault
    place: Place
    seconds: float
    message: str
    false_alarm: str | None
    bare: str | None

    @property
    def caught(self) -> bool:
        return self.place not in ("missed", "told only")

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        facts = {name: value for name, value in asdict(self).items() if name != "fault"}
        return {"key": self.fault.key, "what": self.fault.what, "caught": self.caught, **facts}


class Bench:
    """Runs every fault on one scene. A twin that several faults share is run once."""

    def __init__(self, scene: Scene, *, bare: bool) -> None:
        self._scene, self._bare = scene, bare
        self._twins: dict[tuple[tuple[str, ...], Act], str | None] = {}

    def run(self, faults: Iterable[Fault]) -> Iterator[Verdict]:
        """One after the other: they share two cores and one folder."""
        for fault in faults:
            yield self._judge(fault)

    def _judge(self, fault: Fault) -> Verdict:
        self._set(fault, damaged=True)
        before, begun = self._runs(), time.monotonic()
        done = self._scene.post_train(*fault.command)
        seconds = time.monotonic() - begun
        line = next((s for s in done.text.splitlines() if re.search(fault.named, s)), "")
        place = self._place(done, line, self._runs() - before)
        if fault.mends and place == "told only":
            place = "gone round"
        message = line.strip() or f"exit {done.code}: {_last(done)}"
        return Verdict(fault, place, seconds, message, self._twin(fault), self._without_us(fault))

    def _set(self, fault: Fault, *, damaged: bool) -> None:
        self._scene.reset()
        fault.prepare(self._scene)
        if damaged:
            fault.damage(self._scene)

    def _runs(self) -> set[str]:
        return {path.name for path in self._scene.folder.glob("runs/*-*")}

    def _place(self, done: Done, line: str, new: set[str]) -> Place:
        if not line:
            return "missed"
        if done.code == 0:
            return "told only"
        if done.code == _HANDOFF:
            return "hand-off"
        if not new:
            return "before a run"
        return "after training" if any(map(self._trained, new)) else "loading"

    def _trained(self, run: str) -> bool:
        events = self._scene.folder.glob(f"runs/{run}/attempts/*/events.jsonl")
        return any('"type":"step"' in path.read_text().replace(" ", "") for path in events)

    def _twin(self, fault: Fault) -> str | None:
        """None when the clean command passed, else its last words."""
        key = (fault.command, fault.prepare)
        if key not in self._twins:
            self._set(fault, damaged=False)
            done = self._scene.post_train(*fault.command)
            self._twins[key] = None if done.code == 0 else _last(done)
        return self._twins[key]

    def _without_us(self, fault: Fault) -> str | None:
        if not self._bare or fault.bare is None:
            return None
        self._set(fault, damaged=True)
        done = self._scene.bare(*fault.bare)
        return f"exit {done.code}: {_last(done)}" if done.code else "exit 0"


def _last(done: Done) -> str:
    """The line that says how it ended: our error, an exception, or the last one that is no progress bar."""
    lines = [line.strip() for line in done.text.splitlines() if line.strip() and not _BAR.search(line)]
    ours = (line for line in lines if line.startswith("error"))
    raised = (line for line in reversed(lines) if _RAISED.match(line))
    return next(ours, None) or next(raised, None) or (lines[-1] if lines else f"exit {done.code}")
