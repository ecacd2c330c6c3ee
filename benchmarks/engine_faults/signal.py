"""Faults of the reward, which is all that RL learns from."""

from __future__ import annotations

from benchmarks.engine_faults.fault import Act, Fault
from benchmarks.engine_faults.scene import Scene, recipe

_RL = ("rl", "--recipe", "rl.yaml", "--name", "again")
_BARE = ("trl_grpo.py", "model", "prompts.jsonl")


def _score(body: str) -> Act:
    """Damage: what the reward function does."""

    def damage(scene: Scene) -> None:
        scene.write("reward.py", f"def score(completions, **columns):\n    {body}\n")

    return damage


def _reward(key: str, what: str, body: str, named: str) -> Fault:
    return Fault(key, what, _RL, _score(body), named, bare=_BARE)


FAULTS = (
    _reward("R1", "every reward is the same", "return [1.0 for _ in completions]", "never trained"),
    _reward("R2a", "one reward too few", "return [1.0 for _ in completions][1:]", "length|rewards for"),
    _reward("R2b", "rewards are None", "return [None for _ in completions]", "None"),
    _reward("R2c", "a reward is NaN", "return [float('nan') for _ in completions]", "nan|NaN|finite"),
    _reward("R2d", "rewards are text", "return ['1' for _ in completions]", r"reward\.value"),
    _reward("R5a", "the reward raises on one sample", "return [1 / (n - 2) for n in range(len(completions))]", "Zero"),
    _reward("R5b", "the reward imports what is not there", "import nowhere_at_all", "nowhere_at_all"),
    Fault("R6", "the reward file has no such function", _RL, recipe("rl", rl__reward=["./reward.py:scores"]), "scores"),
    Fault(
        "R7",
        "the prompts fill the whole length",
        _RL,
        recipe("rl", training__max_length=4),
        "long|length",
    ),
)
