"""The models of an eval side by side: a sentence, bars with intervals, and the table behind them."""

from __future__ import annotations

from orchestrator.report.evaluation import Difference, Evaluation, Interval, Model
from orchestrator.report.figures import change, score, span
from orchestrator.report.markup import Html, element, join, table

_HEAD = ["model", "score", "95 % interval", "change", "95 % of the change", "better / worse", "tokens an answer", "cut"]
_ROW, _BAR = 44, 18


def comparison(found: Evaluation) -> Html:
    """Everything about the scores."""
    note = f"{found.items} held-out items, metric {found.metric}. {_method(found)}"
    return join(*_sentences(found), _bars(found), _table(found), element("p", note, class_="quiet"))


def _method(found: Evaluation) -> str:
    own = "Wilson score intervals" if found.binary else "bootstrap intervals"
    return f"Scores have {own}; changes are paired item by item. Cut: at the token limit."


def _sentences(found: Evaluation) -> list[Html]:
    said = [element("p", _verdict(model), class_="verdict") for model in found.models[-1:]]
    if not found.same_prompts:
        text = "The models did not see the same prompt tokens: their templates or tokenizers differ."
        said.append(element("p", text, class_="warning"))
    return said


def _verdict(last: Model) -> Html:
    begin = join(element("b", last.label), f" scores {score(last.score)}")
    if last.difference is None:
        return join(begin, f" (95 % {span(last.interval)}).")
    text = f" {last.difference.sentence} {_power(last.difference)}"
    return join(begin, ".", text)


def _power(moved: Difference) -> str:
    p_value = "" if moved.p_value is None else f"McNemar p = {moved.p_value:.2g}; "
    return f"({p_value}smallest difference that these items would show: {score(moved.smallest_detectable)})"


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
    moved = model.difference
    change_ = ["", "", ""]
    if moved:
        noise = "" if moved.beyond_noise else " (noise)"
        change_ = [f"{change(moved.score)} to {moved.to}", span(moved.interval, change) + noise]
        change_.append(f"{moved.better_items} / {moved.worse_items}")
    tokens, cut = f"{model.mean_generated_tokens:.1f}", f"{100 * model.share_cut_at_limit:.1f} %"
    name = element("th", model.label, scope="row")
    return [name, score(model.score), span(model.interval), *change_, tokens, cut]
