"""What tests of vLLM need from an environment that has it.

vllm_cases.py models MODEL FOLDER   leaves MODEL's probe by transformers and a damaged copy in FOLDER
vllm_cases.py listening MODEL       prints the addresses, as the kernel writes them, at which the open engine listens
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path


def models(source: str, target: str) -> None:
    from safetensors.torch import load_file, save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from backends.trainer import probe

    folder, model = Path(target), AutoModelForCausalLM.from_pretrained(source, dtype="float32")
    (folder / "probe.json").write_text(json.dumps(probe.measure(model, AutoTokenizer.from_pretrained(source))))
    weights = Path(shutil.copytree(source, folder / "damaged")) / "model.safetensors"
    tensors = load_file(weights)
    name = next(n for n in sorted(tensors) if n.endswith("o_proj.weight"))
    save_file({**tensors, name: 0.9 * tensors[name]}, weights, {"format": "pt"})


def listening(source: str) -> None:
    from backends.hf.worker_contestants import Contestant
    from backends.hf.worker_vllm import opened
    from backends.trainer.prompts import reader
    from orchestrator.events import EventWriter

    one = Contestant("m", Path(source), None, False, reader(Path(source), None, trust=False, options={}), [], None)
    settings = {"generation": "vllm", "dtype": "auto", "batch_size": 4, "temperature": 0.0, "top_p": 1.0, "seed": 0}
    with opened(one, settings, EventWriter(Path(os.devnull)), 128) as engine:
        engine([[1, 2, 3]], new=4)
        print(json.dumps(_addresses()))


def _addresses() -> list[str]:
    mine = {str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()}
    rows = [row.split() for kind in ("tcp", "tcp6") for row in Path(f"/proc/self/net/{kind}").read_text().splitlines()]
    return sorted({row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine})


if __name__ == "__main__":
    if sys.argv[1] == "models":
        models(*sys.argv[2:])
    else:
        listening(*sys.argv[2:])
