"""The adapter: which modules it goes on."""

from __future__ import annotations

import functools
import re
from typing import Any

from backends.trl.worker_file import Section
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError


def adapter(section: Section, model: Any, events: EventWriter) -> Any:
    """LoraConfig for this model. Modules that text never reaches stay without an adapter.

    Raises:
        WorkError: the target names match nothing in the model.
    """
    from peft import LoraConfig

    targets = section.get("target_modules")
    matched = [name for name in linear_names(model) if _matches(name, targets)]
    if not matched and not section.get("target_parameters"):
        raise WorkError(
            "lora.no_target",
            f"lora.target_modules {targets!r} matches no module of {type(model).__name__}",
            why="an adapter without a place to go trains nothing",
            fix=f"choose among its linear modules: {', '.join(short_names(model))}, or all-linear",
        )
    outside = _outside(model, matched, events) if "exclude_modules" not in section else None
    return LoraConfig(**section, **({"exclude_modules": outside} if outside else {}))


def keep_dtype(model: Any) -> None:
    """Let a resume load the adapter in the dtype it trains in.

    TRL trains QLoRA adapters in bf16; PEFT's load_adapter, which the engine resumes with, would turn them into float32
    (trl 1.16, peft 0.21), and the resumed run would be another one.
    """
    if hasattr(model, "load_adapter"):
        model.load_adapter = functools.partial(model.load_adapter, autocast_adapter_dtype=False)


def linear_names(model: Any) -> list[str]:
    """Dotted names of every linear layer, the quantised ones included."""
    import torch

    return [name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear) or _is_conv1d(module)]


def short_names(model: Any) -> list[str]:
    """Last parts of the linear layers' names, each once."""
    return sorted({name.rpartition(".")[2] for name in linear_names(model)})


def _is_conv1d(module: Any) -> bool:
    return bool(type(module).__name__ == "Conv1D")


def _matches(name: str, targets: str | list[str] | None) -> bool:
    """PEFT's rule: a list names endings, a string is a regular expression, `all-linear` is everything."""
    if targets is None or targets == "all-linear":
        return True
    if isinstance(targets, str):
        return re.fullmatch(targets, name) is not None
    return any(name == target or name.endswith(f".{target}") for target in targets)


def _outside(model: Any, matched: list[str], events: EventWriter) -> str | None:
    """A pattern for everything beside the language model, when an adapter would land there.

    Text reaches no vision or audio tower: adapters there stay zero, and DDP fails on parameters without a gradient.
    """
    if model.config.get_text_config() is model.config:
        return None
    decoder = model.get_decoder()
    inside = next((name for name, module in model.named_modules() if module is decoder), "")
    beside = [name for name in matched if not name.startswith(f"{inside}.")]
    if not inside or not beside:
        return None
    message = f"{len(beside)} of {len(matched)} target modules are outside {inside} and get no adapter: rows are text"
    events.emit("warning", code="lora.towers", message=message)
    return rf"(?!{re.escape(inside)}\.).*"
