"""Runs as links of a chain: what a run gives its children, and which models a chain holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orchestrator.backend import ArtifactKind, Learned, ModelRef
from orchestrator.errors import HandoffError, ModelError, RunNotFound, UsageError
from orchestrator.harness import PROBE_FILE
from orchestrator.manifest import Parent
from orchestrator.spec import JUDGING_STAGES, RunSpec, Stage, TaskSpec
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
        rows: the file with the rows it was trained on; None where there is none that we can read.
        task: what it was trained on instead.
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
    rows: Path | None = None
    task: TaskSpec | None = None

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
            origin = self.start.origin or self.start.path
            path = str(self.output)
            return ModelRef(label=self.run, path=path, trust_remote_code=trusted, probe=probe, origin=origin)
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
        rows=rows_of(m.spec),
        task=task_of(m.spec),
    )


def rows_of(spec: RunSpec) -> Path | None:
    """The file that a stage trains on."""
    return Path(spec.data.train) if spec.trains and spec.data.train else None


def task_of(spec: RunSpec) -> TaskSpec | None:
    """The task that a stage trains on."""
    return spec.task if spec.trains and spec.task.name else None


def datasets(targets: list[Link], lookup: Lookup) -> dict[Path, str]:
    """Every file that the targets' chains were trained on, with the run that was."""
    found: dict[Path, str] = {}
    for one in _ancestors(targets, lookup):
        if one.rows:
            found.setdefault(one.rows, one.run)
    return found


def learned(targets: list[Link], lookup: Lookup) -> list[Learned]:
    """Every file and every task that the targets' chains were trained on, each once, the newest first."""
    links = list(_ancestors(targets, lookup))
    files = [Learned(run=run, rows=rows) for rows, run in datasets(targets, lookup).items()]
    tasks = {one.task.model_dump_json(): Learned(run=one.run, task=one.task) for one in reversed(links) if one.task}
    return [*files, *reversed(tasks.values())]


def _ancestors(targets: list[Link], lookup: Lookup) -> Iterator[Link]:
    """The targets and all they come from."""
    waiting = list(targets)
    while waiting:
        one = waiting.pop()
        yield one
        waiting += map(lookup, one.parents)


def _kind(kind: ArtifactKind) -> Literal["adapter", "model"] | None:
    return None if kind == "report" else kind


def models(targets: list[Link], lookup: Lookup) -> list[ModelRef]:
    """The models of the targets' chains, oldest first, without repeats: base, then one for each training run.

    An adapter that was merged on the way is represented by its merged model: that is the model the next stage knew.
    """
    found: dict[str, ModelRef] = {}
    for target in targets:
        for label, model in _chain(target, lookup):
            found.setdefault(_key(model), model.model_copy(update={"label": label}))
    return _distinct(list(found.values()))


@dataclass(frozen=True)
class Chosen:
    """What an eval compares.

    Attributes:
        models: oldest first, or first those that the others are compared with.
        against: labels of those.
        runs: runs outside the chains that models were taken from.
    """

    models: tuple[ModelRef, ...]
    against: tuple[str, ...] = ()
    runs: tuple[Link, ...] = ()


def chosen(targets: list[Link], against: list[str], lookup: Lookup) -> Chosen:
    """The models that were asked for, and the last of each target's chain.

    Raises:
        UsageError: a name that is neither a label of these chains nor a run, or the target itself.
    """
    known = models(targets, lookup)
    if not against:
        return Chosen(tuple(known))
    labelled = {model.label: model for model in known}
    others = {name: _other(name, list(labelled), lookup) for name in against if name not in labelled}
    asked = _distinct([labelled[name] if name in labelled else others[name].model for name in against])
    last = {_key(_chain(target, lookup)[-1][1]) for target in targets}
    ends = [model for model in known if _key(model) in last]
    same = sorted(model.label for model in ends if _key(model) in map(_key, asked))
    if same:
        raise UsageError(f"{', '.join(same)} would be compared with itself", where="eval.against", fix="leave it out")
    return Chosen((*asked, *ends), tuple(model.label for model in asked), tuple(others.values()))


def _other(name: str, labels: list[str], lookup: Lookup) -> Link:
    try:
        return lookup(name)
    except RunNotFound as error:
        fix = f"name {', '.join(labels)}, or a run"
        raise UsageError(f"{name!r} is no model of this chain, and no run", where="eval.against", fix=fix) from error


def _key(model: ModelRef) -> str:
    return f"{model.path}|{model.adapter}"


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
