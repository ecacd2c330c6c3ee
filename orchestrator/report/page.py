"""One self-contained HTML file about a run: `report.html` in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from orchestrator import atomic
from orchestrator.errors import PostTrainError, StorageError
from orchestrator.provenance import redact
from orchestrator.report import evaluation
from orchestrator.report.ancestry import Missing, ancestry, chain, spent
from orchestrator.report.comparison import comparison
from orchestrator.report.curves import panels
from orchestrator.report.evaluation import Evaluation
from orchestrator.report.figures import duration, moment
from orchestrator.report.markup import Html, element, join, text
from orchestrator.report.samples import samples
from orchestrator.report.settings import circumstances, settings
from orchestrator.report.steps import read as read_steps
from orchestrator.store import Run, Store

FILE = "report.html"
_HERE = Path(__file__).parent


def write(run: Run, store: Store) -> Path:
    """Write the page, replacing an older one.

    Raises:
        StorageError: it can't be written.
    """
    runs = ancestry(run, store)
    parts = (_header(run), _problems(runs), *_result(run), _section("How it came about", chain(runs)))
    training = [_training(one) for one in runs if isinstance(one, Run)]
    body = join(*parts, *training, *_details(runs))
    path = run.path / FILE
    atomic.write_text(path, _whole(_title(run), body))
    return path


def _whole(title: str, body: Html) -> str:
    skeleton = Template((_HERE / "page.html").read_text(encoding="utf-8"))
    return skeleton.substitute(title=text(title), style=(_HERE / "style.css").read_text(encoding="utf-8"), body=body)


def _title(run: Run) -> str:
    return f"{run.manifest.spec.name}: {run.manifest.spec.stage}"


def _header(run: Run) -> Html:
    m = run.manifest
    state = element("span", m.state.lower(), class_="good" if m.state == "SUCCEEDED" else "bad")
    line = join(element("code", m.id), " ", state, f" {moment(m.created)}, {duration(spent(m))}")
    return element("header", element("h1", _title(run)), element("p", line, class_="quiet"))


def _section(title: str, *inside: object) -> Html:
    return element("section", element("h2", title), *inside)


def _problems(runs: Sequence[Run | Missing]) -> Html | None:
    """Failures and warnings of every run of the chain, before anything else: they put all the rest in its light."""
    said = [line for one in runs for line in (_warnings(one) if isinstance(one, Run) else ())]
    return _section("Warnings", element("ul", *said, class_="warnings")) if said else None


def _warnings(run: Run) -> list[Html]:
    m = run.manifest
    failure = [f"[{m.failure.code}] {m.failure.message}", m.failure.why, m.failure.fix] if m.failure else []
    lines = [*([". ".join(part for part in failure if part)] if failure else []), *m.warnings]
    return [element("li", element("code", m.id), " ", redact(line)) for line in lines]


def _result(run: Run) -> list[Html]:
    """The comparison and the samples of an eval; a damaged file is told and hides nothing else."""
    try:
        found = evaluation.read(run)
        if found is None or not found.models:
            return []
        return [_section("Result", comparison(found)), *_samples(run, found)]
    except StorageError as error:
        return [_section("Result", _told(error))]


def _samples(run: Run, found: Evaluation) -> list[Html]:
    try:
        items = list(evaluation.items(run))
    except StorageError as error:
        return [_section("Answers", _told(error))]
    return [_section("Answers", samples(found, items))] if items else []


def _told(error: PostTrainError) -> Html:
    return element("p", "; ".join(error.lines()), class_="warning")


def _training(run: Run) -> Html | None:
    m = run.manifest
    if not m.spec.trains:
        return None
    steps = read_steps(run.path)
    drawn = panels(steps)
    notes = [element("p", note, class_="quiet") for note in (*steps.notes, *_resumed(steps.resumed))]
    curves = element("div", *drawn, class_="curves") if drawn else element("p", "No steps were logged.", class_="quiet")
    return _section(f"Training: {m.spec.stage}", element("p", element("code", m.id)), curves, *notes)


def _resumed(first: Sequence[int]) -> list[str]:
    if not first:
        return []
    places = ", ".join(map(str, first))
    return [f"Resumed before step {places}; steps that were repeated are drawn as they were repeated."]


def _details(runs: Sequence[Run | Missing]) -> list[Html]:
    inside = [_detail(one) for one in runs if isinstance(one, Run)]
    return [_section("Settings and provenance", *inside)]


def _detail(run: Run) -> Html:
    m = run.manifest
    head = element("summary", element("b", m.spec.stage), " ", element("code", m.id))
    return element("details", head, settings(m), element("h3", "Provenance"), circumstances(m), class_="run")
