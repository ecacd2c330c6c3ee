"""Two CPU ranks through Axolotl's own torchrun."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from orchestrator import process

from .conftest import MakeHand
from .hand import below, until

pytestmark = pytest.mark.integration
TWO = {"processes": 2, "sharding": "ddp"}


def trains(rank: psutil.Process) -> bool:
    """Whether it is a rank itself, and nothing that one started."""
    parent = rank.parent()
    return parent is not None and parent.environ().get("RANK") is None


def test_a_run_goes_on_that_lost_one_of_two_ranks(make_hand: MakeHand) -> None:
    """The other one says so at once; the launcher alone would wait for it for half a minute."""

    def kill(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "checkpoint", 1)
        (lost,) = (rank for rank in below(child.pid) if rank.environ().get("RANK") == "1" and trains(rank))
        lost.kill()
        assert child.wait(20) == 1

    whole, cut = (make_hand("lora", max_steps=6, _hardware=TWO) for _ in range(2))
    outcome = whole.run()
    assert outcome.code == 0, outcome.log
    assert list(outcome.metric("loss")) == [1, 2, 3, 4, 5, 6]
    assert cut.run(meanwhile=kill).codes()[0] == "rank.died"
    resumed = cut.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert 1 < min(resumed.metric("loss")) < 7
    assert cut.digest() == whole.digest()
