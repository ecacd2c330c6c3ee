"""The models of an eval side by side: a sentence, bars with intervals, and the table behind them."""

from __future__ import annotations

from orchestrator.report.evaluation import Difference, Evaluation, Gate, Interval, Model
from orchestrator.report.figures import change, score, span
from orchestrator.report.markup import Html, element, join, table

_HEAD = ["model", "score", "95 % interval", "tokens an answer", "cut"]
_CHANGES = ["model", "change", "95 % of the change", "better / worse", "p", "smallest that would show"]
_ROW, _BAR = 44, 18


def comparison(found: Evaluation) -> Html:
    """Everything about the scores."""
    note = f"{found.items} held-out items, metric {found.metric}. {_method(found)}"
    parts = (_bars(found), _table(found), _rewards(found), _changes(found), _gates(found))
    return join(*_sentences(found), *parts, element("p", note, class_="quiet"))


def _method(found: Evaluation) -> str:
    own = "Wilson score intervals" if found.binary else "bootstrap intervals"
    test = "McNemar's test" if found.binary else "a sign-flip test"
    paired = f"changes are paired item by item, with bootstrap intervals and {test}"
    return f"Scores have {own}; {paired}. What would show: found four times in five at 5 %. Cut: at the token limit."


def _sentences(found: Evaluation) -> list[Html]:
    """The last model against every other it was held against, in words."""
    last = found.models[-1]
    said = [element("p", f"{one.sentence}.", class_="verdict") for one in last.differences] or [_alone(last)]
    if not found.same_prompts:
        text = "The models did not see the same prompt tokens: their templates or tokenizers differ."
        said.append(element("p", text, class_="warning"))
    return said


def _alone(model: Model) -> Html:
    inside = (element("b", model.label), f" scores {score(model.score)} (95 % {span(model.interval)}).")
    return element("p", *inside, class_="verdict")


def _bars(found: Evaluation) -> Html:
    rows = [part for n, model in enumerate(found.models) for part in _bar(n, model, _scale(found))]
    names = element("title", "Scores: " + ", ".join(f"{m.label} {score(m.score)}" for m in found.models))
    height = _ROW * len(found.models)
    return element("figure", element("svg", names, *rows, width="100%", height=height, role="img", class_="bars"))


def _scale(found: Evaluation) -> Interval:
    """What the ends of the bars stand for: 0 and 1 for shares, else whatever holds zero and all intervals."""
    ends = [0.0, *(end for m in found.models for end in (*m.interval, m.score)), *([1.0] if found.binary else [])]
    return min(ends), max(ends) if max(ends) > min(ends) else min(ends) + 1.0


def _bar(number_: int, model: Model, scale: Interval) -> list[Html]:
    top = number_ * _ROW
    middle = top + 18 + _BAR / 2
    zero, end = sorted((_place(0.0, scale), _place(model.score, scale)))
    left, right = (_place(value, scale) for value in model.interval)
    label = join(element("tspan", model.label, class_="strong"), f"  {score(model.score)}  ({span(model.interval)})")
    whisker = [((left, right), (middle, middle)), ((left, left), (middle - 5, middle + 5))]
    whisker.append(((right, right), (middle - 5, middle + 5)))
    return [
        element("text", label, x=0, y=top + 12),
        element("rect", x="0", y=top + 18, width="100%", height=_BAR, class_="track", rx=3),
        element("rect", x=f"{zero}%", y=top + 18, width=f"{end - zero:.2f}%", height=_BAR, class_="bar", rx=3),
        *(element("line", x1=f"{a}%", x2=f"{b}%", y1=c, y2=d, class_="whisker") for (a, b), (c, d) in whisker),
    ]


def _place(value: float, scale: Interval) -> float:
    """Percent of the width; the ends stay inside, where a line of some width is still seen."""
    return round(0.2 + 99.6 * (value - scale[0]) / (scale[1] - scale[0]), 2)


def _table(found: Evaluation) -> Html:
    return table(_HEAD, [_row(model) for model in found.models], class_="numbers")


def _row(model: Model) -> list[object]:
    tokens = "" if model.mean_generated_tokens is None else f"{model.mean_generated_tokens:.1f}"
    cut = "" if model.share_cut_at_limit is None else f"{100 * model.share_cut_at_limit:.1f} %"
    name = element("th", model.label, scope="row")
    return [name, score(model.score), span(model.interval), tokens, cut]


def _rewards(found: Evaluation) -> Html | None:
    """The rewards of a task, or metrics of benchmarks, where there are several."""
    names = list(found.models[0].parts)
    rows = [_parts(model) for model in found.models]
    return table(["model", *names], rows, class_="numbers") if len(names) > 1 else None


def _parts(model: Model) -> list[object]:
    parts = (f"{score(part.score)} ({span(part.interval)})" for part in model.parts.values())
    return [element("th", model.label, scope="row"), *parts]


def _changes(found: Evaluation) -> Html | None:
    rows = [_change(model, moved) for model in found.models for moved in model.differences]
    return table(_CHANGES, rows, class_="numbers") if rows else None


def _change(model: Model, moved: Difference) -> list[object]:
    name = element("th", f"{model.label} against {moved.to}", scope="row")
    noise = "" if moved.beyond_noise else " (noise)"
    both = f"{moved.better_items} / {moved.worse_items}"
    least = "none" if moved.smallest is None else score(moved.smallest)
    return [name, change(moved.score), span(moved.interval, change) + noise, both, f"{moved.p:.2g}", least]


def _gates(found: Evaluation) -> Html | None:
    rows = [_gate(one) for one in found.gates]
    return table(["gate", "score", "limit", "outcome"], rows, class_="numbers") if rows else None


def _gate(one: Gate) -> list[object]:
    outcome = element("td", "passed" if one.passed else "failed", class_="good" if one.passed else "bad")
    return [element("th", one.gate, scope="row"), score(one.score), score(one.limit), outcome]
