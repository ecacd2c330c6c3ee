"""TitanRL's last step as a model folder: its weights, and everything else from the model it started from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file

from orchestrator.harness import WorkError

_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".index.json")
_KEPT = "model-kept.safetensors"
_INDEX = "model.safetensors.index.json"


def export(config: Any, run: Path) -> dict[str, float]:
    """Write `artifacts/model`, load it again, and leave its probe.

    Returns:
        steps, and the number of tensors that were kept from the base, such as a vision tower's.

    Raises:
        WorkError: training ended early, or the model can't be loaded whole.
    """
    from backends.titanrl import worker_start
    from backends.titanrl.worker_metrics import require_end
    from backends.trainer import probe

    steps, base = config.async_loop.num_training_steps, Path(config.hf_assets_path)
    step = require_end(Path(config.dump_folder) / "checkpoint", steps)
    folder = run / "artifacts" / "model"
    if folder.exists():
        raise WorkError("output.exists", f"{folder} exists", why="it would be overwritten", fix="start a new run")
    partial = folder.with_name(".partial-model")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for source in (*step.glob("*.safetensors"), step / _INDEX):
        shutil.copyfile(source, partial / source.name)
    _carry(base, partial)
    kept = _keep(base, partial)
    model, tokenizer = worker_start.load(partial)
    probe.write(run, probe.measure(model, tokenizer))
    partial.rename(folder)
    return {"steps": steps, "tensors_kept": kept}


def _carry(base: Path, folder: Path) -> None:
    """Configuration, tokenizer, template, processor: TitanRL writes none of them."""
    for source in sorted(base.iterdir()):
        if source.is_file() and not source.name.startswith(".") and not source.name.endswith(_WEIGHTS):
            shutil.copyfile(source, folder / source.name)


def _keep(base: Path, folder: Path) -> int:
    """Tensors that TitanRL doesn't train and leaves out: a text-only flavor has no vision tower."""
    made, there = _names(folder), _names(base)
    missing = {name: file for name, file in there.items() if name not in made}
    if not missing:
        return 0
    tensors = {}
    for name, file in missing.items():
        with safe_open(file, framework="pt") as opened:
            tensors[name] = opened.get_tensor(name)
    save_file(tensors, folder / _KEPT, metadata={"format": "pt"})
    index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    index["weight_map"] |= dict.fromkeys(tensors, _KEPT)
    (folder / _INDEX).write_text(json.dumps(index, indent=2), encoding="utf-8")
    return len(tensors)


def _names(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as opened:
            found |= dict.fromkeys(opened.keys(), file)
    return found
