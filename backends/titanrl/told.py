"""Findings of this engine."""

from __future__ import annotations

from orchestrator.findings import Finding


def error(code: str, message: str, fix: str) -> Finding:
    """It refuses the run."""
    return Finding(code=f"titanrl.{code}", level="error", message=message, fix=fix)


def advice(code: str, message: str, fix: str) -> Finding:
    """It is printed, and a recipe may accept it."""
    return Finding(code=f"titanrl.{code}", level="advice", message=message, fix=fix)
