"""What is looked at before TitanRL starts: the hardware, the model, what an earlier attempt left."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from backends.trainer import absent
from orchestrator.events import EventWriter


def has_gpu() -> bool:
    """Whether CUDA can be used."""
    import torch

    return bool(torch.cuda.is_available())


def load(folder: str | Path) -> tuple[Any, Any]:
    """Model in float32 and tokenizer, by transformers.

    Raises:
        WorkError: a tensor of the model is not in the folder, or has another shape.
    """
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    kind = getattr(transformers, (config.architectures or ["AutoModelForCausalLM"])[0])
    model, told = kind.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    absent.refuse(folder, told)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def require_proved(folder: str, events: EventWriter) -> None:
    """The folder that TitanRL will load answers as the model did where it was made.

    Raises:
        WorkError: it doesn't.
    """
    from backends.trainer.handoff import require_same

    events.emit("doing", what="looking at the model to start from")
    model, tokenizer = load(folder)
    require_same(model, tokenizer, events, "the model to start from")


def finished(folder: Path, steps: int) -> bool:
    """Whether the weights of the last step are there."""
    return whole_export(folder / f"step-{steps}")


def put_aside(folder: Path, steps: int, events: EventWriter) -> None:
    """Rename what can't be resumed from: TitanRL takes the highest number without a look inside.

    The weights alone that the last step leaves hold no optimizer state: the end of a run, but no place to go on from.
    """
    for path in sorted(folder.glob("step-*")):
        if (path / ".metadata").is_file() or (path.name == f"step-{steps}" and whole_export(path)):
            continue
        aside = path.with_name(f"broken-{path.name}")
        shutil.rmtree(aside, ignore_errors=True)
        path.rename(aside)
        message = f"{path.name} is no whole checkpoint and is passed over; it is now {aside.name}"
        events.emit("warning", code="checkpoint.broken", message=message)


def whole_export(folder: Path) -> bool:
    """Whether every file that the index names is there."""
    index = folder / "model.safetensors.index.json"
    try:
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError):
        return False
    return bool(names) and all((folder / name).is_file() for name in names)
