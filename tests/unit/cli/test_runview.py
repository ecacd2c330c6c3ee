"""How a run's numbers look."""

from __future__ import annotations

from orchestrator.cli.runview import _metrics


def test_an_engines_inner_numbers_are_counted_and_not_listed() -> None:
    numbers = {f"timing/part_{n}": float(n) for n in range(50)} | {
        "loss": 0.5,
        "rollout_reward/component/exact/mean": 1.0,
    }
    lines = _metrics(numbers | {"completions/mean_length": 7.0}, engine=True)
    assert [line.split()[0] for line in lines[:3]] == [
        "completions/mean_length",
        "loss",
        "rollout_reward/component/exact/mean",
    ]
    assert lines[3:] == ["  50 further numbers of the engine: --json"]


def test_few_numbers_and_those_of_an_eval_are_all_listed() -> None:
    numbers = {f"sft/{n}": float(n) for n in range(50)}
    assert len(_metrics(numbers, engine=False)) == 50
    assert len(_metrics(dict(list(numbers.items())[:40]), engine=True)) == 40
