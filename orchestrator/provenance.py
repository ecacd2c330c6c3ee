"""Where a run came from: revision, command, versions, hardware. Secrets are cut out, host names never enter."""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path
from typing import Any

from orchestrator import __version__, hardware, process
from orchestrator.hardware import Machine

_SECRET = re.compile(
    r"(?i)\b(hf_\w{8,}|sk-[\w-]{8,}|gh[pousr]_\w{8,}|AKIA\w{12,})\b"
    r"|((?:api[_-]?key|token(?!izer|s)|secret|password)[\w-]*[=:\s]+)\S+|(://)[^/@\s]+@"
)


def collect(machine: Machine, environment: dict[str, Any]) -> dict[str, Any]:
    """Everything about the circumstances of a run that somebody may ask for later.

    Args:
        machine: hardware of this machine.
        environment: facts of the backend environment (key, variant, versions).
    """
    return {
        "post_train": __version__,
        "git": _revision(Path(__file__).parent),
        "python": platform.python_version(),
        "argv": redacted((Path(sys.argv[0]).name, *sys.argv[1:])),
        "hardware": hardware.summary(machine),
        "environment": environment,
    }


def redacted(argv: tuple[str, ...]) -> list[str]:
    """A command without credentials, also where one is the word after its flag."""
    secret = [redact(f"{flag} x") != f"{flag} x" for flag in ("", *argv)]
    return ["[redacted]" if hidden else redact(word) for hidden, word in zip(secret, argv, strict=False)]


def redact(text: str) -> str:
    """The text without anything that looks like a credential."""
    return _SECRET.sub(lambda m: f"{m.group(2) or m.group(3) or ''}[redacted]{'@' if m.group(3) else ''}", text)


def _revision(folder: Path) -> str | None:
    """Revision of the checkout that the code runs from, `+changes` when it was edited; None outside a checkout."""
    head = process.run(("git", "-C", str(folder), "rev-parse", "HEAD"), timeout=10)
    if head.code != 0:
        return None
    dirty = process.run(("git", "-C", str(folder), "status", "--porcelain", "-uno"), timeout=10).out.strip()
    return head.out.strip() + ("+changes" if dirty else "")
