"""Two steps of GRPO with TRL alone, with the reward of reward.py: trl_grpo.py MODEL ROWS"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from datasets import load_dataset
from peft import LoraConfig
from trl import GRPOConfig, GRPOTrainer


def main() -> None:
    """The steps of TRL's documentation."""
    model, rows = sys.argv[1:]
    sys.path.insert(0, str(Path.cwd()))
    reward = importlib.import_module("reward")

    settings = GRPOConfig(
        output_dir="bare", max_steps=2, per_device_train_batch_size=8, num_generations=4, max_completion_length=6,
        use_cpu=True, report_to=[], learning_rate=1e-3, bf16=False,
    )  # fmt: skip
    data = load_dataset("json", data_files=rows, split="train", cache_dir="bare-cache")
    GRPOTrainer(model, reward.score, args=settings, train_dataset=data, peft_config=LoraConfig()).train()


if __name__ == "__main__":
    main()
