"""The models that a lineage stands on, by content: an adapter fits every sibling of its base and helps none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from orchestrator import manifest
from orchestrator.cache import cache_root
from orchestrator.digest import is_slow, model_digest
from orchestrator.errors import HandoffError
from orchestrator.manifest import Manifest, Parent
from orchestrator.plan import RunPlan


def require_unchanged(plan: RunPlan, say: Callable[[str], None]) -> None:
    """Hold every model folder that a plan takes up against what earlier runs recorded of it.

    Raises:
        HandoffError: one has other content than when a run of the lineage started from it.
    """
    used = {str(Path(model.path)) for model in (plan.model, *plan.compare) if Path(model.path).is_dir()}
    for path, (digest, run) in _recorded(plan.parents).items():
        if path not in used:
            continue
        if is_slow(Path(path)):
            say(f"reading {path}, to compare it with what {run} started from")
        if model_digest(Path(path), cache_root() / "digests") != digest:
            raise HandoffError(
                f"this is not the model that {run} started from: its files changed since",
                where=path,
                why="what was trained is a difference to those weights, under that tokenizer and template",
                fix="put the old files back, or train again from the new ones",
            )


def _recorded(parents: Iterable[Parent]) -> dict[str, tuple[str, str]]:
    """Path of a starting model -> its digest then, and the run that recorded it."""
    found: dict[str, tuple[str, str]] = {}
    for record in _lineage(parents):
        digest = _digest(record)
        if digest:
            found.setdefault(str(Path(record.start.path)), (digest, record.id))
    return found


def _lineage(parents: Iterable[Parent]) -> Iterator[Manifest]:
    """Every run behind a plan that still has its folder, the nearest first."""
    waiting, seen = [p.path for p in parents], set[Path]()
    while waiting:
        path = waiting.pop(0)
        if path in seen or not (path / manifest.FILE).is_file():
            continue
        seen.add(path)
        record = manifest.read(path)
        waiting += [p.path for p in record.parents]
        yield record


def _digest(record: Manifest) -> str | None:
    """What a run recorded of the model it started from: with its adapter, or with what went in."""
    artifact = record.artifact("adapter")
    given = record.identity.get("inputs", {}).get("model")
    known = given.removeprefix("sha256:") if isinstance(given, str) and given.startswith("sha256:") else None
    return (artifact.base_digest if artifact else None) or known
