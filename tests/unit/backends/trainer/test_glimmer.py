"""A tokenizer that can't write Muse Glimmer's format is refused wherever the format is used."""

from __future__ import annotations

import pytest

from backends.trainer.glimmer import GlimmerChat, special
from data_prep.rendering.glimmer import SPECIAL, MuseGlimmer, Options
from orchestrator.harness import WorkError


class Tokenizer:
    """Knows some tokens; 0 stands for all others."""

    unk_token_id = 0

    def __init__(self, *known: str) -> None:
        self._known = known

    def convert_tokens_to_ids(self, token: str) -> int:
        return self._known.index(token) + 1 if token in self._known else self.unk_token_id


def test_every_token_has_its_id() -> None:
    assert special(Tokenizer(*SPECIAL)) == {token: number for number, token in enumerate(SPECIAL, 1)}


def test_a_missing_token_is_named_before_anything_is_played() -> None:
    with pytest.raises(WorkError, match=r"no token <\|eom\|>"):
        GlimmerChat(Tokenizer(*(token for token in SPECIAL if token != "<|eom|>")), (), MuseGlimmer(Options()))
