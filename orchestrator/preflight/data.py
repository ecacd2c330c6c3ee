"""The data files of a stage, read once: rows, form, digest, or what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from data_prep.check import DataFacts, check
from data_prep.faults import DataFault
from data_prep.forms import Use
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


@dataclass(frozen=True)
class DataLook:
    """What the files are: setting -> facts, and findings about those that are not usable."""

    facts: dict[str, DataFacts]
    findings: tuple[Finding, ...]


def look(spec: RunSpec, tick: Callable[[int], None]) -> DataLook:
    """Read every data file that the stage names."""
    facts: dict[str, DataFacts] = {}
    findings: list[Finding] = []
    for setting, path, use in _files(spec):
        try:
            facts[setting] = check(Path(path), use, tick)
        except DataFault as fault:
            findings += _findings(fault)
    return DataLook(facts, tuple(findings + _same(facts)))


def _files(spec: RunSpec) -> list[tuple[str, str, Use]]:
    files: list[tuple[str, str, Use]] = []
    if spec.data.train and spec.stage in ("sft", "dpo", "grpo"):
        files.append(("data.train", spec.data.train, spec.stage))
    if spec.data.eval and spec.stage != "merge":
        files.append(("data.eval", spec.data.eval, spec.stage))
    return files


def _findings(fault: DataFault) -> list[Finding]:
    why = f" ({fault.why})" if fault.why else ""
    first = Finding(code="data.fault", level="error", message=f"{fault.what}{why}", fix=fault.fix, where=fault.where)
    rest = [other.partition(": ") for other in fault.others]
    return [first, *(Finding(code="data.fault", level="error", message=what, where=where) for where, _, what in rest)]


def _same(facts: dict[str, DataFacts]) -> list[Finding]:
    if len({f.digest for f in facts.values()}) == len(facts):
        return []
    message = "data.train and data.eval have the same content, so the held-out rows are trained on"
    return [Finding(code="data.leak", level="error", message=message, fix="split the data", where="data.eval")]
