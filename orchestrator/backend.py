"""The port that every engine implements, and the plain objects that cross it.

An adapter is pure: it looks at a spec and a job and says what would be run. It starts nothing, imports no
framework, and knows no other backend.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import Field

from orchestrator.findings import Finding
from orchestrator.hardware import Machine
from orchestrator.spec import Method, Part, RunSpec, Stage, TaskSpec

ArtifactKind = Literal["adapter", "model", "report"]


class ModelRef(Part):
    """A model that exists, or will when the parent run is done.

    Attributes:
        label: how tables name it: `base`, or the run id it comes from.
        path: folder with a full model, or a hub name.
        adapter: folder with a PEFT adapter to put on top, if any.
        revision: hub revision of `path`.
        trust_remote_code: whether the user allowed the model's own code.
        probe: file with what the model answered where it was made, to be compared where it is taken up.
        origin: the model that its chain began with, of the same kind and sizes; None for that one itself.
    """

    label: str
    path: str
    adapter: str | None = None
    revision: str | None = None
    trust_remote_code: bool = False
    probe: str | None = None
    origin: str | None = None


class Trait(Part):
    """What some rows of a data file hold and not every engine takes; `data_prep.traits` lists the names.

    Attributes:
        setting: data.train or data.eval.
        file: the data file; `line`: the first line that has it.
        words: what stands there.
    """

    name: str
    setting: str
    file: Path
    line: int
    words: str

    @property
    def where(self) -> str:
        """`file:line`"""
        return f"{self.file}:{self.line}"


class Leak(Part):
    """An evaluation item that stands in training data too: places as file:line, and how it was seen."""

    item: str
    row: str
    how: str


class Learned(Part):
    """What a run of the chain was trained on: a file of rows, or a task."""

    run: str
    rows: Path | None = None
    task: TaskSpec | None = None


class Job(Part):
    """What an adapter may know beside the spec: where, on what, and from which models.

    Attributes:
        run_dir: the run's own folder; everything the engine writes lies below it.
        model: the model the stage starts from.
        compare: the models an eval compares, oldest first; empty elsewhere.
        against: labels of those that the others are compared with; empty: each with the one before.
        leaks: items of an eval that the chain was trained on.
        learned: what the chain was trained on and only the worker of an eval can look at, because it runs a task.
        machine: the hardware found here.
        packages: distribution name -> version in the backend environment; None while it is not installed.
        python: interpreter of that environment, whose files may be looked at; None while it is not installed.
        rows: number of training rows, when the data was read.
        form: columns of the training rows, e.g. `messages` or `prompt+completion`; None when unknown.
        traits: what the rows hold that not every engine takes; training rows first.
    """

    run_dir: Path
    model: ModelRef
    compare: tuple[ModelRef, ...] = ()
    against: tuple[str, ...] = ()
    leaks: tuple[Leak, ...] = ()
    learned: tuple[Learned, ...] = ()
    machine: Machine
    packages: dict[str, str] | None = None
    python: Path | None = None
    rows: int | None = None
    form: str | None = None
    traits: tuple[Trait, ...] = ()

    def has(self, *names: str) -> bool:
        """Whether the environment is known to have one of these distributions, by normalised names."""
        there = {re.sub(r"[-_.]+", "-", name.lower()) for name in self.packages or {}}
        return not there.isdisjoint(names)


class NativeFile(Part):
    """A file of the engine's own, path relative to the run folder."""

    path: str
    content: str


class LaunchSpec(Part):
    """What to start in the backend's Python, before a launcher makes an argv of it.

    Attributes:
        module: `python -m` name.
        args: its arguments.
        processes: ranks; more than one goes through torchrun.
        env: variables added to the clean environment.
    """

    module: str
    args: tuple[str, ...] = ()
    processes: int = 1
    env: dict[str, str] = {}


class Expected(Part):
    """An artifact the stage promises, path relative to the run folder."""

    kind: ArtifactKind
    path: str


class Native(Part):
    """Everything an engine needs to do a stage."""

    files: tuple[NativeFile, ...]
    launch: LaunchSpec
    expected: tuple[Expected, ...]


class Capabilities(Part):
    """What a backend can do.

    Attributes:
        methods: stage -> the methods it supports there (empty for merge and eval, which have none).
        sharding: ways to spread one model over ranks.
        rows_keys: native keys that name training rows in the engine's own way, instead of `data.train`.
        cadence: native keys, dotted, that say how long to train, or how often to log, validate and save. Where a run is
            bounded from outside, they give way.
        keys: setting -> the dotted keys of the first native file that it may be written to.
        tasks: runs tasks, which have an environment of their own, in the stages grpo and eval that it has.
        reward_functions: runs plain reward functions over rows of prompts there.
        stand_in: trains nothing, so that nobody is offered it.
    """

    methods: dict[Stage, tuple[Method, ...]]
    sharding: tuple[str, ...] = ("none",)
    rows_keys: tuple[str, ...] = ()
    cadence: tuple[str, ...] = ()
    keys: dict[str, tuple[str, ...]] = {}
    tasks: bool = False
    reward_functions: bool = True
    stand_in: bool = False


class EnvLock(Part):
    """The lock of a backend environment.

    Attributes:
        folder: holds `cpu.lock` and `cuda.lock` (exact pins with hashes) and `torch.txt`, the pin whose build differs.
            Where there is something to say: `source.txt`, names that are built from source because nobody publishes a
            wheel; `overrides.txt`, pins that replace another package's; `optional.toml`, pieces that can be built on
            top and packages that are refused; `conflicts.toml`, what is known to go wrong.
    """

    folder: Path


class Backend(Protocol):
    """An engine behind the port."""

    name: str
    summary: str

    def capabilities(self) -> Capabilities: ...

    def lock(self) -> EnvLock | None:
        """The environment's lock; None when the core's own interpreter will do."""

    def check(self, spec: RunSpec, job: Job) -> list[Finding]:
        """Everything wrong or unwise about this spec for this engine, all at once."""

    def materialize(self, spec: RunSpec, job: Job) -> Native:
        """The native config, launch and promised artifacts. Pure; called only when `check` found no error."""


class Foreign(Part):
    """A configuration written for an engine itself, as read.

    Attributes:
        path: the file, as named.
        given: its keys and values, as the engine's own YAML reader sees them.
        lines: dotted key -> line, counted from 1.
        folder: where the engine would be started: relative paths in the file begin there.
        target: folder of the recipe that is to be written.
    """

    path: Path
    given: dict[str, Any]
    lines: dict[str, int]
    folder: Path
    target: Path


class Translated(Part):
    """A setting of ours that stands for keys of a foreign file: dotted, `native.KEY` where there is none of ours.

    Attributes:
        line: of the key it comes from; None when the file doesn't say, and the engine's default is written out.
        comment: to stand above it in the recipe.
    """

    setting: str
    value: Any
    line: int | None = None
    comment: str | None = None


class Refused(Part):
    """A key that is left out, or that the whole file is refused for: dotted, its line, and why."""

    key: str
    line: int
    reason: str


class Imported(Part):
    """A foreign configuration in our vocabulary.

    Attributes:
        settings: what goes into the recipe.
        left_out: keys without effect here or in the engine, with reasons.
        refused: why there can be no recipe; empty when there is one.
        nulls: keys without a value, which say nothing and vanish.
        notes: what else a person should know.
    """

    settings: tuple[Translated, ...] = ()
    left_out: tuple[Refused, ...] = ()
    refused: tuple[Refused, ...] = ()
    nulls: int = 0
    notes: tuple[str, ...] = ()


@runtime_checkable
class ConfigImporter(Protocol):
    """What a backend adds that reads its engine's own configuration files."""

    def import_config(self, foreign: Foreign, processes: int | None) -> Imported:
        """The file as settings of ours. Pure; `processes` is the number of ranks where somebody named one."""


class ArtifactFile(Part):
    """One file of an artifact: path relative to the artifact, size in bytes, sha256 in hex."""

    path: str
    size: int
    sha256: str


class Artifact(Part):
    """Something a stage left, with digests.

    Attributes:
        kind: adapter, model or report.
        path: relative to the run folder.
        format: e.g. `safetensors`, `json`.
        digest: sha256 over the sorted file digests.
        files: every file.
        base: path or hub name of the model an adapter belongs to.
        base_digest: its digest, when it is a folder here.
        dtype: stored dtype, when known.
    """

    kind: ArtifactKind
    path: str
    format: str
    digest: str
    files: tuple[ArtifactFile, ...]
    base: str | None = None
    base_digest: str | None = None
    dtype: str | None = None
    facts: dict[str, Any] = Field({}, description="Further facts, e.g. tensor count.")
