"""Muse Glimmer's chat format: blocks with a recipient each, and ATEM tool calls.

Source: the model's published chat template. A block is `<|start|>author[ to=recipient]<|message|>body` and `<|eom|>`
where its author goes on, `<|eot|>` where the turn is over. `to=self` is private reasoning.
"""

from __future__ import annotations

from data_prep.rendering.glimmer.atem import Call
from data_prep.rendering.glimmer.format import MuseGlimmer
from data_prep.rendering.glimmer.options import Options
from data_prep.rendering.glimmer.reply import Reader, Reply
from data_prep.rendering.glimmer.words import EOT, SPECIAL, STOPS, Unrenderable

__all__ = ["EOT", "SPECIAL", "STOPS", "Call", "MuseGlimmer", "Options", "Reader", "Reply", "Unrenderable"]
