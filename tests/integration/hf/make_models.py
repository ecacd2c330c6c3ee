"""Makes tiny random models and adapters for the hf tests; runs in the engine's environment: make_models.py FOLDER.

The weights are random, so the adapters carry random updates large enough to be seen in the logits.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer() -> Any:
    """Bytes and three special tokens; its end token is not the one in the models' generation settings."""
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE(vocab={t: n for n, t in enumerate(special + alphabet)}, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    made.chat_template = TEMPLATE
    return made


def qwen(
    folder: Path, *, tied: bool = False, dtype: Any = torch.float32, shard: str = "5GB", seed: int = 0, wide: int = 64
) -> Path:
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=259, hidden_size=32, intermediate_size=wide, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, tie_word_embeddings=tied, initializer_range=0.2,
    )  # fmt: skip
    return save(Qwen3ForCausalLM(config).to(dtype), folder, shard)


def gpt2(folder: Path) -> Path:
    """Its linear layers are Conv1D, stored transposed; one of them is square."""
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=259, n_embd=32, n_layer=1, n_head=2, n_positions=128, initializer_range=0.2)
    return save(GPT2LMHeadModel(config), folder, "5GB")


def mixture(folder: Path) -> Path:
    """Its experts' weights are two tensors of a layer in memory, and a matrix of each expert on the disk."""
    torch.manual_seed(0)
    config = Qwen3MoeConfig(
        vocab_size=259, hidden_size=32, intermediate_size=64, moe_intermediate_size=16, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8, num_experts=4, num_experts_per_tok=2,
        initializer_range=0.2,
    )  # fmt: skip
    return save(Qwen3MoeForCausalLM(config), folder, "5GB")


def save(model: Any, folder: Path, shard: str) -> Path:
    model.generation_config.eos_token_id = 0
    model.save_pretrained(folder, max_shard_size=shard)
    tokenizer().save_pretrained(folder)
    return folder


def adapt(base: Path, folder: Path, cls: Any = Qwen3ForCausalLM, **settings: Any) -> None:
    torch.manual_seed(1)
    options = {"r": 4, "lora_alpha": 8, "target_modules": "all-linear", "task_type": "CAUSAL_LM", **settings}
    model = get_peft_model(cls.from_pretrained(base), LoraConfig(**options))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.1 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)


def main(root: Path) -> None:
    torch.set_num_threads(1)
    plain = qwen(root / "plain")
    qwen(root / "sibling", seed=7)
    adapt(plain, root / "plain-lora")
    adapt(plain, root / "plain-rslora", use_rslora=True)
    adapt(plain, root / "plain-pattern", rank_pattern={"q_proj": 2}, alpha_pattern={"v_proj": 32})
    adapt(plain, root / "plain-dora", use_dora=True)
    adapt(plain, root / "plain-saved", target_modules=["q_proj"], modules_to_save=["lm_head"])
    tied = qwen(root / "tied", tied=True)
    adapt(tied, root / "tied-lora")
    adapt(tied, root / "tied-embed", target_modules=["q_proj", "embed_tokens"])
    adapt(tied, root / "tied-saved", target_modules=["q_proj"], modules_to_save=["lm_head"])
    adapt(qwen(root / "sharded", dtype=torch.bfloat16, shard="20KB"), root / "sharded-lora")
    adapt(qwen(root / "wide", wide=4100), root / "wide-dora", use_dora=True)  # matrices of several pieces
    experts = ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]
    adapt(
        mixture(root / "moe"), root / "moe-experts", Qwen3MoeForCausalLM,
        target_modules=["q_proj"], target_parameters=experts,
    )  # fmt: skip
    conv = gpt2(root / "conv")
    adapt(conv, root / "conv-lora", GPT2LMHeadModel, target_modules=["c_attn", "c_proj"])
    adapt(conv, root / "conv-dora", GPT2LMHeadModel, target_modules=["c_attn", "c_proj"], use_dora=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
