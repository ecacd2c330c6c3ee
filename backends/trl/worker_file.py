"""The native file as the worker reads it: one mapping a section, checked for presence, not for meaning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from orchestrator.harness import WorkError

Section = dict[str, Any]


@dataclass(frozen=True)
class Arguments:
    """Every section of a native file.

    Attributes:
        trainer: SFTTrainer, DPOTrainer or GRPOTrainer.
        config: keyword arguments of the trainer's config.
        model: keyword arguments of from_pretrained, and `path`.
        peft: keyword arguments of LoraConfig; None trains every weight.
        quantization: keyword arguments of BitsAndBytesConfig, or None.
        data: files and how rows become tokens.
        rewards: reward functions, `file.py:function` or `module:function`.
        task: `name` and `options` of a task, or None.
        held_out: items to answer at every checkpoint, metric and bounds; None where there are none.
        output: `kind` and `folder` of the artifact.
    """

    trainer: str
    config: Section
    model: Section
    data: Section
    output: Section
    peft: Section | None = None
    quantization: Section | None = None
    rewards: tuple[str, ...] = ()
    task: Section | None = None
    held_out: Section | None = None

    @property
    def sharded(self) -> bool:
        """Whether parameters are spread over the ranks."""
        return bool(self.config.get("fsdp"))


def read(path: Path) -> Arguments:
    """Read a native file.

    Raises:
        WorkError: it is missing, no YAML, or lacks a section.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Arguments(**{**content, "rewards": tuple(content.get("rewards") or ())})
    except (OSError, UnicodeError, yaml.YAMLError, TypeError, AttributeError) as error:
        raise WorkError(
            "native.unreadable", f"{path}: {error}", fix="write the native files again: post-train plan"
        ) from error
