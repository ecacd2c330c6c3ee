"""What tests of several modules begin with: an owner that lives, an attempt's folder, a finished run, another plan."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import manifest, sealed
from orchestrator.plan import load_plan

if TYPE_CHECKING:
    from tests.conftest import Cli


@pytest.fixture
def lock(work: Path) -> Iterator[int]:
    """An owner that lives."""
    handle = os.open(work / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    yield handle
    os.close(handle)


@pytest.fixture
def attempt(work: Path) -> Path:
    folder = work / "attempts" / "001"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def trained(cli: Cli, base: Path, chat: Path, runs: Path) -> Path:
    """The folder of a finished run `t` that made an adapter of `base`."""
    cli("sft", "--backend", "fake", "--name", "t", "--model", str(base), "--data", str(chat))
    return next(runs.glob("t-sft-*"))


Replan = Callable[[Path, str, str], None]


@pytest.fixture
def replan() -> Replan:
    """Give a run that was started another plan: a text in its plan and native files replaced, and sealed again."""

    def rewrite(folder: Path, old: str, new: str) -> None:
        plan = load_plan(folder)
        assert plan.native is not None
        files = tuple(f.model_copy(update={"content": f.content.replace(old, new)}) for f in plan.native.files)
        python = Path(str(plan.env.python).replace(old, new))
        plan = plan.model_copy(
            update={
                "native": plan.native.model_copy(update={"files": files}),
                "env": plan.env.model_copy(update={"python": python}),
            }
        )
        for file in files:
            (folder / file.path).write_text(file.content)
        (folder / "plan.json").write_text(json.dumps(plan.model_dump(mode="json", by_alias=True)))
        manifest.write(folder, manifest.read(folder).model_copy(update={"plan": sealed.digest(plan)}))

    return rewrite
