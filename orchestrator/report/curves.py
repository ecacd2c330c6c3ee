"""Curves over steps as inline SVG; colours come from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.report.figures import number
from orchestrator.report.markup import Html, element, join
from orchestrator.report.steps import Steps

Point = tuple[int, float]

PANELS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("Loss", (("loss", "training"), ("eval_loss", "held out"))),
    ("Reward", (("reward", "training"), ("eval_reward", "held out"), ("validation/reward", "validation"))),
    ("Held-out score, which the reward never sees", (("held_out/score", "held out"),)),
    ("Preferred answer ranked first", (("rewards/accuracies", "training"), ("eval_rewards/accuracies", "held out"))),
    ("Reward margin", (("rewards/margins", "training"), ("eval_rewards/margins", "held out"))),
    ("KL to the starting model", (("kl", "training"),)),
    ("Tokens predicted right", (("mean_token_accuracy", "training"), ("eval_mean_token_accuracy", "held out"))),
    ("Tokens per answer", (("completions/mean_length", "training"), ("held_out/tokens", "held out"))),
    ("Answers cut off", (("completions/clipped_ratio", "training"), ("validation/truncation_rate/mean", "validation"))),
    ("Turns of an episode", (("rollout/num_turns/mean", "training"), ("validation/num_turns/mean", "validation"))),
    (
        "Largest log-probability difference, trainer to generator",
        (("trainer_generator/logprob_difference", "training"),),
    ),
    ("Groups with equal rewards", (("frac_reward_zero_std", "training"),)),
    ("Entropy", (("entropy", "training"),)),
    ("Gradient norm", (("grad_norm", "training"),)),
)
"""Title -> metrics drawn together, each with its name in the legend."""

DRAWN = frozenset(metric for _, metrics in PANELS for metric, _ in metrics)
"""Every metric that has a place in a panel."""

_WIDTH, _HEIGHT = 360, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 10, 26
_MOST = 400
"""Points drawn of one curve."""


@dataclass(frozen=True)
class Line:
    """One curve."""

    name: str
    points: tuple[Point, ...]
    style: str


@dataclass(frozen=True)
class Frame:
    """Values that the edges of the picture stand for."""

    left: float
    right: float
    low: float
    high: float

    def x(self, step: float) -> float:
        """Horizontal place of a step, in SVG units."""
        return round(_LEFT + (step - self.left) / (self.right - self.left) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        """Vertical place of a value, in SVG units."""
        return round(_HEIGHT - _BOTTOM - (value - self.low) / (self.high - self.low) * (_HEIGHT - _TOP - _BOTTOM), 1)


def panels(steps: Steps) -> list[Html]:
    """One picture for each panel that has something to show."""
    found = []
    for title, metrics in PANELS:
        named = [(steps.series.get(metric), name, n) for n, (metric, name) in enumerate(metrics, 1)]
        lines = [Line(name, thinned(sorted(s.items())), f"series-{n}") for s, name, n in named if s]
        if lines:
            found.append(_panel(title, lines, steps.resumed))
    return found


def thinned(points: Sequence[Point]) -> tuple[Point, ...]:
    """Few enough points to draw; of each stretch the lowest and the highest stay, so that no spike is hidden."""
    if len(points) <= _MOST:
        return tuple(points)
    width = math.ceil(len(points) / (_MOST // 2))
    stretches = (points[n : n + width] for n in range(0, len(points), width))
    ends = ({min(s, key=lambda p: p[1]), max(s, key=lambda p: p[1])} for s in stretches)
    return tuple(sorted({points[0], points[-1]}.union(*ends)))


def ticks(low: float, high: float) -> list[float]:
    """Three to six round values that enclose a range."""
    rough = (high - low) / 4 or max(abs(high), 1.0) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(n * step, 12) for n in range(first, max(last, first + 1) + 1)]


def _panel(title: str, lines: list[Line], resumed: list[int]) -> Html:
    names = [element("span", line.name, class_=f"key {line.style}") for line in lines] if len(lines) > 1 else []
    last = ", ".join(number(line.points[-1][1]) for line in lines)
    heading = element("figcaption", element("b", title), *names, element("span", f"last {last}", class_="quiet"))
    return element("figure", heading, _picture(title, lines, resumed), class_="curve")


def _picture(title: str, lines: list[Line], resumed: list[int]) -> Html:
    values = [value for line in lines for _, value in line.points]
    steps = [step for line in lines for step, _ in line.points]
    marks = ticks(min(values), max(values))
    frame = Frame(min(0, *steps), max(*steps, 1), marks[0], marks[-1])
    return element(
        "svg",
        element("title", f"{title} over steps"),
        _grid(frame, marks),
        *(_mark(frame, step) for step in resumed),
        *(_curve(frame, line) for line in lines),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
    )


def _grid(frame: Frame, marks: list[float]) -> Html:
    parts = []
    for mark in marks:
        y = frame.y(mark)
        parts.append(element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(element("text", _tick(mark), x=_LEFT - 6, y=y + 4, text_anchor="end"))
    middle = round((frame.left + frame.right) / 2)
    for step, anchor in ((frame.left, "start"), (middle, "middle"), (frame.right, "end")):
        label = f"step {step:.0f}" if anchor == "end" else f"{step:.0f}"
        parts.append(element("text", label, x=frame.x(step), y=_HEIGHT - 8, text_anchor=anchor))
    return join(*parts)


def _tick(value: float) -> str:
    return f"{value:.6g}" if not value or 1e-3 <= abs(value) < 1e5 else f"{value:.0e}"


def _mark(frame: Frame, step: int) -> Html:
    note = element("title", f"resumed before step {step}")
    x = frame.x(step)
    return element("line", note, x1=x, x2=x, y1=_TOP, y2=_HEIGHT - _BOTTOM, class_="resumed")


def _curve(frame: Frame, line: Line) -> Html:
    places = [(frame.x(step), frame.y(value)) for step, value in line.points]
    path = element("polyline", points=" ".join(f"{x},{y}" for x, y in places))
    dots = (
        element("circle", element("title", f"step {step}: {line.name} {number(value)}"), cx=x, cy=y, r=_radius(places))
        for (x, y), (step, value) in zip(places, line.points, strict=True)
    )
    return element("g", path, *dots, class_=line.style)


def _radius(places: Sequence[object]) -> float:
    return 3.0 if len(places) == 1 else 1.8 if len(places) <= 60 else 0.9
