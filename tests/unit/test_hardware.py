"""This machine, with whatever nvidia-smi answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import hardware
from orchestrator.hardware import Gpu, Machine

if TYPE_CHECKING:
    from tests.conftest import Write

H200, T4 = "NVIDIA H200, 143771, 9.0", "Tesla T4, 15360, 7.5"


@pytest.fixture
def answers(write: Write, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Put a command called nvidia-smi first on the path."""

    def make(text: str, code: int = 0) -> Path:
        path = write("bin/nvidia-smi", f"#!/bin/sh\ncat <<'E'\n{text}\nE\nexit {code}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
        return path

    return make


def test_this_machine_has_cores_and_memory() -> None:
    found = hardware.detect()
    assert found.cores >= 1
    assert found.memory > 2**28
    assert os.uname().nodename not in str(hardware.summary(found))


def test_gpus_are_read(answers: Write) -> None:
    answers(f"{H200}\n{H200}")
    found = hardware.detect()
    assert found.gpus == (Gpu(name="NVIDIA H200", memory=143771 * 2**20, capability=9.0),) * 2
    assert (found.variant, found.bf16) == ("cuda", True)


@pytest.mark.parametrize(("visible", "count"), [("0", 1), ("0,1", 2), ("", 0), ("-1", 0)])
def test_hidden_gpus_are_not_counted(answers: Write, monkeypatch: pytest.MonkeyPatch, visible: str, count: int) -> None:
    answers(f"{H200}\n{T4}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert len(hardware.detect().gpus) == count


def test_a_failing_or_babbling_command_means_no_gpu(answers: Write) -> None:
    answers(H200, 9)
    assert hardware.detect().gpus == ()
    answers("No devices were found")
    assert hardware.detect().variant == "cpu"


def test_a_gpu_that_shares_memory_has_the_machines(answers: Write) -> None:
    answers("NVIDIA GB10, [N/A], 12.1")
    found = hardware.detect()
    assert found.gpus[0].memory == found.memory


def test_bf16_wants_every_gpu() -> None:
    new, old = Gpu(name="a", memory=1, capability=8.0), Gpu(name="b", memory=1, capability=7.5)
    assert Machine(cores=1, memory=1, gpus=(new,)).bf16
    assert not Machine(cores=1, memory=1, gpus=(new, old)).bf16
    assert not Machine(cores=1, memory=1).bf16
