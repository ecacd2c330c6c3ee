"""A Muse Glimmer of random weights, in the sizes of TorchTitan's `debugmodel`; run by an engine's Python.

python make_glimmer.py CHAT_TEMPLATE OUTPUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import MuseGlimmerConfig, MuseGlimmerForConditionalGeneration, PreTrainedTokenizerFast

SPECIAL = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|finetune_right_pad|>",
    *("<|start|>", "<|message|>", "<|eom|>", "<|eot|>", "<|patch|>", "<|video|>"),
]
CORPUS = [
    'system Be brief.\n\nReasoning strength: high.\n\n# Valid recipients: "self", "user".',
    "user Name one of them. assistant to=user to=self",
    *(f"number {n} and {n + 1}" for n in range(20)),
]


def main(template: Path, output: Path) -> None:
    """Write the folder."""
    tokenizer = tokens(template.read_text(encoding="utf-8"))
    tokenizer.save_pretrained(output)
    torch.manual_seed(0)
    model = MuseGlimmerForConditionalGeneration(config(tokenizer))
    model.save_pretrained(output)
    ends = tokenizer.convert_tokens_to_ids(["<|eot|>", "<|end_of_text|>"])
    (output / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}), encoding="utf-8")


def tokens(template: str) -> PreTrainedTokenizerFast:
    """Bytes, and a few words of the format."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        CORPUS * 20, trainers.BpeTrainer(vocab_size=600, special_tokens=SPECIAL, initial_alphabet=alphabet)
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token=SPECIAL[0], eos_token=SPECIAL[1], pad_token=SPECIAL[2]
    )
    made.add_special_tokens({"additional_special_tokens": SPECIAL[3:]})
    made.chat_template = template
    return made


def config(tokenizer: PreTrainedTokenizerFast) -> MuseGlimmerConfig:
    """Sizes of `debugmodel`; the vision tower as small as it gets."""
    from torchtitan.models import muse_glimmer as titan

    text = {
        "vocab_size": 2048,
        "hidden_size": 256,
        "intermediate_size": int(titan._FFN_DIM_MULTIPLIER * 256),
        "num_hidden_layers": 8,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "max_position_embeddings": 4096,
        "sliding_window": 128,
        "output_multiplier": 1.0,
        "qk_scale_factor": titan._SCALE_QUERY_NUMERATOR / 8.0,
        "rope_parameters": {"rope_type": "default", "rope_theta": titan._ROPE_THETA},
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    vision = {
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "hidden_size": 32,
        "intermediate_size": 64,
        "pos_emb_height": 2,
        "pos_emb_width": 2,
        "max_position_embeddings": 4,
    }
    images = {
        "image_token_id": tokenizer.convert_tokens_to_ids("<|patch|>"),
        "video_token_id": tokenizer.convert_tokens_to_ids("<|video|>"),
    }
    return MuseGlimmerConfig(
        text_config=text, vision_config=vision, out_hidden_size=128, projector_hidden_size=32, **images
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
