"""Muse Glimmer's renderer for TitanRL 0.3.0, whose own configuration has no place for what that renderer is told."""

from __future__ import annotations

from dataclasses import dataclass

from renderers import Renderer
from torchtitan.experiments.rl.renderer import RendererConfig


@dataclass(kw_only=True, slots=True)
class MuseGlimmerRendererConfig(RendererConfig):  # type: ignore[misc]
    """Builds the renderer in whatever process asks for it: a worker never imports what registered one elsewhere."""

    name: str | None = "muse_glimmer"
    reasoning_strength: str | None = None
    retain_reasoning_in_history: bool = True
    answer_from_reasoning_fallback: bool = False
    knowledge_cutoff: str | None = None
    current_date: str | None = None
    thinking_retention: str | None = None

    def build(self, *, tokenizer_path: str) -> Renderer:
        """The renderer around the tokenizer of a model folder."""
        from transformers import AutoTokenizer

        from backends.titanrl.worker_glimmer import MuseGlimmerRenderer
        from data_prep.rendering.glimmer import Options

        options = Options(
            reasoning_strength=self.reasoning_strength,
            knowledge_cutoff=self.knowledge_cutoff,
            current_date=self.current_date,
            retain_reasoning_in_history=self.retain_reasoning_in_history,
            answer_from_reasoning_fallback=self.answer_from_reasoning_fallback,
        )
        return MuseGlimmerRenderer(AutoTokenizer.from_pretrained(tokenizer_path), options, self.thinking_retention)
