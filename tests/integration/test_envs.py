"""The locks that ship, installed for real into an empty cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from orchestrator import envs, registry
from orchestrator.backend import EnvLock
from orchestrator.environments import pins
from orchestrator.environments.examine import examine
from orchestrator.envs import EnvRef
from orchestrator.errors import EnvironmentMissing
from orchestrator.hardware import Machine

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]

CPU = Machine(cores=1, memory=2**30)
PROGRAMS = {
    "trl": "import trl; from trl import SFTTrainer; print(trl.__version__)",
    "axolotl": "import axolotl, axolotl.utils.schemas.config; print(axolotl.__version__)",
}


@dataclass(frozen=True)
class Installed:
    """An environment, its lock, and what was said while it was made."""

    env: EnvRef
    lock: EnvLock
    said: list[str]


def _install(name: str) -> Installed:
    lock, said = _lock(name), list[str]()
    return Installed(envs.install(lock, name, "cpu", say=said.append), lock, said)


def _lock(name: str) -> EnvLock:
    lock = registry.load(name).lock()
    assert lock is not None
    return lock


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of our own; pytest would keep its gigabytes."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POST_TRAIN_CACHE", str(folder))
        yield
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def trl() -> Installed:
    return _install("trl")


@pytest.fixture(scope="module")
def axolotl() -> Installed:
    return _install("axolotl")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_lock_makes_an_environment_that_imports_its_engine(name: str, request: pytest.FixtureRequest) -> None:
    installed: Installed = request.getfixturevalue(name)
    env = installed.env
    assert env.ready
    assert env.packages is not None
    wanted = {pin.name: pin.version for pin in pins.read(installed.lock.folder / "requirements.in")}
    assert {name: env.packages[name].split("+")[0] for name in wanted} == wanted
    done = subprocess.run([env.python, "-c", PROGRAMS[name]], capture_output=True, text=True, check=True)
    assert done.stdout.strip().splitlines()[-1] == wanted[name]
    report = examine(env, installed.lock)
    assert (report.problems, report.notes, report.conflicts) == ((), (), ())
    assert any(line.startswith("  2 s: ") for line in installed.said)


def test_the_hf_backend_finds_the_same_environment_ready(trl: Installed) -> None:
    shared = envs.locate("hf", _lock("hf"), CPU, None)
    assert (shared.ready, shared.folder) == (True, trl.env.folder)


def test_a_package_removed_by_hand_is_found_out(trl: Installed) -> None:
    site = next((trl.env.folder / "lib").glob("python*")) / "site-packages"
    record = next(site.glob("safetensors-*.dist-info"))
    hidden = record.rename(site / "gone")
    report = examine(trl.env, trl.lock)
    hidden.rename(record)
    assert report.problems == (f"safetensors is missing; the lock has {report.locked['safetensors']}",)
    assert report.fix == "post-train backends install trl --variant cpu --force"


def test_what_has_no_wheel_was_built_for_axolotl(axolotl: Installed) -> None:
    built = pins.source_only(axolotl.lock)
    assert axolotl.env.packages is not None
    assert set(built) <= set(axolotl.env.packages)
    assert f"building {', '.join(built)}" in axolotl.said


def test_an_axolotl_environment_named_by_the_user_is_as_good_as_the_locked_one(axolotl: Installed) -> None:
    given = envs.locate("axolotl", axolotl.lock, CPU, str(axolotl.env.folder))
    assert (given.variant, given.ready, given.problems, given.differences) == ("given", True, (), ())


@pytest.mark.parametrize("name", ["flash-attn", "cut-cross-entropy"])
def test_a_piece_for_cuda_is_refused_in_the_cpu_variant(axolotl: Installed, name: str) -> None:
    with pytest.raises(EnvironmentMissing, match=f"can't build {name} here") as caught:
        envs.install(axolotl.lock, "axolotl", "cpu", say=print, pieces=[name])
    assert caught.value.details[0] == f"{name}: runs on CUDA only, and this is the cpu variant; --variant cuda"
    assert envs.locate("axolotl", axolotl.lock, CPU, None).folder == axolotl.env.folder


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a CUDA build of torchvision")
def test_a_cuda_build_of_torchvision_beside_cpu_torch_is_refused(axolotl: Installed) -> None:
    with pytest.raises(EnvironmentMissing, match="not one that can be used") as caught:
        envs.install(axolotl.lock, "axolotl", "cpu", say=print, extras=["torchvision==0.28.0"])
    assert "torchvision 0.28.0 is built for CUDA" in caught.value.details[0]
    folder = next(axolotl.env.folder.parent.glob(f"{axolotl.env.folder.name}-*"))
    assert [path.name for path in folder.iterdir()] == ["install.log"]
