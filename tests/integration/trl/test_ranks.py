"""Two CPU ranks: FSDP2 trains what DDP trains, and leaves whole tensors under clean names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator import process

from .conftest import MakeHand
from .hand import Hand, Outcome, until
from .test_resume import digest
from .test_stages import header

pytestmark = pytest.mark.integration


def two_ranks(make_hand: MakeHand, method: str, sharding: str, **more: Any) -> tuple[Hand, Outcome]:
    hand = make_hand("sft", method, max_steps=3, save_steps=3, _hardware={"processes": 2, "sharding": sharding}, **more)
    outcome = hand.run()
    assert outcome.code == 0, outcome.log
    return hand, outcome


def test_full_weights(make_hand: MakeHand) -> None:
    compare(two_ranks(make_hand, "full", "ddp"), two_ranks(make_hand, "full", "fsdp2"), "model/model.safetensors")


def test_an_adapter_and_a_head_of_its_own(make_hand: MakeHand, untied_model: Path) -> None:
    """A trained head that FSDP2 shards alone would get each rank's own gradient only."""
    more = {"base": untied_model, "_lora": {"dropout": 0.0, "modules_to_save": ["lm_head"]}}
    ddp, fsdp = (two_ranks(make_hand, "lora", sharding, **more) for sharding in ("ddp", "fsdp2"))
    compare(ddp, fsdp, "adapter/adapter_model.safetensors")


def test_ranks_stop_together(make_hand: MakeHand) -> None:
    """torchrun's own exit code is 1 whatever the ranks say: the last state tells."""
    hand = make_hand("sft", "lora", max_steps=200, save_steps=200, _hardware={"processes": 2, "sharding": "ddp"})

    def stop(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "step", 1)
        (attempt / "stop").touch()

    stopped = hand.run(meanwhile=stop)
    assert stopped.code != 0
    assert stopped.of("state")[-1]["state"] == "stopped"
    assert not stopped.of("error"), stopped.log
    assert (hand.folder / "checkpoints" / f"checkpoint-{stopped.of('checkpoint')[0]['step']}").is_dir()


def compare(whole_run: tuple[Hand, Outcome], sharded_run: tuple[Hand, Outcome], part: str) -> None:
    (whole, ddp), (sharded, fsdp) = whole_run, sharded_run
    assert fsdp.metric("loss") == pytest.approx(ddp.metric("loss"), abs=1e-5)
    assert fsdp.metric("loss")[-1] < fsdp.metric("loss")[0]
    assert (sharded.folder / "checkpoints" / "checkpoint-3" / "pytorch_model_fsdp_0" / "__1_0.distcp").is_file()
    mine, theirs = (header(hand.folder / "artifacts" / part) for hand in (sharded, whole))
    assert {n: (e["shape"], e["dtype"]) for n, e in mine.items()} == {
        n: (e["shape"], e["dtype"]) for n, e in theirs.items()
    }


@pytest.mark.parametrize("sharding", ["ddp", "fsdp2"])
def test_a_killed_run_of_two_ranks_goes_on(make_hand: MakeHand, sharding: str) -> None:
    def kill(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "checkpoint", 1)
        child.kill()

    hardware = {"processes": 2, "sharding": sharding}
    whole, cut = (make_hand("sft", "lora", max_steps=6, save_steps=2, _hardware=hardware) for _ in range(2))
    outcome = whole.run()
    assert outcome.code == 0, outcome.log
    assert not cut.run(meanwhile=kill).of("result"), "it must die before the end"
    resumed = cut.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert resumed.of("step")[0]["step"] > 1
    assert digest(cut) == digest(whole)
