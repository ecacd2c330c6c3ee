"""A run that is killed or stopped and then resumed ends in the very bytes of an undisturbed one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator import process

from .conftest import LORA, MakeHand, held_out
from .hand import Hand, Meanwhile, Outcome, until

pytestmark = pytest.mark.integration


def steps(outcome: Outcome) -> list[int]:
    return list(outcome.metric("loss"))


def kill_at(checkpoints: int) -> Meanwhile:
    def disturb(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "checkpoint", checkpoints)
        child.kill()

    return disturb


def stop_by(how: Callable[[process.Child, Path], Any]) -> Meanwhile:
    def disturb(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "sample", 1)
        how(child, attempt)

    return disturb


STOPS: dict[str, Meanwhile] = {
    "sigterm": lambda child, attempt: os.kill(child.pid, signal.SIGTERM),
    "sigint": lambda child, attempt: os.kill(child.pid, signal.SIGINT),
    "file": lambda child, attempt: (attempt / "stop").touch(),
}


def test_a_killed_run_goes_on_past_a_damaged_checkpoint(
    make_hand: MakeHand, data: Path, whole_lora: tuple[Hand, Outcome]
) -> None:
    hand = make_hand("lora", **LORA, **held_out(data))
    killed = hand.run(meanwhile=kill_at(2))
    assert not killed.of("result"), "it must die before the end"
    newest = hand.checkpoints[-1]
    (newest / "optimizer.pt").unlink()
    resumed = hand.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert resumed.codes("warning") == ["checkpoint.broken"]
    assert (newest.parent / f"broken-{newest.name}").is_dir()
    assert 1 < steps(resumed)[0] < 8
    assert resumed.metric("loss") == {step: whole_lora[1].metric("loss")[step] for step in steps(resumed)}
    assert hand.digest() == whole_lora[0].digest()


@pytest.mark.parametrize("how", STOPS)
def test_a_stop_saves_and_a_resume_goes_on(
    make_hand: MakeHand, data: Path, whole_lora: tuple[Hand, Outcome], how: str
) -> None:
    hand = make_hand("lora", **LORA | {"save_steps": 100}, **held_out(data))
    stopped = hand.run(meanwhile=stop_by(STOPS[how]))
    assert stopped.code == 75, stopped.log
    assert stopped.states == ["loading", "training", "stopped"]
    assert not stopped.of("error")
    (saved,) = stopped.of("checkpoint")
    assert saved["step"] < 8
    assert not hand.artifact.exists()
    assert not list(hand.folder.glob("checkpoints/*.safetensors")), "a stopped run has no final model"
    resumed = hand.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert steps(resumed)[0] == saved["step"] + 1
    assert hand.digest() == whole_lora[0].digest()


def test_a_resume_from_the_last_checkpoint_takes_no_step(
    make_hand: MakeHand, data: Path, whole_lora: tuple[Hand, Outcome]
) -> None:
    """The kill hits between the last checkpoint and the artifact."""
    hand = make_hand("lora", **LORA, **held_out(data))
    hand.run(meanwhile=kill_at(4))
    assert not hand.artifact.exists()
    resumed = hand.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert steps(resumed) == []
    assert resumed.facts["steps"] == 8
    assert hand.digest() == whole_lora[0].digest()


def test_without_a_checkpoint_a_resume_starts_over_and_then_nothing_is_overwritten(make_hand: MakeHand) -> None:
    hand = make_hand("lora", max_steps=2)
    outcome = hand.run(resume=True)
    assert outcome.code == 0, outcome.log
    assert outcome.codes("warning") == ["checkpoint.none"]
    assert steps(outcome) == [1, 2]
    before = hand.digest()
    again = hand.run()
    assert (again.code, again.codes()) == (1, ["output.exists"])
    assert hand.digest() == before


def test_a_stop_while_loading_stops_at_once(make_hand: MakeHand) -> None:
    hand = make_hand("lora")

    def stop(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "state", 1)
        (attempt / "stop").touch()

    stopped = hand.run(meanwhile=stop)
    assert (stopped.code, stopped.states) == (75, ["loading", "stopped"])
    assert not hand.checkpoints
