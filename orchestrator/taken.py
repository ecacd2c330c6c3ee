"""What a stage takes up, held against the records of those that made it: files, probes, data, code, bases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator import artifacts, bases, inputs, manifest
from orchestrator.errors import DataError, HandoffError, PostTrainError, StorageError
from orchestrator.harness import PROBE_FILE
from orchestrator.manifest import Manifest, Parent
from orchestrator.plan import RunPlan

Say = Callable[[str], None]


def require_as_recorded(plan: RunPlan, say: Say) -> tuple[Parent, ...]:
    """Hold everything that goes into a stage against what was recorded of it.

    Returns:
        The plan's parents with the digests that they have now.

    Raises:
        DataError: data, code or the starting model changed since the plan.
        HandoffError: a run that is taken up, or the base below it, is not what it was.
    """
    _unchanged(plan, say)
    bases.require_unchanged(plan, say)
    digests = {run: _intact(run) for run in _runs(plan)}
    return tuple(parent.model_copy(update={"digest": digests[parent.path]}) for parent in plan.parents)


def objection(plan: RunPlan) -> PostTrainError | None:
    """The same once a worker has loaded all of it, or is done: nobody may have changed it between look and use."""
    try:
        require_as_recorded(plan, lambda _: None)
    except (DataError, HandoffError, StorageError) as error:
        return error
    return None


def _unchanged(plan: RunPlan, say: Say) -> None:
    """Refuse what changed since the plan: its fingerprint would name what never went in."""
    changed = inputs.changed(plan.spec, plan.identity["inputs"], say)
    if changed:
        raise DataError(
            f"{', '.join(changed)} changed since the run was planned",
            where=", ".join(changed.values()),
            why="a run is what its fingerprint says, and a resumed run is the run it was",
            fix="put the old content back, or start a new run",
        )


def _runs(plan: RunPlan) -> list[Path]:
    """Folders of the runs whose models are taken up: of the parents, and of every model that an eval compares."""
    probes = [Path(model.probe).parent for model in (plan.model, *plan.compare) if model.probe]
    others = [path for path in probes if (path / manifest.FILE).is_file()]
    return list(dict.fromkeys([*(parent.path for parent in plan.parents), *others]))


def _intact(run: Path) -> str:
    """The digest of what a run made."""
    record = manifest.read(run)
    artifact = record.artifact("adapter", "model")
    if artifact is None or not artifacts.intact(run, artifact):
        raise HandoffError(
            f"the files of {record.id} are not those its manifest records",
            where=str(run),
            why="a stage never starts from something other than what its parent made",
        )
    if _probe(run) != record.probe:
        raise _other_probe(run, record)
    return artifact.digest


def _probe(run: Path) -> Any:
    """What lies beside the manifest; None without any, and for what can't be read something that no manifest holds."""
    try:
        return json.loads((run / PROBE_FILE).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        return "damaged"


def _other_probe(run: Path, record: Manifest) -> HandoffError:
    gone = not (run / PROBE_FILE).exists()
    return HandoffError(
        f"the probe of {record.id} is {'gone' if gone else 'not the one that its manifest records'}",
        where=str(run / PROBE_FILE),
        why="a model is held to what its maker measured, and somebody changed the measure",
        fix=f"put the old file back (its content is `probe` in {manifest.FILE}), or make the model again",
    )
