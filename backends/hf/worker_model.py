"""Loads a model whole or not at all, and puts an adapter on it with every tensor accounted for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

from backends.hf.worker_adapter import RETRAIN, Adapter
from backends.hf.worker_stored import catalogue
from backends.trainer import absent
from orchestrator.harness import WorkError


@dataclass(frozen=True)
class Place:
    """Where a model is held and as what: a torch dtype, or "auto" for the stored one."""

    device: torch.device
    dtype: Any


def device() -> torch.device:
    """The first GPU, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def dtype_of(name: str, where: torch.device) -> Any:
    """What a setting means: `auto` is the stored dtype, and float32 on a CPU, which is slow in less."""
    if name != "auto":
        return getattr(torch, name)
    return torch.float32 if where.type == "cpu" else "auto"


def roomy(folder: Path) -> Place:
    """Where a model fits in float32, so that a comparison measures weights, not arithmetic; else its stored dtype."""
    needed = 1.2 * 4 * sum(tensor.count for tensor in catalogue(folder).values())
    if torch.cuda.is_available() and torch.cuda.mem_get_info()[0] > needed:
        return Place(torch.device("cuda"), torch.float32)
    if psutil.virtual_memory().available > needed:
        return Place(torch.device("cpu"), torch.float32)
    return Place(device(), "auto")


def config_of(folder: Path, trust: bool) -> Any:
    """The model's configuration object."""
    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=trust, local_files_only=True)
    except (ValueError, KeyError, OSError) as error:
        first = str(error).strip().splitlines()[0]
        fix = "use a newer backend environment, or set model.trust_remote_code: true if you trust the model's own code"
        raise WorkError("model.config", f"{folder} can't be read as a model: {first}", fix=fix) from error


def auto_class(config: Any) -> Any:
    """The auto class that builds what was trained: text generation, or a multimodal model where only that exists.

    A family may be in both tables (the text one then drops the vision tower): the architecture that the config
    declares decides.
    """
    text = MODEL_FOR_CAUSAL_LM_MAPPING.get(type(config), None)
    multimodal = MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING.get(type(config), None)
    declared = (config.architectures or [""])[0]
    if multimodal is not None and (text is None or multimodal.__name__ == declared):
        return AutoModelForImageTextToText
    return AutoModelForCausalLM


def skeleton(config: Any, trust: bool) -> Any:
    """The model without weights: its modules, their kinds and names."""
    with torch.device("meta"):
        return auto_class(config).from_config(config, trust_remote_code=trust)


def load(folder: Path, *, trust: bool, dtype: Any, where: torch.device, attention: str = "auto") -> PreTrainedModel:
    """Load in eval mode.

    Args:
        dtype: a torch dtype, or "auto" for the stored one.

    Raises:
        WorkError: a shard is damaged, or weights are missing and would be random.
    """
    config = config_of(folder, trust)
    extra = {} if attention == "auto" else {"attn_implementation": attention}
    try:
        model, info = auto_class(config).from_pretrained(
            folder, config=config, dtype=dtype, trust_remote_code=trust, use_safetensors=True, local_files_only=True,
            output_loading_info=True, **extra,
        )  # fmt: skip
    except torch.OutOfMemoryError:
        raise
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        first = " ".join(str(error).split())[:400]
        raise WorkError(
            "model.load", f"{folder} can't be loaded: {first}", fix="copy or download the model again"
        ) from error
    absent.refuse(folder, info)
    return model.to(where).eval()


def attach(model: PreTrainedModel, adapter: Adapter) -> Any:
    """Put an adapter on a model.

    Raises:
        WorkError: targets that the model lacks, adapter tensors not consumed, or adapter weights not given.
    """
    from peft import LoraConfig, PeftModel  # an environment that only takes up whole models may lack it

    check_modules(adapter, {name for name, _ in model.named_modules()})
    _resize(model, adapter)
    config = LoraConfig.from_pretrained(adapter.folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrapped = PeftModel(model, config)
            outcome = wrapped.load_adapter(adapter.folder, "default", torch_device=str(model.device))
    except (ValueError, RuntimeError, KeyError) as error:
        first = " ".join(str(error).split())[:400]
        raise WorkError(
            "adapter.fit", f"{adapter.folder} doesn't fit this base: {first}", fix="give the base it was trained on"
        ) from error
    if outcome.unexpected_keys:
        raise _unconsumed(outcome.unexpected_keys)
    if outcome.missing_keys:
        lost = outcome.missing_keys
        text = f"{len(lost)} adapted modules have no weights in {adapter.folder}, e.g. {lost[0]}"
        raise WorkError("adapter.incomplete", text, fix=RETRAIN)
    return wrapped.eval()


def check_modules(adapter: Adapter, modules: set[str]) -> None:
    """Every adapted module exists in the base.

    Raises:
        WorkError: none does (`adapter.no_match`), or some don't (`adapter.unconsumed`).
    """
    if adapter.config.get("target_parameters"):
        return
    strangers = [module for module in adapter.pairs if module not in modules]
    if strangers and len(strangers) == len(adapter.pairs):
        tail = strangers[0].rpartition(".")[2]
        like = next((m for m in sorted(modules) if m.endswith(f".{tail}")), "nothing of that name")
        text = f"no adapter tensor matches this base: the adapter has {strangers[0]}, the base has {like}"
        raise WorkError("adapter.no_match", text, fix="give the base it was trained on")
    if strangers:
        raise _unconsumed(strangers)


def check_vocabulary(tokenizer: Any, rows: int, folder: Path) -> None:
    """Every token has a row in the embedding table.

    Raises:
        WorkError: an id is outside the table.
    """
    highest = max(tokenizer.get_vocab().values())
    if highest >= rows:
        text = f"the tokenizer in {folder} has token ids up to {highest}, the embedding table {rows} rows"
        fix = "save the resized embeddings with the adapter (lora.modules_to_save: [embed_tokens, lm_head])"
        raise WorkError("model.vocabulary", f"{text}: tokens were added and their embeddings not saved", fix=fix)


def _resize(model: PreTrainedModel, adapter: Adapter) -> None:
    """Make room for embeddings that were resized for new tokens and saved with the adapter."""
    rows = {
        t.shape[0]
        for n, t in adapter.tensors.items()
        if n.endswith(("embed_tokens.weight", "lm_head.weight")) and ".lora_" not in n
    }
    if len(rows) == 1 and rows != {model.get_input_embeddings().weight.shape[0]}:
        model.resize_token_embeddings(rows.pop(), mean_resizing=False)


def _unconsumed(names: list[str]) -> WorkError:
    text = f"{len(names)} adapter tensors or modules match nothing in the base, e.g. {', '.join(names[:3])}"
    return WorkError(
        "adapter.unconsumed", f"{text}: part of what was trained would be lost", fix="give the base it was trained on"
    )
