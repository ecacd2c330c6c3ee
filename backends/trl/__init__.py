"""TRL: supervised fine-tuning, preference optimisation and GRPO with LoRA, QLoRA or full weights."""
