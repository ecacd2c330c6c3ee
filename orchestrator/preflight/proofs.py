"""Hand-offs that nobody will check: told before a run, and again wherever its model is taken up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator import manifest
from orchestrator.backend import ModelRef
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def check(spec: RunSpec, models: tuple[ModelRef, ...]) -> Iterator[Finding]:
    """A run without proof, and models whose makers left nothing to compare with."""
    if not spec.proof:
        message = (
            "models are neither measured nor compared, so whoever takes this one up can't tell that it is the same"
        )
        yield Finding(code="proof.off", level="advice", message=message, fix="leave --no-proof out", where="proof")
        return
    for model in models:
        if model.probe and _finished_without(Path(model.probe)):
            message = f"{model.label} left no probe, so nothing proves that the model taken up is the one it made"
            yield Finding(
                code="proof.none", level="advice", message=message, fix="make it again with proof", where="from"
            )


def _finished_without(probe: Path) -> bool:
    """Whether the run is there and its probe is not; a run that is only planned has neither."""
    return (probe.parent / manifest.FILE).is_file() and not probe.is_file()
