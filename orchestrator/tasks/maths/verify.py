"""Two ways to say whether an answer is right: math-verify, or plain numbers.

Both compare numbers first, exactly. math-verify is asked about everything else; it reads LaTeX and simplifies.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable

from orchestrator.errors import EnvironmentMissing, UsageError
from orchestrator.nearest import nearest
from orchestrator.tasks.maths.result import equal, number

Verify = Callable[[str, str], bool]
"""(right answer, given answer) -> whether they are the same."""

LONGEST = 300
"""Characters of an answer that is worth parsing; a longer one is a tower of something."""
_SECONDS = 5


def verifier(name: str) -> Verify:
    """The verifier by name: `math-verify` or `numbers`.

    Raises:
        UsageError: no verifier is called so.
        EnvironmentMissing: math-verify isn't installed in this environment.
    """
    ways: dict[str, Verify] = {"math-verify": _symbolic, "numbers": equal}
    if name not in ways:
        raise UsageError(f"no verifier is called {name!r}{nearest(name, ways)}")
    if name == "math-verify" and importlib.util.find_spec("math_verify") is None:
        raise EnvironmentMissing(
            "math-verify is not installed in this environment",
            why="it decides whether two formulas are the same",
            fix="pip install math-verify there, or grade plain numbers only: --task-option verifier=numbers",
        )
    return ways[name]


def _symbolic(right: str, given: str) -> bool:
    """math-verify keeps time by a signal, which only the main thread may set: elsewhere only the length protects."""
    if number(right) is not None and number(given) is not None:
        return equal(right, given)
    if len(given) > LONGEST:
        return False
    from math_verify import parse, verify

    seconds = _SECONDS if threading.current_thread() is threading.main_thread() else None
    sides = [parse(f"\\boxed{{{side}}}", parsing_timeout=seconds) for side in (right, given)]
    return bool(verify(*sides, timeout_seconds=seconds))
