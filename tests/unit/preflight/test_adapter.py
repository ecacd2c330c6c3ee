"""Modules of an adapter, against the names in the model's files."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.preflight import adapter

if TYPE_CHECKING:
    from tests.conftest import MakeSpec

NAMES = ("model.embed_tokens", "model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.v_proj", "model.norm")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of four modules, without a head of its own."""
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    head = json.dumps({f"{name}.weight": entry for name in NAMES}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + b"\0" * 4)
    return tmp_path


@pytest.mark.parametrize(
    ("lora", "levels"),
    [
        ({"target_modules": ["q_proj", "v_proj"]}, []),
        ({"target_modules": "all-linear"}, []),
        ({"target_modules": ["q_proj", "o_proj"]}, ["advice"]),
        ({"target_modules": ["query", "key"]}, ["error"]),
        ({"target_modules": ["_proj"]}, ["error"]),
        ({"target_modules": r".*self_attn\.[qv]_proj"}, []),
        ({"target_modules": r".*language_model.*"}, ["advice"]),
        ({"target_modules": "("}, ["advice"]),
        ({"target_modules": ["q_proj"], "modules_to_save": ["embed_tokens", "lm_head"]}, []),
        ({"target_modules": ["q_proj"], "modules_to_save": ["embed_token"]}, ["error"]),
    ],
)
def test_modules(make_spec: MakeSpec, model: Path, lora: dict[str, Any], levels: list[str]) -> None:
    given = {f"lora__{key}": value for key, value in lora.items()}
    found = list(adapter.check(make_spec(**given), model))
    assert [f.level for f in found] == levels
    assert {f.code for f in found} <= {"lora.modules"}
    assert list(adapter.check(make_spec(method="full"), model)) == []
    assert list(adapter.check(make_spec(**given), model / "org" / "name")) == []


def test_the_nearest_module_is_told(make_spec: MakeSpec, model: Path) -> None:
    (found,) = adapter.check(make_spec(lora__target_modules=["q_prj"]), model)
    assert "did you mean 'q_proj'" in found.message
