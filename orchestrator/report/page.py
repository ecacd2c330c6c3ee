"""One self-contained HTML file about a run: `report.html` in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from orchestrator import atomic
from orchestrator.errors import StorageError
from orchestrator.provenance import redact
from orchestrator.report import evaluation
from orchestrator.report.ancestry import Missing, ancestry, chain, spent
from orchestrator.report.comparison import comparison
from orchestrator.report.curves import panels
from orchestrator.report.figures import duration, moment, number
from orchestrator.report.markup import Html, element, join, table, text
from orchestrator.report.samples import samples
from orchestrator.report.settings import circumstances, settings
from orchestrator.report.steps import WATCHED, Steps, looks
from orchestrator.report.steps import read as read_steps
from orchestrator.store import Run, Store

FILE = "report.html"
_HERE = Path(__file__).parent


def write(run: Run, store: Store) -> Path:
    """Write the page, replacing an older one.

    Raises:
        StorageError: it can't be written.
    """
    path = run.path / FILE
    atomic.write_text(path, _whole(run, ancestry(run, store)))
    return path


def _whole(run: Run, runs: Sequence[Run | Missing]) -> str:
    known = [one for one in runs if isinstance(one, Run)]
    parts = (
        *(_header(run), _warnings(known), _section("Result", _result(run))),
        *(_section("How it came about", chain(runs)), *map(_training, known)),
        *(_section("Answers", _answers(run)), _section("Settings and provenance", *map(_details, known))),
    )
    skeleton = Template((_HERE / "page.html").read_text(encoding="utf-8"))
    style = (_HERE / "style.css").read_text(encoding="utf-8")
    return skeleton.substitute(title=text(_title(run)), style=style, body=join(*parts))


def _title(run: Run) -> str:
    return f"{run.manifest.spec.name}: {run.manifest.spec.stage}"


def _header(run: Run) -> Html:
    m = run.manifest
    state = element("span", m.state.lower(), class_="good" if m.state == "SUCCEEDED" else "bad")
    line = join(element("code", m.id), " ", state, f" {moment(m.created)}, {duration(spent(m))}")
    return element("header", element("h1", _title(run)), element("p", line, class_="quiet"))


def _section(title: str, *inside: object) -> Html | None:
    """A section; None when there is nothing in it."""
    return element("section", element("h2", title), *inside) if any(inside) else None


def _warnings(runs: Sequence[Run]) -> Html | None:
    """Failures and warnings of every run of the chain, before anything else: they put all the rest in its light."""
    said = [element("li", element("code", one.id), " ", redact(line)) for one in runs for line in _said(one)]
    return _section("Warnings", element("ul", *said, class_="warnings")) if said else None


def _said(run: Run) -> list[str]:
    m = run.manifest
    failure = [f"[{m.failure.code}] {m.failure.message}", m.failure.why, m.failure.fix] if m.failure else []
    return [*([". ".join(part for part in failure if part)] if failure else []), *m.warnings]


def _result(run: Run) -> Html | None:
    """The comparison of an eval; a damaged file is told and hides nothing else."""
    try:
        found = evaluation.read(run)
    except StorageError as error:
        return element("p", "; ".join(error.lines()), class_="warning")
    return comparison(found) if found and found.models else None


def _answers(run: Run) -> Html | None:
    try:
        found, items = evaluation.read(run), list(evaluation.items(run))
    except StorageError as error:
        return element("p", "; ".join(error.lines()), class_="warning")
    return samples(found, items) if found and found.models and items else None


def _training(run: Run) -> Html | None:
    if not run.manifest.spec.trains:
        return None
    steps = read_steps(run.path)
    drawn = panels(steps)
    curves = element("div", *drawn, class_="curves") if drawn else element("p", "No steps were logged.", class_="quiet")
    notes = [element("p", note, class_="quiet") for note in (*steps.notes, *_resumed(steps.resumed))]
    return _section(
        f"Training: {run.manifest.spec.stage}", element("p", element("code", run.id)), curves, _watched(steps), *notes
    )


def _watched(found: Steps) -> Html | None:
    """Reward beside held-out quality, length and KL."""
    rows = [[step, *("" if value is None else number(value) for value in values)] for step, values in looks(found)]
    return table(["step", *WATCHED], rows, class_="numbers") if rows else None


def _resumed(first: Sequence[int]) -> list[str]:
    if not first:
        return []
    places = ", ".join(map(str, first))
    return [f"Resumed before step {places}; steps that were repeated are drawn as they were repeated."]


def _details(run: Run) -> Html:
    m = run.manifest
    head = element("summary", element("b", m.spec.stage), " ", element("code", m.id))
    return element("details", head, settings(m), element("h3", "Provenance"), circumstances(m), class_="run")
