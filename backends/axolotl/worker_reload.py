"""Reads the base and the artifact back as a next stage would, in the arithmetic of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.axolotl.worker_probe import Probe
from orchestrator.harness import WorkError


class Reload:
    """Loads with transformers and PEFT alone."""

    def __init__(self, cfg: Any, probe: Probe) -> None:
        self._cfg, self._probe = cfg, probe

    def base(self) -> Any:
        """The model that training began with, quantised again where the run had it so."""
        cfg = self._cfg
        revision = {"revision": cfg.revision_of_model} if cfg.revision_of_model else {}
        quantization = self._probe.quantization
        more = {"quantization_config": quantization} if quantization is not None else {}
        return self._load(cfg.base_model, dtype=cfg.torch_dtype, **revision, **more)[0]

    def model(self, folder: Path) -> Any:
        """A whole saved model, in the dtype that it says it has: bf16 training keeps embeddings and norms in float32.

        Raises:
            WorkError: tensors are missing, or belong to nothing.
        """
        model, info = self._load(str(folder), dtype="auto")
        strays = sorted([*info["missing_keys"], *info["unexpected_keys"], *map(str, info["mismatched_keys"])])
        if strays:
            raise WorkError(
                "artifact.wrong",
                f"{folder}: {len(strays)} tensors are missing or fit nothing, e.g. {strays[0]}",
                why="the next stage would load something else than was trained",
                fix="report this with the run's native file",
            )
        return model

    def attach(self, base: Any, folder: Path) -> Any:
        """The adapter on its base."""
        from peft import PeftModel

        kept = self._cfg.peft_autocast_adapter_dtype
        return PeftModel.from_pretrained(base, folder, **({} if kept is None else {"autocast_adapter_dtype": kept}))

    def tied(self, folder: Path) -> bool:
        """Whether a saved model's output head is its embedding table."""
        from transformers import AutoConfig

        config = AutoConfig.from_pretrained(folder, trust_remote_code=bool(self._cfg.trust_remote_code))
        return bool(config.get_text_config().tie_word_embeddings)

    def _load(self, path: str, **more: Any) -> tuple[Any, dict[str, Any]]:
        import transformers

        kind = getattr(transformers, self._probe.kind, transformers.AutoModelForCausalLM)
        device = self._device()
        flash = device == "cpu" and "flash" in self._probe.attention
        model, info = kind.from_pretrained(
            path,
            attn_implementation="sdpa" if flash else self._probe.attention,
            device_map={"": device},
            trust_remote_code=bool(self._cfg.trust_remote_code),
            output_loading_info=True,
            **more,
        )
        return model, info

    def _device(self) -> str:
        """A model that lay in parts on several devices may be too large for one of them."""
        import torch

        found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        return "cpu" if found is None or self._probe.sharded else str(found)
