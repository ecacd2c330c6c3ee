"""The model folder: what refuses it, and the clean twin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.backend import ModelRef
from orchestrator.preflight import folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder that passes."""
    for name, content in {"config.json": "{}", "tokenizer.json": "{}", "model.safetensors": ""}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def look(path: Path, **more: str) -> list[str]:
    found = folder.check(ModelRef(label="base", path=str(path), **more))
    assert {(f.code, f.level) for f in found} <= {("model.folder", "error")}
    assert all(f.fix for f in found)
    return [f.message for f in found]


def test_a_whole_folder_passes(model: Path) -> None:
    assert look(model) == []


def test_missing_parts(model: Path) -> None:
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "gone.safetensors"}}))
    assert "gone.safetensors" in look(model)[0]
    (model / "model.safetensors.index.json").write_text("{")
    assert "index.json" in look(model)[0]
    (model / "model.safetensors.index.json").unlink()
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    assert "pickled" in look(model)[0]
    (model / "pytorch_model.bin").unlink()
    assert "no weights" in look(model)[0]
    (model / "tokenizer.json").unlink()
    assert "no tokenizer" in look(model)[1]
    (model / "config.json").write_text("[]")
    assert "not an object" in look(model)[0]


def test_an_adapter_is_no_model(model: Path) -> None:
    (model / "config.json").rename(model / "adapter_config.json")
    assert "is an adapter" in look(model)[0]
    assert "is an adapter" in look(Path("org/model"), adapter="/runs/sft/adapter")[0]


def test_only_a_folder_that_should_be_there_is_missed() -> None:
    assert "there is no folder" in look(Path("/nowhere/model"))[0]
    assert look(Path("org/model")) == []
    assert folder.check(ModelRef(label="sft-1", path="/runs/sft-1/artifacts/model")) == []
