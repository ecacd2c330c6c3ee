"""The locks that ship, and how locks are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator import registry
from orchestrator.backend import EnvLock
from orchestrator.environments import cache, pins
from orchestrator.environments.lock import cuda_only

LINUX_311 = {"python_full_version": "3.11.7", "python_version": "3.11", "sys_platform": "linux"}
AXOLOTL = EnvLock(folder=Path(__file__).parents[3] / "backends" / "axolotl" / "env")
LOCKED = [name for name in registry.names() if registry.load(name).lock() is not None]


def _lock(name: str) -> EnvLock:
    lock = registry.load(name).lock()
    assert lock is not None
    return lock


def _requirements(path: Path) -> list[str]:
    """Logical lines of a lock: continuation lines joined, comments gone."""
    joined = path.read_text().replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("name", LOCKED)
@pytest.mark.parametrize("variant", ["cpu", "cuda"])
def test_every_line_is_an_exact_pin_with_hashes(name: str, variant: str) -> None:
    lines = _requirements(_lock(name).folder / f"{variant}.lock")
    assert len(lines) > 50
    for line in lines:
        assert re.match(r"[a-z0-9-]+={2,3}[^\s;*=]+( ; [^-]+)?\s+--hash=sha256:[0-9a-f]{64}", line.strip()), line


@pytest.mark.parametrize("name", LOCKED)
def test_no_index_and_no_option_but_hashes_in_any_file(name: str) -> None:
    files = list(_lock(name).folder.iterdir())
    assert {file.name for file in files} >= {"requirements.in", "cpu.lock", "cuda.lock", "torch.txt"}
    for file in files:
        text = file.read_text()
        assert not re.search(r"(?<!git\+https)://|://(?!github\.com/)", text), file
        assert not re.search(r"^\s*(-i|-f|--index|--extra|--find|--trusted)", text, re.MULTILINE), file


@pytest.mark.parametrize("name", LOCKED)
def test_the_variants_differ_by_torch_and_what_only_cuda_needs(name: str) -> None:
    lock = _lock(name)
    if (lock.folder / "cpu.in").exists():
        pytest.skip("its variants have packages of their own, each with its own needs")
    cpu, cuda = ({(p.name, p.version) for p in pins.read(lock.folder / f"{v}.lock")} for v in ("cpu", "cuda"))
    assert cpu < cuda
    assert all(pin[0].startswith(("torch", "nvidia-", "cuda-", "triton")) for pin in cuda - cpu)
    assert {(p.name, p.version) for p in pins.read(lock.folder / "torch.txt")} == {p for p in cuda if p[0] == "torch"}


@pytest.mark.parametrize("name", LOCKED)
def test_the_lock_holds_what_the_person_asked_for(name: str) -> None:
    lock = _lock(name)
    asked = {pin.name: pin.version for pin in pins.read(lock.folder / "requirements.in")}
    assert asked
    expected = pins.expected(lock, "cpu", LINUX_311)
    assert {name: expected[name] for name in asked} == asked
    assert set(pins.named(lock)) <= set(pins.expected(lock, "cuda", LINUX_311))


@pytest.mark.parametrize("name", LOCKED)
def test_what_is_built_from_source_is_in_the_lock_and_has_what_builds_it(name: str) -> None:
    lock = _lock(name)
    expected, built = pins.expected(lock, "cpu", LINUX_311), pins.source_only(lock)
    assert set(built) <= set(expected)
    assert not built or "setuptools" in expected


def test_axolotl_names_what_was_only_published_as_source() -> None:
    built = pins.source_only(AXOLOTL)
    assert {"rouge-score", "axolotl-contribs-mit"} <= set(built)
    rest, chosen = pins.split(AXOLOTL.folder / "cpu.lock", built)
    assert chosen.count("==") == len(built)
    assert chosen.count("--hash=sha256:") >= len(built)
    assert "axolotl==0.19.0" in rest
    assert not re.search(r"^(rouge-score|axolotl-contribs-mit)==", rest, re.MULTILINE)


def test_an_override_gives_a_newer_python_what_has_wheels_for_it() -> None:
    newer = LINUX_311 | {"python_full_version": "3.13.0", "python_version": "3.13"}
    found = [pins.expected(AXOLOTL, "cpu", markers)["zstandard"] for markers in (LINUX_311, newer)]
    assert found == ["0.22.0", "0.23.0"]


def test_a_lock_without_source_txt_builds_nothing() -> None:
    assert pins.source_only(_lock("trl")) == []


def test_only_what_is_compiled_against_cuda_leaves_the_cpu_lock() -> None:
    stays = ["torchao", "torchdata", "nvidia-ml-py", "cudatools", "tritonclient", "axolotl"]
    leaves = ["torch", "torchvision", "nvidia-ml-py3", "nvidia-cublas", "nvidia-cudnn-cu13", "cuda-toolkit"]
    assert cuda_only({name: {"axolotl"} for name in [*stays, *leaves]}) == leaves
    cpu = {pin.name for pin in pins.read(AXOLOTL.folder / "cpu.lock")}
    assert {"torchao", "nvidia-ml-py"} <= cpu
    assert not {"torch", "torchvision"} & cpu
    assert "torchvision" in {pin.name for pin in pins.read(AXOLOTL.folder / "cuda.lock")}


def test_triton_stays_where_more_than_torch_wants_it() -> None:
    assert cuda_only({"torch": {"-r x.in"}, "triton": {"torch"}}) == ["torch", "triton"]
    assert cuda_only({"torch": {"-r x.in"}, "triton": {"torch", "axolotl"}}) == ["torch"]
    cuda, cpu = (pins.wanted_by(AXOLOTL.folder / f"{variant}.lock") for variant in ("cuda", "cpu"))
    assert "axolotl" in cuda["triton"], "Axolotl imports it on a CPU, too"
    assert "triton" in cpu
    assert "triton" not in pins.wanted_by(_lock("trl").folder / "cpu.lock")


def test_hf_and_trl_share_one_environment() -> None:
    files = [{file.name: file.read_bytes() for file in _lock(name).folder.iterdir()} for name in ("hf", "trl")]
    assert files[0] == files[1]
    assert cache.key(_lock("hf"), "cpu") == cache.key(_lock("trl"), "cpu")


def test_markers_choose_among_pins(tmp_path: Path) -> None:
    (tmp_path / "cpu.lock").write_text("a==1 ; python_full_version < '3.12'\na==2 ; python_full_version >= '3.12'\n")
    lock = EnvLock(folder=tmp_path)
    assert pins.expected(lock, "cpu", LINUX_311) == {"a": "1"}
    assert pins.expected(lock, "cpu", LINUX_311 | {"python_full_version": "3.13.0"}) == {"a": "2"}


def test_differences_name_what_is_missing_and_what_is_another_version() -> None:
    told = pins.differences({"a": "1", "b": "2", "torch": "3"}, {"b": "2.1", "torch": "3+cpu", "z": "9"})
    assert told == {"a": "a is missing; the lock has 1", "b": "b is 2.1; the lock has 2"}


def test_the_key_changes_with_lock_variant_and_extras(lock: EnvLock) -> None:
    keys = {
        cache.key(lock, "cpu"),
        cache.key(lock, "cuda"),
        cache.key(lock, "cpu", ["x"]),
        cache.key(lock, "cpu", ["y"]),
    }
    assert len(keys) == 4
    assert cache.key(lock, "cpu", ["x", "y"]) == cache.key(lock, "cpu", ["y", "x"])
