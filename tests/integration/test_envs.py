"""The lock that ships, installed for real into an empty cache."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from orchestrator import envs, registry
from orchestrator.backend import EnvLock
from orchestrator.environments import pins
from orchestrator.environments.examine import examine
from orchestrator.envs import EnvRef
from orchestrator.hardware import Machine

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]

CPU = Machine(cores=1, memory=2**30)


@dataclass(frozen=True)
class Installed:
    """An environment, its lock, and what was said while it was made."""

    env: EnvRef
    lock: EnvLock
    said: list[str]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The trl environment in a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POST_TRAIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        lock, said = registry.load("trl").lock(), list[str]()
        assert lock is not None
        yield Installed(envs.install(lock, "trl", "cpu", say=said.append), lock, said)


def test_the_trl_lock_makes_an_environment_that_imports_trl(installed: Installed) -> None:
    env = installed.env
    assert env.ready
    assert env.packages is not None
    wanted = {pin.name: pin.version for pin in pins.read(installed.lock.folder / "requirements.in")}
    assert {name: env.packages[name].split("+")[0] for name in wanted} == wanted
    program = "import trl; from trl import SFTTrainer; print(trl.__version__)"
    done = subprocess.run([env.python, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == wanted["trl"]
    assert examine(env, installed.lock).problems == ()
    assert any(line.startswith("  2 s: ") for line in installed.said)


def test_the_hf_backend_finds_the_same_environment_ready(installed: Installed) -> None:
    shared = envs.locate("hf", registry.load("hf").lock(), CPU, None)
    assert (shared.ready, shared.folder) == (True, installed.env.folder)


def test_a_package_removed_by_hand_is_found_out(installed: Installed) -> None:
    site = next((installed.env.folder / "lib").glob("python*")) / "site-packages"
    record = next(site.glob("safetensors-*.dist-info"))
    hidden = record.rename(site / "gone")
    report = examine(installed.env, installed.lock)
    hidden.rename(record)
    assert report.problems == (f"safetensors is missing; the lock has {report.locked['safetensors']}",)
    assert report.fix == "post-train backends install trl --variant cpu --force"
