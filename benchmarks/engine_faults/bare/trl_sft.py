"""Three steps of SFT with TRL alone: trl_sft.py MODEL ROWS"""

from __future__ import annotations

import sys

from datasets import load_dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Loss on the assistant's turns, as TRL's documentation shows it."""
    model, rows = sys.argv[1:]
    settings = SFTConfig(
        output_dir="bare", max_steps=3, per_device_train_batch_size=8, max_length=64, assistant_only_loss=True,
        use_cpu=True, report_to=[], learning_rate=1e-3, bf16=False,
    )  # fmt: skip
    data = load_dataset("json", data_files=rows, split="train", cache_dir="bare-cache")
    trainer = SFTTrainer(model, settings, train_dataset=data, peft_config=LoraConfig(target_modules="all-linear"))
    trainer.train()
    trainer.save_model("bare/final")


if __name__ == "__main__":
    main()
