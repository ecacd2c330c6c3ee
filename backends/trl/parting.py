"""Whether reward and held-out quality part ways during RL. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass

from backends.trainer.comparing import difference
from backends.trainer.statistics import LEVEL

FOLDER = "samples"
"""In the run's folder: held-out answers of each checkpoint."""


@dataclass(frozen=True)
class Look:
    """The held-out items at one step.

    Attributes:
        reward: mean training reward since the look before; None where none was logged.
    """

    step: int
    scores: list[float]
    reward: float | None

    @property
    def score(self) -> float:
        """The mean."""
        return sum(self.scores) / len(self.scores)


def parted(looks: list[Look]) -> str | None:
    """Words for held-out answers that get worse beyond noise while the reward doesn't fall; None if they don't.

    The best of many looks is best by luck, too: the level is divided by their number.
    """
    last, before = looks[-1], looks[:-1]
    if not before:
        return None
    best = max(before, key=lambda look: look.score)
    found = difference(f"step {last.step}", last.scores, f"step {best.step}", best.scores)
    worse = found["beyond_noise"] and found["score"] < 0 and found["p"] < LEVEL / len(before)
    reward = _reward_then(looks, best)
    if not worse or last.reward is None or reward is None or last.reward < reward:
        return None
    text = f"held out, {found['sentence']}, while the reward went from {reward:.4g} to {last.reward:.4g}"
    return f"{text}: the reward is probably being gamed; read {FOLDER}/ and take an earlier checkpoint"


def _reward_then(looks: list[Look], best: Look) -> float | None:
    """The reward up to the best look; at the very start there is none yet, and the first that was logged stands in."""
    known = [look for look in looks if look.reward is not None]
    return next((look.reward for look in reversed(known) if look.step <= best.step), known[0].reward if known else None)
