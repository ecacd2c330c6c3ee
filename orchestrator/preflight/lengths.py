"""Tokens of an answer against tokens of everything, whichever engine writes it."""

from __future__ import annotations

from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def check(spec: RunSpec) -> list[Finding]:
    """An answer that leaves no room for its prompt."""
    answer, whole = spec.rl.max_completion_length, spec.training.max_length
    if spec.stage != "grpo" or answer < whole:
        return []
    message = (
        f"rl.max_completion_length {answer} leaves no room for a prompt within training.max_length {whole}, "
        "which holds prompt and answers together"
    )
    fix = f"training.max_length: {2 * answer}"
    return [Finding(code="rl.lengths", level="error", message=message, fix=fix, where="rl.max_completion_length")]
