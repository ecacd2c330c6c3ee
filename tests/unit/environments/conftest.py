"""A tiny engine to install: handmade wheels, a lock with their hashes, an empty cache, and no network."""

from __future__ import annotations

import hashlib
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from orchestrator.backend import EnvLock

# Imports of `tiny` can be slowed down from outside, to catch an installation in the middle.
_TINY = """
import os, time
time.sleep(float(os.environ.get("TINY_SLEEP", "0")))
"""


def wheel(house: Path, name: str, version: str, source: str = "") -> str:
    """Write a pure Python wheel; returns its sha256."""
    info = f"{name}-{version}.dist-info"
    members = {
        f"{name}/__init__.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{member},,\n" for member in [*members, f"{info}/RECORD"])
    path = house / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in (members | {f"{info}/RECORD": record}).items():
            archive.writestr(member, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


# A build backend that needs what the lock brought, as a setup.py needs setuptools.
_BACKEND = """
import {uses}, os, zipfile
TOLD = [os.environ.get("RAW"), os.environ.get("TORCH_CUDA_ARCH_LIST"), os.environ["PATH"].split(":")[0]]
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, info = "{name}-{version}-py3-none-any.whl", "{name}-{version}.dist-info/"
    with zipfile.ZipFile(folder + "/" + name, "w") as archive:
        archive.writestr("{name}.py", "BUILT = True; TOLD = " + repr(" ".join(map(str, TOLD))))
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "RECORD", "")
    return name
"""


def source(folder: Path, name: str, version: str, uses: str) -> None:
    """Write a project that is built with the module `uses`, and remembers what its build was told."""
    members = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "pyproject.toml": f'[build-system]\nrequires = ["{uses}"]\nbuild-backend = "own"\nbackend-path = ["."]\n',
        "own.py": _BACKEND.format(name=name, version=version, uses=uses),
    }
    folder.mkdir()
    for member, text in members.items():
        (folder / member).write_text(text)


def sdist(house: Path, name: str, version: str) -> str:
    """Write a source package, to be built with `tiny`; returns its sha256."""
    project = house.parent / f"{name}-{version}"
    source(project, name, version, uses="tiny")
    path = house / f"{name}-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(project, project.name)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def put(env: Path, name: str, version: str, source: str = "") -> None:
    """Install a distribution into an environment by hand."""
    site, module = next((env / "lib").glob("python*")) / "site-packages", name.replace("-", "_")
    (site / module).mkdir()
    (site / module / "__init__.py").write_text(source)
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{module}/__init__.py,,\n")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """An environment of the user's own, empty."""
    folder = tmp_path / "own"
    venv.create(folder, with_pip=False)
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder; both tools look nowhere but where they are told."""
    for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS", "POST_TRAIN_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip"))
    # pip asks rustc for its version, and a rustup that has not run yet writes its settings then
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path / "rustup"))
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("UV_DEFAULT_INDEX", (tmp_path / "index").as_uri())
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("POST_TRAIN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder of wheels: tiny, extra and CPU torch, none of them real."""
    folder = tmp_path / "all, my wheels"
    folder.mkdir()
    wheel(folder, "tiny", "1.5", _TINY)
    wheel(folder, "tiny", "1.6", _TINY)
    wheel(folder, "extra", "3.0")
    wheel(folder, "torch", "9.8.7+cpu")
    wheel(folder, "torch", "9.8.7")
    return folder


@pytest.fixture
def lock(tmp_path: Path, house: Path) -> EnvLock:
    """A lock of tiny 1.5 and torch 9.8.7."""
    folder = tmp_path / "env"
    folder.mkdir()
    tiny, torch = (
        hashlib.sha256((house / f"{name}-py3-none-any.whl").read_bytes()).hexdigest()
        for name in ("tiny-1.5", "torch-9.8.7")
    )
    pinned = f"tiny==1.5 \\\n    --hash=sha256:{tiny}\n"
    pinned += f"never==1 ; sys_platform == 'plan9' \\\n    --hash=sha256:{'0' * 64}\n"
    (folder / "requirements.in").write_text("# the engine\ntiny==1.5\ntorch==9.8.7\n")
    (folder / "cpu.lock").write_text(pinned)
    (folder / "cuda.lock").write_text(f"{pinned}torch===9.8.7 \\\n    --hash=sha256:{torch}\n")
    (folder / "torch.txt").write_text("torch==9.8.7\n")
    return EnvLock(folder=folder)
