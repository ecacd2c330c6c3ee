"""Which tokens get loss under templates as people have them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import HERE
from .hand import ROOT

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def cases(python: str, model: Path) -> dict[str, Any]:
    env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [python, str(HERE / "mask_cases.py"), str(model)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("template", ["plain", "markers_without_end"])
def test_every_assistant_turn_with_its_end(cases: dict[str, Any], template: str) -> None:
    assert cases[f"{template} multi"]["taught"] == ["first<|im_end|>", "second<|im_end|>"]
    assert cases[f"{template} single"]["taught"] == ["first<|im_end|>"]


def test_padding_with_the_end_token_doesn_t_hide_it(cases: dict[str, Any]) -> None:
    assert cases["pad_is_end single"]["taught"] == ["first<|im_end|>"]


def test_markers_around_user_turns_are_refused(cases: dict[str, Any]) -> None:
    assert cases["markers_on_everybody multi"] == {"code": "mask.user_turn"}


def test_a_template_that_rewrites_earlier_turns_is_refused(cases: dict[str, Any]) -> None:
    assert cases["rewrites multi"] == {"code": "template.prefix"}


def test_a_turn_that_never_ends_is_refused(cases: dict[str, Any]) -> None:
    assert cases["no_end single"] == {"code": "mask.no_end"}


def test_qwen3_is_rendered_by_its_twin_only_where_it_must_be(cases: dict[str, Any]) -> None:
    single, multi = cases["qwen3 single"], cases["qwen3 multi"]
    assert (single["twin"], multi["twin"]) == (0, 1)
    assert [text.endswith("first<|im_end|>") for text in single["taught"]] == [True]
    assert [text.split()[-1] for text in multi["taught"]] == ["first<|im_end|>", "second<|im_end|>"]
