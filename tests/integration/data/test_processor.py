"""The processor preflight: a real processor over rows with pictures, in the engine's environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from data_prep.inputs import inputs
from data_prep.options import Options
from data_prep.prepare import prepare
from data_prep.splits import Shares
from tests.conftest import ROOT

pytestmark = pytest.mark.integration
TOKENIZER = ROOT / "recipes/quickstart/model"
MAKE = """
import sys
from transformers import AutoTokenizer, CLIPImageProcessorPil, LlavaProcessor
from PIL import Image
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
template = ("{% for m in messages %}{{ m.role }}: {% for part in m.content %}"
            "{{ '<image>' if part.type == 'image' else part.text }}{% endfor %}\\n{% endfor %}")
size = {"height": 56, "width": 56}
LlavaProcessor(
    image_processor=CLIPImageProcessorPil(size=size, crop_size=size), tokenizer=tokenizer, patch_size=14,
    vision_feature_select_strategy="default", image_token="<image>", num_additional_image_tokens=1,
    chat_template=template).save_pretrained(sys.argv[2] + "/model")
for shade in (1, 2):
    Image.new("RGB", (30, 20), (shade, 0, 0)).save(f"{sys.argv[2]}/{shade}.png")
"""


@pytest.fixture(scope="module")
def python() -> str:
    """Python of an environment with transformers."""
    found = os.environ.get("POST_TRAIN_TRL_PYTHON")
    if not found:
        pytest.skip("POST_TRAIN_TRL_PYTHON names no Python with TRL")
    return found


@pytest.fixture(scope="module")
def place(python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a processor and two pictures."""
    folder = tmp_path_factory.mktemp("processor")
    done = subprocess.run(
        [python, "-c", MAKE, str(TOKENIZER), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def ask(text: str, *names: str) -> dict[str, Any]:
    parts = [{"type": "image", "path": name} for name in names]
    content = [*parts, {"type": "text", "text": text}]
    return {"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": "yes"}]}


def processed(python: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The preflight over a prepared folder."""
    argv = [sys.executable, "-m", "orchestrator", "data", "check", str(folder), "--processor", "trl", "--env", python]
    argv += ["--model", str(folder.parent / "model"), *words]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(argv, env=env, cwd=folder.parent, capture_output=True, text=True, check=False)


def made(place: Path, name: str, rows: list[Any]) -> Path:
    """Rows, prepared."""
    (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    prepare(inputs([place / f"{name}.jsonl"]), Options(shares=Shares(0, 0)), place / name)
    return place / name


def test_every_picture_gets_its_patches(python: str, place: Path) -> None:
    folder = made(place, "good", [ask("one?", "1.png"), ask("two?", "1.png", "2.png"), ask("none?")])
    done = processed(python, folder, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["processor"], found["rows"], found["faults"]) == ("LlavaProcessor", 3, {})
    assert (found["pictures"], found["places"], found["unknown"]) == (3, 3 * 16, 0)
    assert found["tokens"]["longest"] > 32


def test_rows_at_fault_are_told(python: str, place: Path) -> None:
    folder = made(place, "bad", [ask("one?", "1.png"), ask("a place", "1.png"), ask("b " * 200, "2.png")])
    rows = folder / "train.jsonl"
    rows.write_text(rows.read_text().replace("place", "<image>"))
    done = processed(python, folder, "--max-tokens", "150")
    assert done.returncode == 3
    assert f"{rows}:2: 1 pictures, and the rendered text names <image> 2 times" in done.stderr
    assert f"{rows}:3: " in done.stderr
    assert "more than the 150 allowed" in done.stderr
    assert "2 of 3 rows are at fault" in done.stderr
