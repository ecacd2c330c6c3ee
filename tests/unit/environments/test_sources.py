"""Where packages come from, asked of the real pip."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.backend import EnvLock
from orchestrator.environments import sources, tools, torchbuild
from orchestrator.environments.sources import Sources
from orchestrator.errors import EnvironmentMissing


def test_pip_configuration_is_handed_to_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nfind-links = /wheels/a\n  /wheels/b\nindex-url = file:///main\nextra-index-url = file:///more\n"
        "[install]\nindex-url = file:///install\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.delenv("UV_DEFAULT_INDEX")
    known = sources.configured("/mine")
    assert known.find_links[:3] == ("/mine", "/wheels/a", "/wheels/b")
    told = known.for_uv()
    assert told["UV_FIND_LINKS"].startswith("/mine,/wheels/a,/wheels/b")
    assert told["UV_DEFAULT_INDEX"] == "file:///install"
    assert told["UV_INDEX"] == "file:///more"
    assert told["UV_INDEX_STRATEGY"] == "unsafe-best-match"


def test_variables_win_over_pip_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/from/pip")
    monkeypatch.setenv("POST_TRAIN_FIND_LINKS", "/from/variable")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "file:///own")
    known = sources.configured()
    assert known.find_links == ("/from/variable", "/from/pip")
    assert "UV_DEFAULT_INDEX" not in Sources(index="file:///pips").for_uv()


def test_passwords_in_addresses_are_not_shown() -> None:
    assert sources.shown(["https://me:secret@wheels.example/simple", "/a"]) == "https://wheels.example/simple, /a"


def test_pip_says_whether_there_is_a_cpu_build(house: Path) -> None:
    assert sources.cpu_build("9.8.7", sources.configured(str(house)), True) == "9.8.7+cpu"
    assert sources.cpu_build("9.8.8", sources.configured(str(house)), True) is None
    assert sources.cpu_build("9.8.7", Sources(), True) is None


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_a_known_cpu_build_is_taken(lock: EnvLock, house: Path, tool: tools.ToolName) -> None:
    build = torchbuild.choose(lock, "cpu", tools.find(tool), sources.configured(str(house)), False)
    assert build.words[0] == "torch==9.8.7+cpu"
    assert (build.lock, build.warning) == ("cpu", None)


def test_uv_finds_the_cpu_build_itself(lock: EnvLock) -> None:
    build = torchbuild.choose(lock, "cpu", tools.find("uv"), Sources(), False)
    assert build.words == ("torch==9.8.7", "--torch-backend", "cpu")


@pytest.mark.skipif(not sources.plain_is_cuda(), reason="the plain wheel is a CPU build here")
def test_pip_without_a_source_warns_of_the_large_build(lock: EnvLock) -> None:
    build = torchbuild.choose(lock, "cpu", tools.find("pip"), Sources(), False)
    assert (build.words, build.lock) == ((), "cuda")
    assert build.warning is not None
    assert "3 GB" in build.warning
    assert "--find-links" in build.warning


def test_a_named_place_without_the_wheel_is_refused(lock: EnvLock, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentMissing, match=r"no CPU build of torch 9\.8\.7"):
        torchbuild.choose(lock, "cpu", tools.find(), Sources(find_links=(str(tmp_path),)), True)


def test_cuda_takes_torch_from_its_lock(lock: EnvLock) -> None:
    assert torchbuild.choose(lock, "cuda", tools.find(), Sources(), False) == torchbuild.TorchBuild((), "cuda")
