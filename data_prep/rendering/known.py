"""The formats that are written out by hand, found by a model's chat template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from data_prep.rendering.glimmer import MuseGlimmer, Options, Unrenderable
from data_prep.rendering.piece import Spans, learned, text

_MARKS = ("<|start|>assistant to=self<|message|>", "<atem:function_calls>", "# Valid recipients: ")


def known(template: str | None, options: Mapping[str, Any] | None = None) -> MuseGlimmer | None:
    """The format that a template writes; None for templates that are run as they are.

    Args:
        options: what the template is given.
    """
    if template is None or any(mark not in template for mark in _MARKS):
        return None
    return MuseGlimmer(Options.of(options or {}))


def spans(
    template: str | None,
    rendered: str,
    messages: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    first: int = 0,
) -> Spans | None:
    """Ranges of a rendered conversation that the assistant wrote.

    Args:
        rendered: by the template, whose word counts: an edition of it that writes anything else is not the format.
        first: index of the first message that counts.

    Returns:
        None where the format is unknown, or is not what was rendered.
    """
    form = known(template, options)
    if form is None:
        return None
    try:
        pieces = form.pieces(messages, options.get("tools") or ())
    except (Unrenderable, AttributeError, KeyError, TypeError):  # rows as people write them
        return None
    return learned(pieces, first) if text(pieces) == rendered else None
