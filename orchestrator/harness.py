"""What every worker does around its work: events, the leash, errors as events, exit codes. Standard library only.

The runner tells a worker its run through the environment; without those variables (the native command run by hand)
there is no leash and no event file, and everything else is the same.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from orchestrator.events import EventWriter
from orchestrator.leash import EXIT_STOPPED, Leash

RUN_VARIABLE = "POST_TRAIN_RUN"
ATTEMPT_VARIABLE = "POST_TRAIN_ATTEMPT"
LOST = "rank.died"
"""Code of the error that other ranks report."""
RESUME_VARIABLE = "POST_TRAIN_RESUME"
PROBE_VARIABLE = "POST_TRAIN_PROBE"
PROBE_FILE = "probe.json"
"""In a run's folder: what its model answered when it was made."""
_LONGEST = 1000
_MOMENT = 0.5
UNPROVED_VARIABLE = "POST_TRAIN_UNPROVED"
"""Set where the user wants no probe: neither measured nor compared."""
UNTRAINED_VARIABLE = "POST_TRAIN_UNTRAINED"
"""Set where training was cut so short that its effect proves nothing: an adapter may be all zeros after two steps of
GRPO that met no group whose rewards differ, or vanish in the rounding of a merge."""


class WorkError(Exception):
    """A failure that the worker foresaw: code, message, reason, fix. Reaches the user without a traceback."""

    def __init__(self, code: str, message: str, *, why: str | None = None, fix: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.why, self.fix = code, message, why, fix


class Stopped(Exception):
    """The work stopped early on request and left a resumable state."""


class Harness:
    """A worker's view of its run.

    Attributes:
        run: the run's folder; None when run by hand.
        rank: this process's rank, 0 alone.
        events: where rank 0 writes events; other ranks write nothing but errors.
        leash: tells when a stop is wanted; None when run by hand.
        resume: whether to go on from the newest complete checkpoint.
    """

    def __init__(self) -> None:
        attempt = os.environ.get(ATTEMPT_VARIABLE)
        path = Path(attempt) / "events.jsonl" if attempt else None
        self.run = Path(os.environ[RUN_VARIABLE]) if attempt else None
        self.rank = int(os.environ.get("RANK", "0"))
        self.events = EventWriter(path if self.rank == 0 else None)
        self.leash = self._leash(self.run, Path(attempt)) if self.run and attempt else None
        self.resume = os.environ.get(RESUME_VARIABLE) == "1"
        self._errors = EventWriter(path)

    def main(self, work: Callable[[Harness, Path], None]) -> int:
        """Run `work(harness, native_file)` and turn its end into an exit code: 0, 75 (stopped) or 1."""
        if self.leash:
            self.leash.start()
        try:
            work(self, Path(sys.argv[1]).absolute())
        except Exception as error:  # noqa: BLE001  (the last stop before the exit code)
            return self.report(error)
        self.events.emit("state", state="done")
        return 0

    def attach(self) -> None:
        """Be the frame of an engine whose main function is not ours: the leash, and an event for what ends it."""
        if self.leash:
            self.leash.start()
            sys.excepthook = self._uncaught

    def report(self, error: Exception) -> int:
        """Say what ended the work, and return the exit code for it. The full text of a surprise goes to the log."""
        if isinstance(error, Stopped):
            self.events.emit("state", state="stopped")
            return EXIT_STOPPED
        if self.leash:
            self.leash.fail()
        if isinstance(error, WorkError):
            sys.stderr.write(f"{error.code}: {error.message}\n")
            self._errors.emit("error", code=error.code, message=error.message, why=error.why, fix=error.fix)
            return 1
        traceback.print_exception(error)
        if lost := self._missed():
            self._lost(lost)
        code = _code(error)
        why = "the hub can't be reached from here" if code == "hub.unreachable" else None
        self._errors.emit("error", code=code, message=_text(error), why=why, fix=_FIXES.get(code))
        return 1

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """The interpreter itself exits with 1 after this."""
        if isinstance(error, Exception):
            self.report(error)
        else:
            sys.__excepthook__(kind, error, trace)

    def _leash(self, run: Path, attempt: Path) -> Leash:
        return Leash(run, attempt, self.rank, on_stop=self._stopped, on_loss=self._lost)

    def _stopped(self) -> None:
        """There is nothing to save yet."""
        self.events.emit("state", state="stopped")

    def _missed(self) -> list[str]:
        """Other ranks that are gone: what this one met is what they left. A kernel takes a moment to let go of them."""
        if self.leash is None or os.environ.get("WORLD_SIZE", "1") == "1":
            return []
        time.sleep(_MOMENT)
        return self.leash.lost

    def _lost(self, names: list[str]) -> None:
        what = f"{' and '.join(names)} died without a word"
        why = "the others would wait for it; the kernel ends processes when memory runs out"
        self._errors.emit("error", code=LOST, message=what, why=why)


def _text(error: BaseException) -> str:
    """In one line; what is too long for a screen ends between two words, and the log has it all."""
    whole = " ".join(str(error).split()) or "no message"
    return whole if len(whole) <= _LONGEST else whole[:_LONGEST].rpartition(" ")[0] + " [...]"


def _code(error: BaseException) -> str:
    if (isinstance(error, OSError) and error.errno == 28) or "No space left on device" in str(error):
        return "disk.full"
    if "out of memory" in str(error).lower() or isinstance(error, MemoryError):
        return "memory.out"
    if any(_unreachable(one) for one in _chain(error)):
        return "hub.unreachable"
    return f"engine.{type(error).__name__}"


_FIXES = {
    "disk.full": "free some space, then resume the run",
    "hub.unreachable": "start with a folder as model.path; or let this machine reach the hub, or a mirror that"
    " HF_ENDPOINT names, and resume the run",
    "memory.out": "start a new run with half the training.batch_size and twice the gradient_accumulation, or a shorter"
    " max_length",
}
_OFFLINE = (
    "couldn't connect",
    "offline mode is enabled",
    "outgoing traffic has been disabled",
    "name resolution",
    "failed to resolve",
    "client has been closed",
)
"""What transformers, huggingface_hub and its HTTP clients say where there is no hub."""
_NETWORK = {"ConnectError", "ConnectTimeout", "ProxyError", "LocalEntryNotFoundError", "OfflineModeIsEnabled"}
"""Their exceptions that mean the same."""


def _unreachable(error: BaseException) -> bool:
    return type(error).__name__ in _NETWORK or any(words in str(error).lower() for words in _OFFLINE)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and so on: libraries hide a network's error behind their own."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__
