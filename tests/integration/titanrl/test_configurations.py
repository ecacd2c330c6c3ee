"""What we write is what TitanRL 0.3.0 takes: its own configuration classes, for GPUs that are not here."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backends.titanrl.adapter import BACKEND
from orchestrator import library
from orchestrator.backend import Job, ModelRef
from orchestrator.hardware import Gpu, Machine
from orchestrator.recipe import Value
from orchestrator.resolve import resolve

pytestmark = pytest.mark.integration
VARIABLE = "POST_TRAIN_TITANRL_PYTHON"
ROOT = Path(__file__).resolve().parents[3]
MACHINE = Machine(cores=64, memory=2**40, gpus=(Gpu(name="H100", memory=95 * 2**30, capability=9.0),) * 8)
QWEN = {
    "model_type": "qwen3",
    "hidden_size": 64,
    "vocab_size": 512,
    "head_dim": 32,
    "max_position_embeddings": 4096,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "rope_theta": 1e6,
}
ANALYST = {
    "native.api": "0.3.0",
    "native.moments": "bfloat16",
    "native.reasoning_strength": "low",
    "task.options.sandbox": "unconfined",
}
"""No bubblewrap where configurations are only made."""
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "titanrl/qa": (QWEN, {}),
    "titanrl/search_r1": (QWEN, {}),
    "titanrl/alphabet_sort": (QWEN, {}),
    "titanrl/dapo_math": (QWEN, {}),
    "muse_glimmer/titanrl_data_analyst": ({"model_type": "muse_glimmer"}, ANALYST),
}
RELEASED = "torchtitan.experiments.rl.controller.Controller.Config"


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What TitanRL made of each case's file; one start of its environment for all."""
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no Python with TitanRL")
    folder = tmp_path_factory.mktemp("configurations")
    files = [_written(folder, name) for name in CASES]
    argv = [python, "-W", "ignore", str(Path(__file__).with_name("load_configurations.py")), *files]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env=env, cwd=folder)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {answer["name"]: answer for answer in answers}


def _written(folder: Path, name: str) -> str:
    """The config registry of a shipped recipe, for a model folder as far as it is read."""
    config, changes = CASES[name]
    model, plain = folder / config["model_type"], name.replace("/", "_")
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    spec = resolve(library.find(name), 0, {key: Value(value, "test") for key, value in changes.items()}).spec
    job = Job(run_dir=folder / plain, model=ModelRef(label="base", path=str(model)), machine=MACHINE)
    path = folder / f"{plain}.py"
    path.write_text(BACKEND.materialize(spec, job).files[0].content, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "steps", "ranks", "context", "optimizer", "normalize"),
    [
        ("titanrl_qa", 20, 1, 1024, "fused", False),
        ("titanrl_search_r1", 500, 1, 4096, "fused", True),
        ("titanrl_alphabet_sort", 10, 2, 2048, "fused", False),
        ("titanrl_dapo_math", 150, 2, 10240, "fused", False),
        ("muse_glimmer_titanrl_data_analyst", 15, 6, 4096, "fused_opt_states_bf16", False),
    ],
)
def test_titanrl_takes_what_we_write(
    read: dict[str, dict[str, Any]], name: str, steps: int, ranks: int, context: int, optimizer: str, normalize: bool
) -> None:
    expected = {"steps": steps, "ranks": ranks, "context": context, "optimizer": optimizer, "normalize": normalize}
    assert read[name] == {"name": name, "kind": RELEASED, **expected}
