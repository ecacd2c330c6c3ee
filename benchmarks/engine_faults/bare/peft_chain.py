"""One step of LoRA, save, load, merge, save, with PEFT alone: peft_chain.py MODEL OUTPUT [TARGET] [WHOLE_MODULE]"""

from __future__ import annotations

import sys

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer


def main() -> None:
    """The steps of PEFT's own quick tour."""
    model, output, *more = sys.argv[1:]
    target, whole = (more[0] if more else "all-linear"), more[1:]
    tokenizer = AutoTokenizer.from_pretrained(model)
    targets = target if target == "all-linear" else [target]
    config = LoraConfig(r=8, lora_alpha=16, target_modules=targets, modules_to_save=whole or None)
    trained = get_peft_model(AutoModelForCausalLM.from_pretrained(model), config)
    optimizer = torch.optim.AdamW(trained.parameters(), lr=1e-3)
    ids = tokenizer("What is 2+3", return_tensors="pt").input_ids
    for _ in range(3):
        trained(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    trained.save_pretrained(f"{output}-adapter")
    again = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(model), f"{output}-adapter")
    again.merge_and_unload().save_pretrained(output)


if __name__ == "__main__":
    main()
