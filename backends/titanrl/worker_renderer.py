"""Muse Glimmer's renderer for TitanRL 0.3.0, whose own configuration has no place for what that renderer is told."""

from __future__ import annotations

from dataclasses import dataclass

from torchtitan.experiments.rl.renderer import RendererConfig


@dataclass(kw_only=True, slots=True)
class MuseGlimmerRendererConfig(RendererConfig):  # type: ignore[misc]
    """TitanRL passes every field on that the renderer called `muse_glimmer` knows."""

    name: str | None = "muse_glimmer"
    reasoning_strength: str | None = None
    retain_reasoning_in_history: bool = True
    answer_from_reasoning_fallback: bool = False
