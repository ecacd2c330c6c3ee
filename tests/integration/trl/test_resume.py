"""A run that is killed or stopped and then resumed ends in the very bytes of an undisturbed one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from orchestrator import process

from .conftest import MakeHand
from .hand import Hand, Outcome, until

pytestmark = pytest.mark.integration


def digest(hand: Hand) -> str:
    return hashlib.sha256(hand.adapter.read_bytes()).hexdigest()


def kill_at(checkpoints: int, steps: int, hand: Hand) -> None:
    def disturb(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "checkpoint", checkpoints)
        until(child, attempt, "step", steps)
        child.kill()

    killed = hand.run(meanwhile=disturb)
    assert not killed.of("result"), "it must die before the end"


def test_sft_resumes_to_the_same_bytes_past_a_broken_checkpoint(
    make_hand: MakeHand, whole_sft: tuple[Hand, Outcome]
) -> None:
    hand = make_hand("sft", "lora", max_steps=8)
    kill_at(2, 5, hand)
    newest = max(hand.folder.glob("checkpoints/checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    (newest / "optimizer.pt").unlink()
    resumed = hand.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert resumed.codes("warning") == ["checkpoint.broken"]
    assert (newest.parent / f"broken-{newest.name}").is_dir()
    assert 1 < resumed.of("step")[0]["step"] < 8
    assert digest(hand) == digest(whole_sft[0])


def test_a_stop_saves_and_a_resume_goes_on(make_hand: MakeHand, whole_sft: tuple[Hand, Outcome]) -> None:
    hand = make_hand("sft", "lora", max_steps=8, save_steps=100)

    def stop(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "step", 1)
        (attempt / "stop").touch()

    stopped = hand.run(meanwhile=stop)
    assert stopped.code == 75, stopped.log
    assert stopped.of("state")[-1]["state"] == "stopped"
    assert len(stopped.of("checkpoint")) == 1
    assert not hand.adapter.exists()
    resumed = hand.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert resumed.of("step")[0]["step"] == stopped.of("checkpoint")[0]["step"] + 1
    assert digest(hand) == digest(whole_sft[0])


def test_grpo_resumes_to_the_same_bytes(make_hand: MakeHand) -> None:
    whole, hand = make_hand("grpo", "lora", max_steps=6), make_hand("grpo", "lora", max_steps=6)
    assert whole.run().code == 0
    kill_at(1, 3, hand)
    resumed = hand.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert resumed.of("step")[0]["step"] > 1
    assert digest(hand) == digest(whole)


def test_without_a_checkpoint_a_resume_starts_over(make_hand: MakeHand) -> None:
    outcome = make_hand("sft", "qlora", max_steps=2).run(resume=True)
    assert outcome.code == 0, outcome.log
    assert outcome.codes("warning") == ["checkpoint.none"]
    assert outcome.of("step")[0]["step"] == 1
