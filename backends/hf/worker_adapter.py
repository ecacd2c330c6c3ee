"""Reads a PEFT LoRA adapter and refuses one that would load as something else than what was trained.

Loading such an adapter with PEFT alone warns at most; the model then answers like its base.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from backends.hf import folders
from orchestrator.harness import UNTRAINED_VARIABLE, WorkError

PREFIX = "base_model.model."
RETRAIN = "train the adapter again, or save it from the unwrapped model"
_WRAPPERS = ("_orig_mod.", "_checkpoint_wrapped_module.", "_fsdp_wrapped_module.", "_forward_module.", "module.module.")
_A, _B = ".lora_A.weight", ".lora_B.weight"
_MAGNITUDE = ".lora_magnitude_vector"
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "bias": ("none",),
    "init_lora_weights": (True, False, "gaussian"),
    "megatron_core": ("megatron.core",),
    "qalora_group_size": (16,),
}
_PLAIN = {
    *(
        "alpha_pattern",
        "auto_mapping",
        "base_model_name_or_path",
        "exclude_modules",
        "fan_in_fan_out",
        "inference_mode",
        "layers_pattern",
    ),
    *(
        "layers_to_transform",
        "lora_alpha",
        "lora_dropout",
        "modules_to_save",
        "peft_type",
        "peft_version",
        "r",
        "rank_pattern",
        "revision",
    ),
    *("runtime_config", "target_modules", "task_type", "use_dora", "use_rslora"),
}


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter as stored: its folder, its configuration, its tensors by name."""

    folder: Path
    config: dict[str, Any]
    tensors: dict[str, Tensor]

    @property
    def pairs(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Module name in the base model -> (A of shape (r, in), B of shape (out, r))."""
        names = [name.removesuffix(_A) for name in self.tensors if name.endswith(_A)]
        return {n.removeprefix(PREFIX): (self.tensors[n + _A], self.tensors[n + _B]) for n in names}

    @property
    def is_plain(self) -> bool:
        """Whether it is W + scale * B A, DoRA's magnitudes and whole tensors: no key of its config asks for more."""
        extra = [k for k, v in self.config.items() if k not in _PLAIN and v and v not in _NEUTRAL.get(k, ())]
        lengths = [self.magnitude(module) is not None for module in self.pairs]
        if bool(self.config.get("use_dora")) != any(lengths) or any(lengths) != all(lengths):
            return False
        return not extra and all(".lora_" not in n or n.endswith((_A, _B, _MAGNITUDE)) for n in self.tensors)

    @property
    def saved(self) -> dict[str, Tensor]:
        """Tensor name in the base model -> what modules_to_save holds in its place."""
        return {n.removeprefix(PREFIX): t for n, t in self.tensors.items() if ".lora_" not in n}

    def magnitude(self, module: str) -> Tensor | None:
        """DoRA's length of each row of a module's weight, shape (out,); None without DoRA."""
        return self.tensors.get(f"{PREFIX}{module}{_MAGNITUDE}")

    def rank(self, module: str) -> int:
        """The rank that the configuration gives a module."""
        return int(self._setting("rank_pattern", module, "r"))

    def scale(self, module: str) -> float:
        """alpha / r, or alpha / sqrt(r) with rsLoRA."""
        alpha = float(self._setting("alpha_pattern", module, "lora_alpha"))
        return alpha / (math.sqrt(self.rank(module)) if self.config.get("use_rslora") else self.rank(module))

    def _setting(self, patterns: str, module: str, usual: str) -> Any:
        from peft.utils.other import get_pattern_key  # an environment that only takes up whole models may lack it

        pattern = self.config.get(patterns) or {}
        return pattern.get(get_pattern_key(list(pattern), module), self.config[usual])


def read(folder: Path) -> Adapter:
    """Read and check an adapter folder.

    Raises:
        WorkError: with a code `adapter.*` that names the fault.
    """
    config = json.loads((folder / folders.ADAPTER_CONFIG).read_text(encoding="utf-8"))
    if config.get("peft_type") != "LORA":
        raise _fault(
            "peft_type", f"{folder} is a {config.get('peft_type')} adapter; LoRA is supported", "train with method lora"
        )
    try:
        tensors = load_file(folder / folders.ADAPTER_WEIGHTS)
    except SafetensorError as error:
        raise _fault(
            "truncated", f"{folder / folders.ADAPTER_WEIGHTS} is damaged: {error}", "copy the file again"
        ) from error
    adapter = Adapter(folder, config, tensors)
    for check in (_check_names, _check_shapes, _check_numbers, _check_saved_modules):
        check(adapter)
    return adapter


def _check_names(adapter: Adapter) -> None:
    lora = [name for name in adapter.tensors if ".lora_" in name]
    if not lora:
        raise _fault("empty", f"{adapter.folder} holds no LoRA tensor", RETRAIN)
    wrapped = [name for name in adapter.tensors if any(w in name for w in _WRAPPERS)]
    if wrapped:
        prefix = next(w for w in _WRAPPERS if w in wrapped[0])
        text = f"{len(wrapped)} of {len(adapter.tensors)} tensor names carry a training wrapper's {prefix!r}"
        why = "they match no module, so the adapter would load as a no-op"
        raise _fault("wrapper", f"{text}, e.g. {wrapped[0]}: {why}", RETRAIN)
    names = set(adapter.tensors)
    lone = [n for n in lora if n.endswith((_A, _B)) and not {n.replace(_A, _B), n.replace(_B, _A)} <= names]
    if lone:
        raise _fault("unpaired", f"{_some(lone)}: one half of the pair A, B is missing", RETRAIN)


def _check_shapes(adapter: Adapter) -> None:
    flat = [
        f"{n} {tuple(t.shape)}" for n, t in adapter.tensors.items() if _halves(n) and (t.dim() != 2 or not t.numel())
    ]
    if flat:
        text = f"{_some(flat)}: not two-dimensional or empty, as when a shard is saved without gathering it"
        raise _fault("shape", text, RETRAIN)
    experts = bool(adapter.config.get("target_parameters"))
    for module, (a, b) in adapter.pairs.items():
        rank = adapter.rank(module)
        if a.shape[0] != b.shape[1] or (a.shape[0] % rank if experts else a.shape[0] != rank):
            text = f"{module} has rank {a.shape[0]} (A) and {b.shape[1]} (B), but adapter_config.json says {rank}"
            raise _fault(
                "rank",
                f"{text}: the scale alpha / r would be wrong",
                "restore the adapter_config.json it was trained with",
            )


def _check_numbers(adapter: Adapter) -> None:
    bad = [name for name, tensor in adapter.tensors.items() if not tensor.isfinite().all()]
    if bad:
        raise _fault(
            "nonfinite",
            f"{_some(bad)}: NaN or infinity, the training diverged",
            "train again with a lower training.learning_rate",
        )
    updates = [t for n, t in adapter.tensors.items() if n.endswith(_B) or n.endswith(".lora_embedding_B")]
    if not any(tensor.any() for tensor in updates) and UNTRAINED_VARIABLE not in os.environ:
        text = f"every lora_B in {adapter.folder} is zero, so the adapter changes nothing: it was never trained"
        raise _fault("untrained", text, "check that the training run took steps and saved at its end")


def _check_saved_modules(adapter: Adapter) -> None:
    wanted = adapter.config.get("modules_to_save") or []
    lost = [m for m in wanted if not any(f".{m}." in n and ".lora_" not in n for n in adapter.tensors)]
    if lost:
        text = (
            f"modules_to_save names {', '.join(lost)}, but the adapter holds no such weights: what they learned is lost"
        )
        raise _fault("modules_to_save", text, RETRAIN)


def _halves(name: str) -> bool:
    return name.endswith((_A, _B))


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _fault(code: str, message: str, fix: str) -> WorkError:
    return WorkError(f"adapter.{code}", message, fix=fix)
