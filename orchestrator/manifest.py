"""The record of a run: what was asked, from what, on what, what came of it. One JSON file, replaced atomically."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from orchestrator import atomic
from orchestrator.backend import Artifact, ArtifactKind, ModelRef
from orchestrator.errors import StorageError
from orchestrator.spec import Part, RunSpec

State = Literal["RUNNING", "SUCCEEDED", "FAILED", "INTERRUPTED"]
SCHEMA = 1
FILE = "manifest.json"


class Parent(Part):
    """A run this one starts from, and the digest of the artifact it took; None while that run is only planned."""

    run: str
    path: Path
    digest: str | None = None


class DataParent(Part):
    """Prepared data that went in: the setting that named it, its folder, and the digest of its data manifest."""

    setting: str
    folder: Path
    digest: str


class Attempt(Part):
    """One try: times in seconds since the epoch; exit code negative for a signal; `resumed`: it went on from a stop."""

    number: int
    started: float
    ended: float | None = None
    pid: int | None = None
    exit_code: int | None = None
    resumed: bool = False
    state: State = "RUNNING"


class Failure(Part):
    """Why a run failed, as the user was told."""

    code: str
    message: str
    why: str | None = None
    fix: str | None = None


class Manifest(Part):
    """Everything that is remembered of a run.

    Attributes:
        start: the model it starts from.
        origins: dotted setting -> where its value came from.
        fingerprint: hash of `identity`, the payload that makes the run what it is.
        plan: digest of the plan that it executes; None for runs of earlier versions.
        metrics: final numbers by name.
        probe: what the model answered when it was made: the behavioural checksum its takers are held to.
        handoffs: where this run compared a model it took up with its maker's probe, and by how much they differed.
    """

    schema_version: int = SCHEMA
    id: str
    state: State
    created: float
    updated: float
    spec: RunSpec
    start: ModelRef
    origins: dict[str, str] = {}
    fingerprint: str
    plan: str | None = None
    identity: dict[str, Any] = {}
    pipeline: str | None = Field(None, description="Id shared by the stages of one pipeline run.")
    parents: tuple[Parent, ...] = ()
    data: tuple[DataParent, ...] = ()
    provenance: dict[str, Any] = {}
    attempts: tuple[Attempt, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    metrics: dict[str, Any] = {}
    probe: dict[str, Any] | None = None
    handoffs: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    failure: Failure | None = None

    def artifact(self, *kinds: ArtifactKind) -> Artifact | None:
        """The first artifact of one of these kinds."""
        return next((a for a in self.artifacts if a.kind in kinds), None)

    def changed(self, **fields: Any) -> Manifest:
        """A copy with these fields replaced and the time of change set."""
        return self.model_copy(update={**fields, "updated": now()})


def now() -> float:
    """Seconds since the epoch."""
    return datetime.now(UTC).timestamp()


def write(run_dir: Path, manifest: Manifest) -> None:
    """Replace the manifest atomically."""
    atomic.write_json(run_dir / FILE, manifest.model_dump(mode="json", by_alias=True))


def read(run_dir: Path) -> Manifest:
    """Read a run's manifest.

    Raises:
        StorageError: it is missing, damaged, or written by a newer version.
    """
    path = run_dir / FILE
    try:
        raw = json.loads(path.read_bytes())
        if isinstance(raw, dict) and raw.get("schema_version", 0) > SCHEMA:
            raise StorageError(
                "the manifest was written by a newer post-train", where=str(path), fix="upgrade post-train"
            )
        return Manifest.model_validate(raw)
    except OSError as error:
        raise StorageError(f"the manifest can't be read: {error.strerror}", where=str(path)) from None
    except (TypeError, ValueError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise StorageError(
            f"the manifest is damaged: {first}", where=str(path), fix=f"post-train runs rm {run_dir.name}"
        ) from None
