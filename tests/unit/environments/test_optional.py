"""Optional pieces: built for real from a repository, and refused with everything that is missing."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Literal

import pytest

from orchestrator import envs
from orchestrator.backend import EnvLock
from orchestrator.environments import needs, optional, pins, toolchain
from orchestrator.environments.needs import Place
from orchestrator.environments.toolchain import Toolchain
from orchestrator.errors import EnvironmentMissing, UsageError
from orchestrator.hardware import Gpu, Machine

from .conftest import source

CPU = Machine(cores=1, memory=2**30)
H100 = Machine(cores=1, memory=2**30, gpus=(Gpu(name="H100", memory=80 * 2**30, capability=9.0),) * 2)
AXOLOTL = EnvLock(folder=Path(__file__).parents[3] / "backends" / "axolotl" / "env")
PIECES = optional.read(AXOLOTL).piece
BUILT = {name: piece for name, piece in PIECES.items() if piece.install}
WHOLE = Toolchain(Path("/cuda"), "13.0", "/bin/gcc", "/bin/g++", True, True, ("9.0",))
BARE = Toolchain(None, None, None, None, False, False, ())


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of those that builds take."""
    for name in ("CUDA_HOME", "CC", "CXX", "TORCH_CUDA_ARCH_LIST", "FLASH_ATTN_CUDA_ARCHS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pieced(lock: EnvLock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EnvLock:
    """The lock, with a piece that lies in a repository and is built with a tool that no lock has."""
    project = tmp_path / "project"
    source(project, "raw", "2.0", uses="extra")
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")):
        subprocess.run(["git", *words], cwd=project, check=True)
    # an old pip takes no address of a file for a requirement, and git finds the project behind another one
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{project.as_uri()}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://example.invalid/raw.git")
    address = f"git+https://example.invalid/raw.git@{_head(project)}"
    piece = f'[piece.raw]\npurpose = "trying"\ninstall = ["raw @ {address}"]\ntools = ["extra==3.0"]\n'
    piece += 'variables = { RAW = "{families}" }\n[piece.tiny]\npurpose = "looking"\n[refuse]\nbad = "it is bad"\n'
    (lock.folder / "optional.toml").write_text(piece)
    return lock


def _head(project: Path) -> str:
    return subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=project, text=True).strip()


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_a_piece_is_built_here_and_found_again(
    pieced: EnvLock, house: Path, monkeypatch: pytest.MonkeyPatch, tool: Literal["uv", "pip"]
) -> None:
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "8.6;9.0a")
    plain = envs.install(pieced, "one", "cpu", say=print, find_links=str(house), tool=tool)
    said: list[str] = []
    env = envs.install(pieced, "one", "cpu", say=said.append, find_links=str(house), tool=tool, pieces=["raw"])
    assert env.folder != plain.folder
    assert env.packages is not None
    assert (env.packages["raw"], env.packages["tiny"]) == ("2.0", "1.5")
    assert "building raw, which can take long" in said
    told = subprocess.check_output([env.python, "-c", "import raw; print(raw.TOLD)"], text=True)
    assert told.split()[:2] == ["80;90", "8.6;9.0a"]
    assert told.split()[2] == str(env.folder / "bin")
    assert envs.locate("one", pieced, CPU, None) == env
    assert envs.install(pieced, "one", "cpu", say=print, pieces=["raw"]) == env


def test_a_changed_recipe_for_a_piece_is_another_environment(pieced: EnvLock, house: Path) -> None:
    first = envs.install(pieced, "one", "cpu", say=print, find_links=str(house), pieces=["raw"])
    file = pieced.folder / "optional.toml"
    file.write_text(file.read_text().replace("raw @ git", "raw[more] @ git"))
    again = envs.install(pieced, "one", "cpu", say=print, find_links=str(house), pieces=["raw"])
    assert again.folder != first.folder


def test_an_unknown_piece_and_one_that_is_never_built_are_usage_errors(pieced: EnvLock) -> None:
    for name in ("rwa", "tiny"):
        with pytest.raises(UsageError, match="raw"):
            envs.install(pieced, "one", "cpu", say=print, pieces=[name])


@pytest.mark.parametrize("extra", ["bad", "Bad>=1", "good[bad]"])
def test_a_refused_package_is_refused_by_name_and_by_extra(pieced: EnvLock, cache: Path, extra: str) -> None:
    with pytest.raises(EnvironmentMissing) as caught:
        envs.install(pieced, "one", "cpu", say=print, extras=["extra", extra])
    assert caught.value.details == (f"{extra}: it is bad",)
    assert not cache.exists()


@pytest.mark.parametrize("extra", [";;;", "", " ", "-r x", "a b", "torch=="])
def test_what_is_no_requirement_is_refused_before_anything_is_made(pieced: EnvLock, cache: Path, extra: str) -> None:
    with pytest.raises(UsageError, match="these are no packages") as caught:
        envs.install(pieced, "one", "cpu", say=print, extras=["good", extra])
    assert [line.partition(":")[0] for line in caught.value.details] == [repr(extra)]
    assert not cache.exists()


def test_a_path_and_an_address_are_left_to_the_installer(pieced: EnvLock, tmp_path: Path) -> None:
    optional.refuse("one", pieced, [str(tmp_path), "git+https://host/x.git", "good @ https://host/good.whl"])


def test_a_piece_among_the_extras_is_sent_to_the_other_flag(pieced: EnvLock) -> None:
    with pytest.raises(EnvironmentMissing, match="has to be built here") as caught:
        envs.install(pieced, "one", "cpu", say=print, extras=["raw==2.0"])
    assert caught.value.fix == "post-train backends install one --build raw"


def test_axolotl_refuses_deepspeed_with_the_reason() -> None:
    for extra in ("deepspeed", "axolotl[deepspeed]", "deepspeed-kernels"):
        with pytest.raises(EnvironmentMissing, match=r"no wheel for Python 3\.12"):
            envs.install(AXOLOTL, "axolotl", "cpu", say=print, extras=[extra])


def test_the_shipped_pieces_are_pinned_and_say_what_they_are_for() -> None:
    assert set(BUILT) == {"flash-attn", "cut-cross-entropy"}
    assert BUILT["flash-attn"].install == ("flash-attn==2.8.3",)
    assert BUILT["cut-cross-entropy"].install[0].endswith("@4dfa52212d0552805aec5a6a2176c0abbea277d2")
    assert all(piece.purpose for piece in PIECES.values())
    assert all("==" in text for piece in BUILT.values() for text in piece.tools)
    assert "torchvision" in {pin.name for pin in pins.read(AXOLOTL.folder / "cuda.lock")}


def test_a_whole_toolchain_meets_every_need() -> None:
    assert needs.missing(BUILT, Place("cuda", "13", WHOLE)) == []


def test_every_need_that_is_not_met_is_told_at_once_with_who_has_it() -> None:
    told = needs.missing(BUILT, Place("cpu", "13", BARE))
    both = "flash-attn, cut-cross-entropy: "
    assert [line.split(";")[0] for line in told] == [
        f"{both}runs on CUDA only, and this is the cpu variant",
        "flash-attn: no nvcc is here",
        f"{both}no C and C++ compiler is here",
        f"{both}no Python.h is here",
        "cut-cross-entropy: no git is here to fetch its source with",
        f"{both}no GPU is here that tells its architecture",
    ]
    assert all("; " in line for line in told)
    with pytest.raises(EnvironmentMissing, match="can't build flash-attn and cut-cross-entropy here") as caught:
        needs.demand("axolotl", BUILT, Place("cpu", "13", BARE))
    assert caught.value.details == tuple(told)
    asked = "post-train backends install axolotl --variant cuda --build flash-attn --build cut-cross-entropy"
    assert (caught.value.fix or "").endswith(asked)


def test_nothing_is_made_when_a_need_is_not_met(cache: Path) -> None:
    with pytest.raises(EnvironmentMissing, match="can't build flash-attn here"):
        envs.install(AXOLOTL, "axolotl", "cpu", say=print, pieces=["flash-attn"])
    assert not cache.exists()


def test_the_need_for_cuda_follows_the_lock() -> None:
    assert needs.place(AXOLOTL, "cuda", CPU).major == "13"


def test_an_old_gpu_and_another_cuda_are_named() -> None:
    old = Toolchain(Path("/cuda"), "12.8", "/bin/gcc", "/bin/g++", True, True, ("7.5", "9.0"))
    told = needs.missing(BUILT, Place("cuda", "13", old))
    assert told[0].startswith("flash-attn: torch is built for CUDA 13, and /cuda is CUDA 12.8; install a CUDA 13")
    assert [line.split(":")[0] for line in told[1:]] == ["flash-attn", "cut-cross-entropy"]
    assert all("needs compute capability 8.0 or later, and 7.5 is asked for" in line for line in told[1:])


def test_what_the_user_set_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLASH_ATTN_CUDA_ARCHS", "100")
    told = needs.variables(BUILT["flash-attn"], WHOLE, tmp_path)
    assert told["FLASH_ATTN_CUDA_ARCHS"] == "100"
    assert (told["CUDA_HOME"], told["CC"], told["TORCH_CUDA_ARCH_LIST"]) == ("/cuda", "/bin/gcc", "9.0")
    assert told["PATH"].startswith(f"{tmp_path}:")


def _toolkit(folder: Path, release: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "include").mkdir()
    (folder / "include" / "cuda_runtime.h").write_text("")
    nvcc = folder / "bin" / "nvcc"
    nvcc.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.88'\n")
    nvcc.chmod(0o755)
    return folder


def test_the_architecture_is_that_of_the_gpus_unless_the_user_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert toolchain.find(H100, "13").architectures == ("9.0",)
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "8.0 8.6+PTX;12.0")
    found = toolchain.find(H100, "13")
    assert found.architectures == ("8.0", "8.6+PTX", "12.0")
    assert (found.levels, found.families) == ((8.0, 8.6, 12.0), "80;120")


def test_the_toolkit_of_the_right_major_version_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _toolkit(tmp_path / "cuda-12.8", "12.8")
    right = _toolkit(tmp_path / "cuda-77.1", "77.1")
    monkeypatch.setattr(toolchain, "_USUAL", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "cuda-12.8" / "bin"))
    found = toolchain.find(CPU, "77")
    assert (found.cuda_home, found.cuda) == (right, "77.1")
    assert toolchain.find(CPU, "12").cuda_home == tmp_path / "cuda-12.8"


def test_cuda_home_is_final(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _toolkit(tmp_path / "good", "13.0")
    monkeypatch.setenv("PATH", str(tmp_path / "good" / "bin"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "empty"))
    here = Place("cuda", "13", toolchain.find(H100, "13"))
    assert here.tools.cuda is None
    told = needs.missing({"flash-attn": BUILT["flash-attn"]}, here)
    assert f"CUDA_HOME is {tmp_path / 'empty'}, which holds no bin/nvcc" in told[0]


def test_a_compiler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    here = Place("cuda", "13", toolchain.find(H100, "13"))
    told = needs.missing({"cut-cross-entropy": BUILT["cut-cross-entropy"]}, here)
    assert any("CXX is no-such-compiler, which is not here" in line for line in told)
