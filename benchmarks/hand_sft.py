"""What one would write by hand with TRL, with the settings of a native file: hand_sft.py NATIVE OUTPUT.

Runs in the environment of the trl backend. The loss is on the assistant's tokens, which TRL finds by the template's
own marks.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml
from datasets import load_dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer


def main(native: Path, output: Path) -> None:
    """Train and save an adapter."""
    wanted = yaml.safe_load(native.read_text(encoding="utf-8"))
    config = {**wanted["config"], "output_dir": str(output / "checkpoints"), "assistant_only_loss": True}
    path = wanted["model"].pop("path")
    trainer = SFTTrainer(
        model=path,
        args=SFTConfig(**config, model_init_kwargs=wanted["model"]),
        train_dataset=load_dataset("json", data_files=wanted["data"]["train"], split="train", cache_dir=str(output)),
        peft_config=LoraConfig(**wanted["peft"]),
    )
    trainer.train()
    trainer.save_model(str(output / "adapter"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
