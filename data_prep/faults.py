"""What can be wrong with a data file."""

from __future__ import annotations

from collections.abc import Callable


class DataFault(Exception):
    """A data file that can't be used.

    Args:
        what: what is wrong.
        where: path, or `path:line` with lines counted from 1.
        why: the reason it matters.
        fix: how to mend it.
        others: further faults of the same file, as `path:line: text`.
    """

    def __init__(
        self, what: str, *, where: str, why: str | None = None, fix: str | None = None, others: tuple[str, ...] = ()
    ) -> None:
        super().__init__(f"{where}: {what}")
        self.what, self.where, self.why, self.fix, self.others = what, where, why, fix, others

    def __reduce__(self) -> tuple[Callable[..., DataFault], tuple[str, str, str | None, str | None, tuple[str, ...]]]:
        return _again, (self.what, self.where, self.why, self.fix, self.others)


def _again(what: str, where: str, why: str | None, fix: str | None, others: tuple[str, ...]) -> DataFault:
    """The same fault, after it came from another process."""
    return DataFault(what, where=where, why=why, fix=fix, others=others)
