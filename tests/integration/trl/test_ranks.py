"""Two CPU ranks: FSDP2 trains what DDP trains, and leaves whole tensors under clean names."""

from __future__ import annotations

import pytest

from .conftest import MakeHand
from .hand import Hand, Outcome
from .test_stages import header

pytestmark = pytest.mark.integration


def two_ranks(make_hand: MakeHand, method: str, sharding: str) -> tuple[Hand, Outcome]:
    hardware = {"processes": 2, "sharding": sharding}
    hand = make_hand("sft", method, max_steps=3, save_steps=3, _hardware=hardware, _lora={"dropout": 0.0})
    outcome = hand.run()
    assert outcome.code == 0, outcome.log
    return hand, outcome


@pytest.mark.parametrize("method", ["lora", "full"])
def test_fsdp2_equals_ddp(make_hand: MakeHand, method: str) -> None:
    whole, ddp = two_ranks(make_hand, method, "ddp")
    sharded, fsdp = two_ranks(make_hand, method, "fsdp2")
    assert fsdp.metric("loss") == pytest.approx(ddp.metric("loss"), abs=1e-5)
    assert fsdp.metric("loss")[-1] < fsdp.metric("loss")[0]
    assert (sharded.folder / "checkpoints" / "checkpoint-3" / "pytorch_model_fsdp_0" / "__1_0.distcp").is_file()
    part = "adapter/adapter_model.safetensors" if method == "lora" else "model/model.safetensors"
    mine, theirs = (header(hand.folder / "artifacts" / part) for hand in (sharded, whole))
    assert {n: (e["shape"], e["dtype"]) for n, e in mine.items()} == {
        n: (e["shape"], e["dtype"]) for n, e in theirs.items()
    }
