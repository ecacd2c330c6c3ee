"""A reward that rises while held-out answers get worse, and everything that only looks like it."""

from __future__ import annotations

from backends.trl.parting import Look, parted

GOOD, BAD = [1.0] * 30 + [0.0] * 10, [1.0] * 10 + [0.0] * 30


def test_a_gamed_reward_is_told() -> None:
    text = parted([Look(0, BAD, None), Look(10, GOOD, 0.4), Look(20, BAD, 0.9)])
    assert text is not None
    assert "step 20 is worse than step 10 by 50.0 points" in text
    assert "from 0.4 to 0.9" in text


def test_a_loss_from_the_very_start_is_told() -> None:
    assert parted([Look(0, GOOD, None), Look(10, BAD, 0.4)])


def test_no_reason_to_warn() -> None:
    assert parted([Look(0, BAD, None)]) is None
    assert parted([Look(0, BAD, None), Look(10, GOOD, 0.4), Look(20, GOOD, 0.9)]) is None
    assert parted([Look(0, BAD, None), Look(10, GOOD, 0.9), Look(20, BAD, 0.4)]) is None, "both fell: no gaming"
    nearly = [1.0] * 28 + [0.0] * 12
    assert parted([Look(0, BAD, None), Look(10, GOOD, 0.4), Look(20, nearly, 0.9)]) is None, "within noise"


def test_many_looks_ask_for_more() -> None:
    six_fewer = [1.0] * 24 + [0.0] * 16
    early = [Look(0, GOOD, None), Look(1, six_fewer, 0.5)]
    assert parted(early)
    assert parted([*[Look(n, GOOD, 0.1) for n in range(6)], Look(7, six_fewer, 0.5)]) is None
