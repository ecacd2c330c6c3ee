"""Two CPU ranks through Axolotl's own torchrun."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator import process

from .conftest import MakeHand
from .hand import until

pytestmark = pytest.mark.integration
TWO = {"processes": 2, "sharding": "ddp"}


def test_a_killed_run_of_two_ranks_goes_on(make_hand: MakeHand) -> None:
    def kill(child: process.Child, attempt: Path) -> None:
        until(child, attempt, "checkpoint", 1)
        child.kill()

    whole, cut = (make_hand("lora", max_steps=6, _hardware=TWO) for _ in range(2))
    outcome = whole.run()
    assert outcome.code == 0, outcome.log
    assert list(outcome.metric("loss")) == [1, 2, 3, 4, 5, 6]
    assert not cut.run(meanwhile=kill).of("result"), "it must die before the end"
    resumed = cut.run(resume=True)
    assert resumed.code == 0, resumed.log
    assert 1 < min(resumed.metric("loss")) < 7
    assert cut.digest() == whole.digest()
