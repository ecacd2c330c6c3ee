"""Paired tests against published values, and sentences that name no winner inside the noise."""

from __future__ import annotations

import pytest

from backends.hf import paired


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(0, 0, 1.0), (5, 0, 0.0625), (10, 0, 0.001953125), (7, 2, 0.1796875), (4, 4, 1.0), (121, 59, 4.4345e-6)],
)
def test_mcnemar_is_the_two_sided_binomial(better: int, worse: int, p: float) -> None:
    """The last is 2 * sum(C(180, k) for k < 60) / 2^180."""
    assert paired.mcnemar(better, worse) == pytest.approx(p, rel=1e-3)
    assert paired.mcnemar(worse, better) == paired.mcnemar(better, worse)


def test_more_items_show_smaller_differences() -> None:
    few = [1.0, -1.0, 0.0, 0.0] * 25
    assert paired.detectable(few) == pytest.approx(2.8016 * 0.5**0.5 / 10, rel=1e-4)
    assert paired.detectable(few * 4) == pytest.approx(paired.detectable(few) / 2)


def test_items_that_never_changed_still_don_t_show_everything() -> None:
    assert paired.detectable([0.0] * 300) == 0.01


def test_a_narrow_interval_over_few_changes_is_no_proof() -> None:
    assert not paired.beyond_noise((0.01, 0.1), paired.mcnemar(5, 0))
    assert paired.beyond_noise((0.01, 0.1), paired.mcnemar(10, 0))
    assert paired.beyond_noise((0.01, 0.1), None)
    assert not paired.beyond_noise((-0.01, 0.1), None)


def test_words() -> None:
    names = ("rl", "sft")
    won = paired.sentence(names, 0.062, (0.021, 0.104), 240, points=True, sure=True)
    assert won == "rl is better than sft by 6.2 points, 95 % interval 2.1 to 10.4, 240 items."
    lost = paired.sentence(names, -0.25, (-0.4, -0.1), 20, points=False, sure=True)
    assert lost == "rl is worse than sft by 0.250, 95 % interval -0.400 to -0.100, 20 items."
    even = paired.sentence(names, 0.01, (-0.02, 0.04), 100, points=True, sure=False)
    assert even == "rl and sft can't be told apart: +1.0 points, 95 % interval -2.0 to 4.0, 100 items."
