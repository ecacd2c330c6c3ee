"""A model taken up: is it the one that was made? Both sides of the border are measured, and a difference fails."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backends.trainer import beside, probe
from backends.trainer.probe import Measured
from orchestrator.events import EventWriter
from orchestrator.harness import PROBE_VARIABLE, UNPROVED_VARIABLE, WorkError

_DTYPES = ("float32", "float16", "bfloat16")
TOLERANCE = {
    "float32": (2e-3, 1e-4),
    "float16": (0.2, 0.02),
    "bfloat16": (1.5, 0.1),
    "8 bits": (3.0, 0.3),
    "4 bits": (12.0, 0.75),
}
"""What limits a comparison -> largest difference of a log-probability, and the mean of all, in nats, each in relation
to its size where that is above 1. Bits: of linear layers that bitsandbytes holds on one side only.

`python -m benchmarks.probe_noise` prints what paths that mean the same differ by: at most 1.3e-5 and 1.5e-6 in float32,
0.024 and 0.0028 in float16, 0.31 and 0.023 in bfloat16, 0.97 and 0.10 from 8 bits, 5.9 and 0.37 from 4; a missing
adapter made 8 to 13, and 0.5 to 0.9. From 4 bits that is told by the direction of its effect (`effect`), not by size.
"""

_WHY = beside.WHY
_FIX = "post-train verify the run that made it; make the model again where that fails, too"


def require_same(
    model: Any, tokenizer: Any, events: EventWriter, place: str, path: str | None = None, *, mixed: str | None = None
) -> dict[str, float] | None:
    """Compare a model just loaded with the probe that its maker left. All ranks call it.

    Args:
        place: what is looked at, for messages, e.g. `the policy`.
        path: the maker's probe; None for the one that the runner names.
        mixed: dtype that the weights are stored in, where it is coarser than theirs in memory.

    Returns:
        By how much they differ at most and on average, and how much is allowed; None where nothing was compared.

    Raises:
        WorkError: it renders other tokens, ends on another one, or gives them other probabilities.
    """
    return held_to(lambda: probe.measure(model, tokenizer, mixed=mixed), events, place, path)


def held_to(
    measure: Callable[[], Measured], events: EventWriter, place: str, path: str | None = None
) -> dict[str, float] | None:
    """The same for whatever can measure the model that it has taken up."""
    if UNPROVED_VARIABLE in os.environ:
        message = f"{place} was not compared with the model that was made: --no-proof"
        events.emit("warning", code="handoff.off", message=message)
        return None
    file = path or os.environ.get(PROBE_VARIABLE)
    if not file:
        return None
    expected = _read(Path(file))
    if expected is None:
        message = f"{place}: its maker left no probe at {file}, so nothing proves that it is the model that was made"
        events.emit("warning", code="handoff.unproved", message=message)
        return None
    found = measure()
    worst, mean = compare(expected, found, place)
    allowed, allowed_mean = tolerance(expected, found)
    told = {"difference": worst, "tolerance": allowed, "mean": mean, "mean_tolerance": allowed_mean}
    events.emit("handoff", place=place, probe=file, **told)
    return told


def compare(expected: Measured, found: Measured, place: str) -> tuple[float, float]:
    """The largest and the mean difference of a log-probability, in nats, in relation to its size where that is above 1.

    Raises:
        WorkError: other tokens, another end token, or a difference that is more than noise.
    """
    if len(expected["rows"]) != len(found["rows"]):
        raise beside.refused("tokens", f"{place}: its maker asked {len(expected['rows'])} conversations", _FIX)
    for number, (before, after) in enumerate(zip(expected["rows"], found["rows"], strict=True), start=1):
        if before["ids"] != after["ids"]:
            raise _other_tokens(expected, found, number, place)
    if "end" in expected and expected["end"] != found["end"]:  # probes of earlier versions have none
        raise _other_end(expected, found, place)
    beside.require_same(expected, found, place)
    worst, mean = apart(expected, found)
    allowed = tolerance(expected, found)
    if not (worst <= allowed[0] and mean <= allowed[1]):
        raise _other_answers(expected, found, (worst, mean), place)
    beside.require_effect(expected, found, arithmetic(expected, found), place)
    return worst, mean


def apart(expected: Measured, found: Measured) -> tuple[float, float]:
    """The largest and the mean difference of a log-probability, in relation to its size where that is above 1."""
    differences = [
        _apart(one, other)
        for before, after in zip(expected["rows"], found["rows"], strict=True)
        for one, other in zip(before["logprobs"], after["logprobs"], strict=True)
    ]
    return max(differences, default=math.inf), sum(differences) / max(len(differences), 1)


def _apart(one: float, other: float) -> float:
    """A difference in relation to its size; infinite where either is no number, which `max` would pass over."""
    difference = abs(one - other) / max(1.0, abs(one))
    return difference if math.isfinite(difference) else math.inf


def tolerance(expected: Measured, found: Measured) -> tuple[float, float]:
    """How much may differ between two sides."""
    return TOLERANCE[arithmetic(expected, found)]


def arithmetic(expected: Measured, found: Measured) -> str:
    """What limits a comparison: the coarser dtype, or the fewer bits of linear layers that only one side has."""
    if _bits(expected) != _bits(found):
        return f"{min(filter(None, (_bits(expected), _bits(found))))} bits"
    return coarser(expected["dtype"], found["dtype"])


def _bits(side: Measured) -> int | None:
    """Probes of earlier versions, and methods that tell none, count as the coarsest."""
    return (side.get("bits") or 4) if side["quantized"] else None


def coarser(*dtypes: str) -> str:
    """The one with most noise; one that was never measured counts as the worst."""
    return max((d if d in _DTYPES else "bfloat16" for d in dtypes), key=TOLERANCE.__getitem__)


def _read(path: Path) -> Measured | None:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise WorkError(
            "handoff.probe", f"{path}: {error}", why=_WHY, fix="post-train run --resume the run that made the model"
        ) from error
    return dict(read) if read.get("version") == probe.VERSION else None


def _other_tokens(expected: Measured, found: Measured, number: int, place: str) -> WorkError:
    before, after = expected["rows"][number - 1]["ids"], found["rows"][number - 1]["ids"]
    at = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
    cause = "the tokenizer is another one" if expected["template"] == found["template"] else _template_cause(found)
    return WorkError(
        "handoff.tokens",
        f"{place}: conversation {number} of the probe renders to other tokens from token {at + 1} on "
        f"({len(before)} tokens when it was made, {len(after)} now): {cause}",
        why=_WHY,
        fix="carry tokenizer files and chat template over from where the model was made",
    )


def _other_end(expected: Measured, found: Measured, place: str) -> WorkError:
    return WorkError(
        "handoff.end",
        f"{place}: the tokenizer's end token was number {expected['end']} when it was made and is {found['end']} now",
        why="answers would go on past their end, or stop before it",
        fix="carry tokenizer files over from where the model was made",
    )


def _template_cause(found: Measured) -> str:
    return "the chat template is another one" if found["template"] else "the chat template is gone"


def _other_answers(expected: Measured, found: Measured, by: tuple[float, float], place: str) -> WorkError:
    allowed = tolerance(expected, found)
    tokens = sum(len(row["argmax"]) for row in expected["rows"])
    same = sum(
        a == b
        for before, after in zip(expected["rows"], found["rows"], strict=True)
        for a, b in zip(before["argmax"], after["argmax"], strict=True)
    )
    return WorkError(
        "handoff.answers",
        f"{place} answers otherwise than when it was made: log-probabilities differ by up to {by[0]:.3g} nats, and "
        f"by {by[1]:.3g} on average; allowed are {allowed[0]:.3g} and {allowed[1]:.3g}; {same} of {tokens} most "
        f"likely tokens agree; {_cause(expected, found)}",
        why=_WHY,
        fix="look at what changed in the model's files since: post-train runs show, and its parents' digests",
    )


def _cause(expected: Measured, found: Measured) -> str:
    """What the numbers point to."""
    if expected["vocabulary"] != found["vocabulary"]:
        return f"the vocabulary was {expected['vocabulary']} (table, tokenizer) and is {found['vocabulary']}"
    if expected["tied"] != found["tied"]:
        return "the output head was tied to the embeddings on one side only"
    if expected["dtype"] != found["dtype"]:
        return f"its dtype was {expected['dtype']} and is {found['dtype']}: precision was lost on the way"
    return "weights are missing, added or another model's: an adapter not applied, or applied twice, looks like this"
