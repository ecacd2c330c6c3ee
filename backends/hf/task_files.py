"""Files of lm-eval's that describe a benchmark, among names of its own tasks. Standard library only."""

from __future__ import annotations

import re
from pathlib import Path

_NAME = re.compile(r"^(group|task):[ \t]*['\"]?([^\s'\"#]+)", re.MULTILINE)


def is_file(name: str) -> bool:
    """Whether a file is meant, and no task of lm-eval's own."""
    return name.endswith((".yaml", ".yml"))


def folders(names: list[str]) -> list[str]:
    """Where the files lie."""
    return sorted({str(Path(name).parent) for name in names if is_file(name)})


def task(name: str) -> str:
    """The name that lm-eval knows a benchmark by.

    Raises:
        ValueError: a file that names no task.
    """
    return _named(name)[1] if is_file(name) else name


def own(names: list[str]) -> bool:
    """Whether none of lm-eval's own tasks is asked for; reading all of those takes it a while."""
    return all(is_file(name) and _named(name)[0] == "task" for name in names)


def _named(file: str) -> tuple[str, str]:
    found = _NAME.search(Path(file).read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{file} has no line `task: NAME`")
    return found[1], found[2]
