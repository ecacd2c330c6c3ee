"""The format's special tokens, and what can't be written in it."""

from __future__ import annotations

BEGIN = "<|begin_of_text|>"
START, MESSAGE = "<|start|>", "<|message|>"
EOM, EOT = "<|eom|>", "<|eot|>"
END_OF_TEXT = "<|end_of_text|>"
IMAGE, VIDEO = "<|patch|>", "<|video|>"

SPECIAL = (BEGIN, START, MESSAGE, EOM, EOT, END_OF_TEXT)

STOPS = (EOT, END_OF_TEXT)
"""Where generation stops. Not at `<|eom|>`: it ends the reasoning, and the answer or the call comes behind it."""


class Unrenderable(ValueError):
    """A conversation that the chat template refuses too."""
