"""The chain of runs behind one, oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.errors import PostTrainError
from orchestrator.manifest import Manifest, Parent
from orchestrator.report.figures import duration, number
from orchestrator.report.markup import Html, element, join
from orchestrator.store import Run, Store

_PROOF = (("max_abs_logit_difference", "largest logit difference"), ("logit_tolerance", "allowed"))


@dataclass(frozen=True)
class Missing:
    """A parent whose folder is gone or can't be read."""

    id: str
    reason: str


def ancestry(run: Run, store: Store) -> list[Run | Missing]:
    """Every run behind this one, parents before children, and the run itself last."""
    found: dict[str, Run | Missing] = {}

    def walk(one: Run | Missing) -> None:
        if one.id in found:
            return
        parents = one.manifest.parents if isinstance(one, Run) else ()
        for parent in parents:
            if parent.run != run.id:
                walk(_parent(parent, store))
        found[one.id] = one

    walk(run)
    return list(found.values())


def _parent(parent: Parent, store: Store) -> Run | Missing:
    try:
        return store.find(str(parent.path))
    except PostTrainError:
        return _by_name(parent, store)


def _by_name(parent: Parent, store: Store) -> Run | Missing:
    """The run where the store has it now: a moved runs folder keeps its chains."""
    try:
        return store.find(parent.run)
    except PostTrainError as error:
        return Missing(parent.run, error.what)


def chain(runs: Sequence[Run | Missing]) -> Html:
    """The chain as cards, the model it starts from first."""
    first = next((one for one in runs if isinstance(one, Run)), None)
    start = _card("start", first.manifest.start.path, [], "base") if first else None
    return element("ol", start, *(_run(one) for one in runs), class_="chain")


def _run(one: Run | Missing) -> Html:
    if isinstance(one, Missing):
        return _card("missing", one.id, [one.reason], "bad")
    m = one.manifest
    how = f"{m.spec.method}, {m.spec.backend}" if m.spec.trains else m.spec.backend
    facts = [how, f"{m.state.lower()} in {duration(spent(m))}", *_proof(m), *_left(m)]
    return _card(m.spec.stage, m.id, facts, "good" if m.state == "SUCCEEDED" else "bad")


def spent(m: Manifest) -> float:
    """Seconds that a run's attempts took."""
    return sum((a.ended or a.started) - a.started for a in m.attempts)


def _proof(m: Manifest) -> list[str]:
    """A merge's own check: the merged model against base and adapter."""
    named = [(name, m.metrics[key]) for key, name in _PROOF if key in m.metrics]
    return [", ".join(f"{name} {number(value)}" for name, value in named)] if named else []


def _left(m: Manifest) -> list[str]:
    return [f"{a.kind} {a.digest[:12]}" for a in m.artifacts]


def _card(kind: str, name: str, facts: list[str], class_: str) -> Html:
    lines = join(*(element("span", fact, class_="quiet") for fact in facts))
    return element("li", element("b", kind), element("code", name), lines, class_=class_)
