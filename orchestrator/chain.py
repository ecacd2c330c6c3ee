"""Runs as links of a chain: what a run gives its children, and which models a chain holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orchestrator.backend import ArtifactKind, ModelRef
from orchestrator.errors import HandoffError, ModelError
from orchestrator.harness import PROBE_FILE
from orchestrator.manifest import Parent
from orchestrator.spec import JUDGING_STAGES, Stage
from orchestrator.store import Run, named


@dataclass(frozen=True)
class Link:
    """A run as its children see it, finished or only planned.

    Attributes:
        start: the model it started from.
        kind: what it leaves: adapter or model; None for an eval.
        output: the folder of that.
        digest: of the output, once it exists.
        parents: ids of the runs it starts from.
    """

    run: str
    name: str
    path: Path
    stage: Stage
    fingerprint: str
    start: ModelRef
    kind: Literal["adapter", "model"] | None
    output: Path | None
    digest: str | None
    parents: tuple[str, ...]

    @property
    def model(self) -> ModelRef:
        """The model the run gives.

        Raises:
            ModelError: it gives none.
        """
        if self.output is None or self.kind is None:
            raise ModelError(
                f"{self.run} is a run of {self.stage} and leaves no model to start from",
                fix="name a training or merge run",
            )
        trusted, probe = self.start.trust_remote_code, str(self.path / PROBE_FILE)
        if self.kind == "model":
            return ModelRef(label=self.run, path=str(self.output), trust_remote_code=trusted, probe=probe)
        return self.start.model_copy(update={"label": self.run, "adapter": str(self.output), "probe": probe})

    @property
    def as_parent(self) -> Parent:
        """The record a child keeps."""
        return Parent(run=self.run, path=self.path, digest=self.digest)


Lookup = Callable[[str], Link]
"""Run id -> its link."""


def link(run: Run) -> Link:
    """The link of a finished run.

    Raises:
        HandoffError: it is not finished, or left nothing.
    """
    m = run.manifest
    if m.state != "SUCCEEDED":
        fix = "wait for it" if m.state == "RUNNING" else f"post-train run --resume {named(run.id, run.path.parent)}"
        raise HandoffError(f"{run.id} is {m.state}, so nothing can start from it", where=str(run.path), fix=fix)
    artifact = m.artifact("adapter", "model")
    if artifact is None and m.spec.stage not in JUDGING_STAGES:
        raise HandoffError(f"{run.id} left no model", where=str(run.path))
    return Link(
        run=run.id,
        name=m.spec.name,
        path=run.path,
        stage=m.spec.stage,
        fingerprint=m.fingerprint,
        start=m.start,
        kind=_kind(artifact.kind) if artifact else None,
        output=run.path / artifact.path if artifact else None,
        digest=artifact.digest if artifact else None,
        parents=tuple(p.run for p in m.parents),
    )


def _kind(kind: ArtifactKind) -> Literal["adapter", "model"] | None:
    return None if kind == "report" else kind


def models(targets: list[Link], lookup: Lookup) -> list[ModelRef]:
    """The models of the targets' chains, oldest first, without repeats: base, then one for each training run.

    An adapter that was merged on the way is represented by its merged model: that is the model the next stage knew.
    """
    found: dict[str, ModelRef] = {}
    for target in targets:
        for label, model in _chain(target, lookup):
            key = f"{model.path}|{model.adapter}"
            found.setdefault(key, model.model_copy(update={"label": label}))
    return _distinct(list(found.values()))


def _chain(target: Link, lookup: Lookup) -> list[tuple[str, ModelRef]]:
    line = [target]
    while line[0].parents:
        line.insert(0, lookup(line[0].parents[0]))
    merged = {child.parents[0]: child for child in line if child.stage == "merge" and child.parents}
    trained = [(one, merged.get(one.run, one)) for one in line if one.stage in ("sft", "dpo", "grpo")]
    return [("base", line[0].start), *((one.stage, carrier.model) for one, carrier in trained)]


def _distinct(models: list[ModelRef]) -> list[ModelRef]:
    """Give models that share a label a number, so that tables can tell them apart."""
    seen: dict[str, int] = {}
    result = []
    for model in models:
        seen[model.label] = seen.get(model.label, 0) + 1
        repeated = seen[model.label] > 1
        result.append(model.model_copy(update={"label": f"{model.label}-{seen[model.label]}"}) if repeated else model)
    return result
