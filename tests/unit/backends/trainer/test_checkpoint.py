"""Which checkpoint a resume goes on from, whatever a kill left behind."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.trainer.checkpoint import first_fault, look, newest_complete
from backends.trainer.saved import files
from orchestrator.events import EventReader, EventWriter


def safetensors(path: Path) -> None:
    head = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + bytes(8))


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("data.pkl", "x" * 100)


@pytest.fixture
def make(tmp_path: Path) -> Callable[[int], Path]:
    """A whole checkpoint of one rank."""

    def write(step: int) -> Path:
        path = tmp_path / f"checkpoint-{step}"
        path.mkdir()
        safetensors(path / "adapter_model.safetensors")
        for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
            archive(path / name)
        (path / "trainer_state.json").write_text(json.dumps({"global_step": step}), encoding="utf-8")
        return path

    return write


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


BREAK: dict[str, Callable[[Path], object]] = {
    "no_state": lambda p: (p / "trainer_state.json").unlink(),
    "half_state": lambda p: truncate(p / "trainer_state.json"),
    "state_of_another_step": lambda p: (p / "trainer_state.json").write_text('{"global_step": 1}'),
    "no_optimizer": lambda p: (p / "optimizer.pt").unlink(),
    "half_optimizer": lambda p: truncate(p / "optimizer.pt"),
    "no_scheduler": lambda p: (p / "scheduler.pt").unlink(),
    "no_random_state": lambda p: (p / "rng_state.pth").unlink(),
    "half_weights": lambda p: truncate(p / "adapter_model.safetensors"),
    "empty_weights": lambda p: (p / "adapter_model.safetensors").write_bytes(b""),
    "no_weights": lambda p: (p / "adapter_model.safetensors").unlink(),
    "lost_shard": lambda p: (p / "model.safetensors.index.json").write_text('{"weight_map": {"a": "b"}}'),
}


@pytest.mark.parametrize("fault", BREAK)
def test_a_broken_one_is_put_aside(make: Callable[[int], Path], tmp_path: Path, fault: str) -> None:
    whole, broken = make(9), make(10)
    assert first_fault(broken, 10, 1) is None
    BREAK[fault](broken)
    events = tmp_path / "events.jsonl"
    assert newest_complete(tmp_path, 1, EventWriter(events)) == whole
    (event,) = EventReader(events).new()
    assert (event["type"], event["code"]) == ("warning", "checkpoint.broken")
    assert (tmp_path / "broken-checkpoint-10").is_dir()
    assert not broken.exists()


def test_a_look_touches_nothing(make: Callable[[int], Path], tmp_path: Path) -> None:
    whole, broken = make(9), make(10)
    (broken / "optimizer.pt").unlink()
    assert look(tmp_path, 1) == (whole, [(broken, "optimizer.pt is missing")])
    assert broken.is_dir()


def test_numbers_are_compared_as_numbers(make: Callable[[int], Path], tmp_path: Path) -> None:
    _, newest = make(9), make(10)
    assert newest_complete(tmp_path, 1, EventWriter(None)) == newest


def test_none(tmp_path: Path) -> None:
    assert newest_complete(tmp_path / "never", 1, EventWriter(None)) is None


def test_shards_of_every_rank(make: Callable[[int], Path]) -> None:
    path = make(4)
    for name in ("adapter_model.safetensors", "optimizer.pt", "rng_state.pth"):
        (path / name).unlink()
    for rank in range(2):
        archive(path / f"rng_state_{rank}.pth")
        for folder in ("optimizer_0", "pytorch_model_fsdp_0"):
            (path / folder).mkdir(exist_ok=True)
            (path / folder / f"__{rank}_0.distcp").write_bytes(b"x")
    for folder in ("optimizer_0", "pytorch_model_fsdp_0"):
        assert ".metadata" in str(first_fault(path, 4, 2))
        (path / folder / ".metadata").write_bytes(b"x")
    assert first_fault(path, 4, 2) is None
    assert "rng_state_2" in str(first_fault(path, 4, 3)) or "__2_0" in str(first_fault(path, 4, 3))


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., Path]:
    """A run whose events tell of checkpoints."""

    def write(*checkpoints: Path, **more: object) -> Path:
        attempt = tmp_path / "run" / "attempts" / "001"
        attempt.mkdir(parents=True, exist_ok=True)
        for path in checkpoints:
            EventWriter(attempt / "events.jsonl").emit("checkpoint", path=str(path), **{"files": files(path)} | more)
        return tmp_path / "run"

    return write


def test_a_checkpoint_as_it_was_saved(make: Callable[[int], Path], told: Callable[..., Path], tmp_path: Path) -> None:
    path = make(10)
    run = told(path)
    (path / "tokens_state.json").write_text("{}")  # what an engine adds later is nothing that was saved
    assert look(tmp_path, 1, run) == (path, [])


def test_weights_that_only_look_whole(make: Callable[[int], Path], told: Callable[..., Path], tmp_path: Path) -> None:
    older, newer = make(5), make(10)
    run = told(older, newer)
    weights = newer / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    assert look(tmp_path, 1, run) == (older, [(newer, "adapter_model.safetensors: not as saved")])


def test_a_checkpoint_that_the_run_never_saved(
    make: Callable[[int], Path], told: Callable[..., Path], tmp_path: Path
) -> None:
    own, strange = make(5), make(99)
    assert look(tmp_path, 1, told(own)) == (own, [(strange, "this run never told that it was saved")])


def test_the_last_word_on_a_checkpoint_counts(
    make: Callable[[int], Path], told: Callable[..., Path], tmp_path: Path
) -> None:
    """A resumed run saves the same step again."""
    path = make(10)
    told(path)
    (path / "trainer_state.json").write_text('{"global_step": 10, "again": true}')
    assert look(tmp_path, 1, told(path)) == (path, [])


def test_events_of_an_earlier_version_name_no_files(
    make: Callable[[int], Path], told: Callable[..., Path], tmp_path: Path
) -> None:
    path = make(10)
    assert look(tmp_path, 1, told(path, files=None)) == (path, [])
