"""What a hand-off compares beside answers. Arithmetic on tensors is tried with the real engine."""

from __future__ import annotations

from typing import Any

import pytest

from backends.trainer import beside, effect
from orchestrator.harness import WorkError

MADE: dict[str, Any] = {
    "template": "t",
    "prompt": [1, 2, 3],
    "tokenizer": {"vocabulary": "v", "merges": "m"},
    "config": {"rope_parameters.rope_theta": 1e4, "rms_norm_eps": 1e-6},
    "stops": [2],
    "adapter": {"tensors": 96, "norm": 5.0, "modules": {"q_proj": 3.0, "v_proj": 4.0}},
    "weights": {"kind": "Llama", "dtype": "float32", "modules": {"q_proj": [10.0, 1.0], "norm": [2.0, 0.5]}},
}


def changed(**fields: Any) -> dict[str, Any]:
    return {**MADE, **fields}


@pytest.mark.parametrize(
    "found",
    [
        changed(),
        changed(stops=[2, 7]),
        changed(config={"rms_norm_eps": 1e-6, "new_key_of_a_newer_version": 1}),
        changed(adapter={"tensors": 96, "norm": 5.001, "modules": {"q_proj": 3.001, "v_proj": 4.0}}),
        changed(weights={"kind": "LlamaVision", "dtype": "float32", "modules": {"q_proj": [1.0, 1.0]}}),
        changed(weights={"kind": "Llama", "dtype": "bfloat16", "modules": {"q_proj": [10.0, 1.02]}}),
        changed(weights=None),
        changed(adapter=None, weights={"kind": "Llama", "dtype": "float32", "modules": {"q_proj": [11.0, 1.0]}}),
        {"template": "t"},
    ],
)
def test_what_is_the_same_passes(found: dict[str, Any]) -> None:
    """An extra stop, keys of other versions, roundings, another class of the same family, what was merged since."""
    beside.require_same(MADE, found, "it")


@pytest.mark.parametrize(
    ("found", "code", "named"),
    [
        (changed(template="u"), "template", "another one"),
        (changed(prompt=[1, 2]), "tokens", "begins an answer otherwise"),
        (changed(tokenizer={"vocabulary": "v", "merges": "n"}), "tokenizer", "merges changed"),
        (changed(config={"rms_norm_eps": 1e-5}), "config", "rms_norm_eps was 1e-06 and is 1e-05"),
        (changed(stops=[5]), "stops", r"at tokens \[2\] when it was made, now at \[5\]"),
        (changed(adapter={**MADE["adapter"], "tensors": 84}), "adapter", "84 adapter tensors .* and 96 were made"),
        (
            changed(adapter={"tensors": 96, "norm": 10.0, "modules": {"q_proj": 6.0, "v_proj": 8.0}}),
            "adapter",
            "q_proj 2, v_proj 2; its scale",
        ),
        (
            changed(adapter={"tensors": 96, "norm": 5.0, "modules": {"q_proj": 3.0, "v_proj": 2.0}}),
            "adapter",
            "v_proj 0.5; some of its tensors",
        ),
        (
            changed(weights={"kind": "Llama", "dtype": "float32", "modules": {"q_proj": [10.0, 1.001]}}),
            "weights",
            "in q_proj 0.0001",
        ),
        (
            changed(weights={"kind": "Llama", "dtype": "bfloat16", "modules": {"q_proj": [10.0, 1.2]}}),
            "weights",
            "q_proj",
        ),
        (
            changed(weights={"kind": "Llama", "dtype": "float32", "modules": {"q_proj": [float("nan"), 1.0]}}),
            "weights",
            "q_proj",
        ),
    ],
)
def test_what_is_not_is_named(found: dict[str, Any], code: str, named: str) -> None:
    with pytest.raises(WorkError, match=named) as caught:
        beside.require_same(MADE, found, "it")
    assert caught.value.code == f"handoff.{code}"
    assert caught.value.fix


def answers(share: float, noise: float = 0.0) -> dict[str, Any]:
    """Base answers -2, the adapter adds 0.1 nats to each of 200, a share of which is there."""
    wobble = [noise * (-1) ** n for n in range(200)]
    return {"rows": [{"logprobs": [-2 + 0.1 * share + w for w in wobble]}], "without": [[-2.0] * 200]}


@pytest.mark.parametrize(("share", "looks"), [(0.0, "not applied"), (2.0, "twice"), (0.5, "part of it")])
def test_an_effect_below_the_tolerance_of_answers_is_missed_all_the_same(share: float, looks: str) -> None:
    with pytest.raises(WorkError, match=looks):
        beside.require_effect(answers(1), answers(share), "bfloat16", "it")


def test_noise_leaves_it_as_it_is() -> None:
    beside.require_effect(answers(1), answers(1, noise=0.3), "bfloat16", "it")
    beside.require_effect(answers(1), answers(0.9), "bfloat16", "it")


def test_what_noise_would_hide_is_not_judged() -> None:
    made = answers(0.02)
    assert effect.arrived(made, answers(0), "bfloat16") is None
    assert effect.arrived(made, answers(0), "float32") == pytest.approx((0.0, 0.3), abs=0.01)
    assert effect.arrived({"rows": made["rows"], "without": None}, answers(0), "float32") is None
