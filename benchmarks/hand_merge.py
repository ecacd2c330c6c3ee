"""A merge as one writes it by hand with PEFT, and the model to do it on, for benchmarks.merge.

    hand_merge.py make FOLDER LAYERS          a random model FOLDER/base, and an adapter FOLDER/adapter that fits it
    hand_merge.py peft BASE ADAPTER OUTPUT    merge_and_unload and save_pretrained

Runs in the environment of the hf backend. `peft` prints the seconds that it took after its imports.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

TOKENIZER = Path(__file__).resolve().parent.parent / "recipes" / "quickstart" / "model"
SHARD = "500MB"


def make(folder: Path, layers: int) -> None:
    """Qwen3-0.6B's shapes, with weights and an adapter of random numbers."""
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=layers, num_attention_heads=16,
        num_key_value_heads=8, head_dim=128, tie_word_embeddings=True, dtype="bfloat16",
    )  # fmt: skip
    base, adapter = folder / "base", folder / "adapter"
    model = Qwen3ForCausalLM(config).to(torch.bfloat16)
    model.save_pretrained(base, max_shard_size=SHARD)
    lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM", init_lora_weights=False)
    model.name_or_path = str(base)
    get_peft_model(model, lora).save_pretrained(adapter)
    for file in (*TOKENIZER.glob("*token*"), *TOKENIZER.glob("*.jinja")):
        shutil.copy(file, base)


def peft(base: Path, adapter: Path, output: Path) -> None:
    """What PEFT's documentation shows, the tokenizer included."""
    model = AutoModelForCausalLM.from_pretrained(base, dtype="auto")
    merged = PeftModel.from_pretrained(model, adapter).merge_and_unload()
    merged.save_pretrained(output, max_shard_size=SHARD)
    AutoTokenizer.from_pretrained(base).save_pretrained(output)


if __name__ == "__main__":
    began = time.perf_counter()
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        peft(*map(Path, sys.argv[2:]))
    print(time.perf_counter() - began)
