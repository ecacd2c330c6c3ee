"""The error tree. Every error a user can meet says what, where, why, and the command that fixes it.

PostTrainError            1   anything below
|- UsageError             2   flags or arguments that can't work together
|- RecipeError            2   a recipe that can't be read or resolved
|- DataError              3   data that is missing, empty, malformed or of the wrong shape
|- ModelError             3   a model that is missing, unreadable or of the wrong kind
|- TaskError              3   an RL task that can't be loaded or played
|- EnvironmentMissing     4   a backend environment that is absent or can't be made
|- PreflightError         5   findings that would waste the run
|- RunNotFound            6   no run, or more than one, under that name
|- RunBusy                6   another process owns the run
|- OutputExists           6   a folder that would be overwritten
|- StorageError           7   disk full, read-only or unwritable folder
|- WorkerFailed           8   the engine stopped without finishing
|- HandoffError           9   what a stage left is not what it should be
|- GateFailed            10   an eval that came to its end, and showed less than it had to
|- RunInterrupted       130   stopped on purpose; resumable
"""

from __future__ import annotations

from collections.abc import Sequence


class PostTrainError(Exception):
    """Base of every error shown to a user.

    Args:
        what: one sentence, what was wrong.
        where: `file:line`, a flag, or a path.
        why: the reason it matters.
        fix: the command or edit that mends it.
        details: several faults found together, one a line.
    """

    exit_code = 1

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        why: str | None = None,
        fix: str | None = None,
        details: Sequence[str] = (),
    ) -> None:
        super().__init__(what)
        self.what, self.where, self.why, self.fix, self.details = what, where, why, fix, tuple(details)

    def lines(self) -> list[str]:
        """The message as printed, one fact a line."""
        first = f"{self.where}: {self.what}" if self.where else self.what
        tail = [f"{name}: {text}" for name, text in (("why", self.why), ("fix", self.fix)) if text]
        return [first, *(f"  {detail}" for detail in self.details), *tail]

    def __str__(self) -> str:
        return "\n".join(self.lines())


class UsageError(PostTrainError):
    exit_code = 2


class RecipeError(PostTrainError):
    exit_code = 2


class DataError(PostTrainError):
    exit_code = 3


class ModelError(PostTrainError):
    exit_code = 3


class TaskError(PostTrainError):
    exit_code = 3


class EnvironmentMissing(PostTrainError):
    exit_code = 4


class PreflightError(PostTrainError):
    exit_code = 5


class RunNotFound(PostTrainError):
    exit_code = 6


class RunBusy(PostTrainError):
    exit_code = 6


class OutputExists(PostTrainError):
    exit_code = 6


class StorageError(PostTrainError):
    exit_code = 7


class WorkerFailed(PostTrainError):
    exit_code = 8


class HandoffError(PostTrainError):
    exit_code = 9


class GateFailed(PostTrainError):
    exit_code = 10


class RunInterrupted(PostTrainError):
    exit_code = 130
