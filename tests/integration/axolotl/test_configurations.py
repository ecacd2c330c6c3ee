"""What we write is what Axolotl reads: its own validation, for hardware that is not here."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.axolotl_import import MACHINE
from orchestrator import library, registry
from orchestrator.backend import Job, ModelRef
from orchestrator.findings import errors
from orchestrator.recipe import Value
from orchestrator.resolve import resolve

pytestmark = pytest.mark.integration
ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden" / "axolotl"
SHIPPED = [name for name in library.names() if name.startswith("muse_glimmer/axolotl")]


def shipped(name: str, rows: Path) -> str:
    """The native file of a shipped recipe for eight H100s."""
    spec = resolve(library.find(name), 0, {"data.train": Value(str(rows), "test")}).spec
    model = ModelRef(label="base", path=spec.model.path or "", revision=spec.model.revision)
    job = Job(run_dir=Path("/runs/it"), model=model, machine=MACHINE, form="messages")
    backend = registry.load("axolotl")
    assert errors(backend.check(spec, job)) == []
    return backend.materialize(spec, job).files[0].content


def read_by_axolotl(python: str, texts: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Configurations as Axolotl understands them, defaults and migrations applied."""
    asked = "".join(json.dumps({"name": name, "text": text}) + "\n" for name, text in texts.items())
    quiet = {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "AXOLOTL_DO_NOT_TRACK": "1", "OMP_NUM_THREADS": "1"}
    argv = [python, "-m", "benchmarks.axolotl_normalise"]
    done = subprocess.run(argv, input=asked, capture_output=True, text=True, check=True, env={**os.environ, **quiet})
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("refused") for answer in answers] == [None] * len(texts)
    return {answer["name"]: answer["config"] for answer in answers}


def test_axolotl_reads_every_key_that_we_write(python: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}\n')
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.yml"))}
    texts |= {name: shipped(name, rows) for name in SHIPPED}
    assert len(SHIPPED) == 6
    read = read_by_axolotl(python, texts)
    for name, text in texts.items():
        for key, value in yaml.safe_load(text).items():
            kept = read[name].get(key)
            if isinstance(value, dict):
                kept = {k: v for k, v in (kept or {}).items() if k in value}
            if key not in ("datasets", "test_datasets"):
                assert kept == value, f"{name}: {key}"
    full, lora = read["muse_glimmer/axolotl_full_fsdp2"], read["muse_glimmer/axolotl_lora_fsdp2"]
    assert full["optimizer"] == "adamw_torch_fused"
    assert full["fsdp_config"]["activation_checkpointing"] is True
    assert lora["fsdp_config"]["activation_checkpointing"] is False
    assert not lora["gradient_checkpointing"]
