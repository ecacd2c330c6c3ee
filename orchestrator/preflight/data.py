"""The data files of a stage, read once: rows, form, digest, or what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from data_prep import pictures
from data_prep.check import DataFacts, check
from data_prep.faults import DataFault
from data_prep.forms import Use
from orchestrator import prepared
from orchestrator.backend import Trait
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


@dataclass(frozen=True)
class DataLook:
    """What the files are: setting -> facts, findings about unusable ones, digests of their data manifests."""

    facts: dict[str, DataFacts]
    findings: tuple[Finding, ...]
    manifests: dict[str, str] = field(default_factory=dict)

    @property
    def traits(self) -> tuple[Trait, ...]:
        """What the rows hold that not every engine takes."""
        return tuple(
            Trait(name=name, setting=setting, file=facts.path, line=trait.line, words=trait.words)
            for setting, facts in self.facts.items()
            for name, trait in facts.traits.items()
        )


def look(spec: RunSpec, tick: Callable[[int], None]) -> DataLook:
    """Read every data file that the stage names."""
    facts: dict[str, DataFacts] = {}
    findings: list[Finding] = []
    for setting, path, use in _files(spec):
        try:
            facts[setting] = check(Path(path), use, tick)
            findings += _against_manifest(Path(path), use, facts[setting])
        except DataFault as fault:
            findings += _findings(fault)
    digests = {setting: found for setting, path, _ in _files(spec) if (found := prepared.digest(Path(path)))}
    return DataLook(facts, tuple(findings + _same(facts)), digests)


def _files(spec: RunSpec) -> list[tuple[str, str, Use]]:
    files: list[tuple[str, str, Use]] = []
    if spec.data.train and spec.stage in ("sft", "dpo", "grpo"):
        files.append(("data.train", spec.data.train, spec.stage))
    if spec.data.eval and spec.stage in ("sft", "dpo", "grpo", "eval"):
        files.append(("data.eval", spec.data.eval, spec.stage))
    if spec.rl.held_out and spec.stage == "grpo":
        files.append(("rl.held_out", spec.rl.held_out, "eval"))
    return files


_SERVES: dict[str, tuple[Use, ...]] = {
    "sft": ("sft", "eval"),
    "dpo": ("dpo",),
    "grpo": ("grpo", "eval"),
    "eval": ("grpo", "eval"),
    "kto": (),
}
"""What a file was prepared for -> stages that it serves."""


def _against_manifest(path: Path, use: Use, facts: DataFacts) -> list[Finding]:
    """Hold prepared data against its manifest."""
    found = prepared.of(path)
    if found is None:
        return []
    recorded = next(split.sha256 for split in found.splits.values() if split.file == path.name)
    if recorded != facts.digest:
        message = "the file is not the one that its data manifest records: it was changed after it was prepared"
        fix = "prepare it again, or take the file out of its folder to use it as it is"
        return [Finding(code="data.changed", level="error", message=message, fix=fix, where=str(path))]
    if found.images and (name := pictures.changed(path)):
        message = f"the picture {name} is not the one that was prepared: it was changed or removed"
        return [Finding(code="data.changed", level="error", message=message, fix="prepare it again", where=str(path))]
    if use in _SERVES.get(found.use, ()):
        return []
    message = f"these rows were prepared for {found.use}, and {use} would learn something else from them"
    fix = f"post-train data prepare ... --use {use}"
    return [Finding(code="data.use", level="error", message=message, fix=fix, where=str(path))]


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
