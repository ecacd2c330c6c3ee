"""What a save may lose of an adapter, and that each loss is named."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from .conftest import HERE
from .hand import ROOT

pytestmark = pytest.mark.integration


def test_an_adapter_on_disk_is_the_one_in_memory(python: str, model: Path, tmp_path: Path) -> None:
    env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [python, str(HERE / "artifact_cases.py"), str(model), str(tmp_path / "adapter")],
        env=env, capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said.pop("none") is None
    assert all(one.startswith("artifact.wrong") for one in said.values())
    assert "trained with shape" in said["flat"]
    assert "trained with shape (4," in said["half the rank"]
    assert "trained tensors were not written" in said["half the keys"]
    assert "stray" in said["one more"]
    assert "numbers" in said["one number"]
