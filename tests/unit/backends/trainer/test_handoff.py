"""Two measurements of one model, and of two."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from backends.trainer import handoff
from orchestrator.events import EventWriter
from orchestrator.harness import PROBE_VARIABLE, WorkError

MADE: dict[str, Any] = {
    "version": 1,
    "template": "t",
    "rows": [
        {"ids": [1, 5, 7], "logprobs": [-0.5, -12.0], "argmax": [5, 9]},
        {"ids": [1, 2], "logprobs": [-3.0], "argmax": [2]},
    ],
    "vocabulary": [320, 300],
    "tied": False,
    "dtype": "float32",
    "quantized": False,
}


def changed(**fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(MADE), **fields}


def nudged(by: float) -> dict[str, Any]:
    found = copy.deepcopy(MADE)
    found["rows"][1]["logprobs"] = [MADE["rows"][1]["logprobs"][0] + by]
    return found


def refused(found: dict[str, Any]) -> WorkError:
    with pytest.raises(WorkError) as caught:
        handoff.compare(MADE, found, "the policy")
    assert "the policy" in caught.value.message
    assert caught.value.fix
    return caught.value


def test_noise_passes_and_is_told() -> None:
    assert handoff.compare(MADE, MADE, "it") == (0, 0)
    assert handoff.compare(MADE, nudged(0.0003), "it") == pytest.approx((0.0001, 0.0001 / 3))


def test_a_little_everywhere_is_no_noise() -> None:
    """Each token alone would pass."""
    found = copy.deepcopy(MADE)
    for row in found["rows"]:
        row["logprobs"] = [value * 1.0015 for value in row["logprobs"]]
    assert "on average" in refused(found).message


def test_a_difference_beyond_noise_fails() -> None:
    error = refused(nudged(0.3))
    assert error.code == "handoff.answers"
    assert "up to 0.1 nats, and by 0.0333 on average" in error.message
    assert "adapter not applied" in error.message


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_coarser_side_says_what_is_noise(dtype: str) -> None:
    assert handoff.tolerance(MADE, changed(dtype=dtype)) == handoff.TOLERANCE[dtype]
    assert handoff.tolerance(changed(dtype=dtype), MADE) == handoff.TOLERANCE[dtype]


@pytest.mark.parametrize(("bits", "kind"), [(4, "4 bits"), (8, "8 bits"), (None, "4 bits")])
def test_fewer_bits_on_one_side_have_a_tolerance_of_their_own(bits: int | None, kind: str) -> None:
    rounded = changed(quantized=True, bits=bits)
    assert handoff.tolerance(MADE, rounded) == handoff.tolerance(rounded, MADE) == handoff.TOLERANCE[kind]
    assert handoff.tolerance(rounded, rounded) == handoff.TOLERANCE["float32"]
    assert handoff.compare(MADE, {**nudged(0.1), "quantized": True, "bits": bits}, "it")[0] < 0.1
    with pytest.raises(WorkError, match="answers otherwise"):
        handoff.compare(MADE, {**nudged(60), "quantized": True, "bits": bits}, "it")


def test_another_end_token_fails_though_every_answer_is_the_same() -> None:
    made = changed(end=7)
    with pytest.raises(WorkError, match="number 7 when it was made and is None now") as caught:
        handoff.compare(made, changed(end=None), "the policy")
    assert (caught.value.code, bool(caught.value.fix)) == ("handoff.end", True)
    assert handoff.compare(made, changed(end=7), "the policy") == (0, 0)


def test_a_probe_of_an_earlier_version_knows_no_end_token() -> None:
    assert handoff.compare(MADE, changed(end=7), "the policy") == (0, 0)


def test_nothing_and_infinity_are_no_noise() -> None:
    for value in (float("nan"), float("-inf")):
        assert refused(nudged(value)).code == "handoff.answers"


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"template": "other"}, "the chat template is another one"),
        ({"template": None}, "the chat template is gone"),
        ({}, "the tokenizer is another one"),
    ],
)
def test_other_tokens(fields: dict[str, Any], cause: str) -> None:
    rows = [{"ids": [1, 5, 8], "logprobs": [-0.5, -12.0], "argmax": [5, 9]}, MADE["rows"][1]]
    error = refused(changed(rows=rows, **fields))
    assert error.code == "handoff.tokens"
    assert "conversation 1 of the probe renders to other tokens from token 3 on" in error.message
    assert cause in error.message


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"vocabulary": [328, 300]}, "the vocabulary was [320, 300]"),
        ({"tied": True}, "tied to the embeddings on one side only"),
        ({"dtype": "bfloat16"}, "precision was lost"),
    ],
)
def test_what_the_numbers_point_to(fields: dict[str, Any], cause: str) -> None:
    found = nudged(3.0)
    found.update(fields)
    assert cause in refused(found).message


def test_without_a_maker_nothing_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROBE_VARIABLE, raising=False)
    handoff.require_same(None, None, EventWriter(tmp_path / "events"), "it")
    assert not (tmp_path / "events").exists()


def test_a_maker_that_left_no_probe_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROBE_VARIABLE, str(tmp_path / "probe.json"))
    handoff.require_same(None, None, EventWriter(tmp_path / "events"), "it")
    assert json.loads((tmp_path / "events").read_text())["code"] == "handoff.unproved"
    (tmp_path / "probe.json").write_text("{")
    with pytest.raises(WorkError, match=r"probe\.json"):
        handoff.require_same(None, None, EventWriter(tmp_path / "events"), "it")
