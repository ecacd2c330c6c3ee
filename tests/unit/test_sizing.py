"""Memory and disk, from headers alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import sizing

if TYPE_CHECKING:
    from tests.conftest import MakeSpec, Write


@pytest.mark.parametrize(
    ("given", "gpu", "memory"),
    [
        ({}, True, 12),
        ({}, False, 24),
        ({"method": "full"}, True, 72),
        ({"method": "full"}, False, 96),
        ({"method": "full", "hardware__processes": 2, "hardware__sharding": "fsdp2"}, True, 36),
        ({"method": "full", "hardware__processes": 2, "hardware__sharding": "ddp"}, True, 72),
        ({"stage": "merge"}, False, 24),
        ({"stage": "eval"}, True, 12),
    ],
)
def test_six_parameters(make_spec: MakeSpec, base: Path, given: dict[str, Any], gpu: bool, memory: int) -> None:
    found = sizing.estimate(make_spec(**given), base, gpu)
    assert found is not None
    assert (found.parameters, found.memory) == (6, memory)
    assert found.stored == (base / "model.safetensors").stat().st_size


def test_full_training_keeps_moments_on_disk(make_spec: MakeSpec, base: Path) -> None:
    found = sizing.estimate(make_spec(method="full", training__save_total_limit=2), base, True)
    assert found is not None
    assert found.disk == found.stored + 3 * (found.stored + 48)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("org/Muse-Glimmer-30B", 30e9),
        ("Qwen3-0.6b", 6e8),
        ("a/SmolLM2-135M-Instruct", 135e6),
        ("Q-30B-A3B", 30e9),
        ("m4bit", None),
        ("v2", None),
    ],
)
def test_a_size_in_a_name(make_spec: MakeSpec, name: str, parameters: float | None) -> None:
    found = sizing.estimate(make_spec(method="qlora"), Path(name), True)
    assert (found and found.parameters, found and found.named) == (parameters, parameters and True)


def test_a_hub_name_and_an_empty_folder_are_not_predicted(make_spec: MakeSpec, work: Path) -> None:
    assert sizing.estimate(make_spec(), Path("org/name"), False) is None
    assert sizing.estimate(make_spec(), work, False) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x01",
        b"\xff" * 8,
        b"\x02" + bytes(7) + b"[]",
        b"\x03" + bytes(7) + b"[1]",
        b"\x07" + bytes(7) + b'{"a":1}',
        b"\x08" + bytes(7) + b'{"a":{}}',
        b"\x09" + bytes(7) + b'{"a":',
        b"version https://git-lfs.github.com/spec/v1\n",
    ],
)
def test_a_file_that_is_no_safetensors_has_no_header(write: Write, content: bytes) -> None:
    assert sizing.header(write("m/model.safetensors", content)) == {}
