"""Train the quickstart's base model from scratch: it can add, and answers in a sentence where a number is wanted.

    OMP_NUM_THREADS=1 python pretrain.py ../model        (torch, transformers, tokenizers; minutes on one CPU core)

Asked "What is 48+68" it says "it is 116", which an exact comparison with "116" counts as wrong. What fine-tuning has to
teach is the form, and to get the sum right in that form. The same machine and versions give the same weights again.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from pathlib import Path

import torch
from corpus import END, START, Line, batches
from sums import sums
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

PAD, CONTEXT = "<|endoftext|>", 512
TEMPLATE = """\
{%- for message in messages %}
    {{- '<|im_start|>' + message['role'] + '\\n' }}
    {%- if message['role'] == 'assistant' %}
        {%- generation %}{{- message['content'] + '<|im_end|>' }}{%- endgeneration %}
    {%- else %}
        {{- message['content'] + '<|im_end|>' }}
    {%- endif %}
    {{- '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}"""
"""ChatML; the `generation` marks tell a trainer which tokens are the assistant's own, the end of turn among them."""

CONTEXT_WEIGHT = 0.05
"""Weight of a line's first part in the loss: enough to know the text, too little to crowd out the answers."""


def main() -> None:
    """Train, measure, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="folder to make")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=64, help="lines per step")
    parser.add_argument("--rate", type=float, default=5e-3, help="peak learning rate")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.output.exists():
        sys.exit(f"{given.output} exists: name a folder that doesn't, or remove it first")
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    words = tokenizer(given.seed)
    made = model(words)
    print(f"{made.num_parameters():,} parameters, {len(words)} tokens", flush=True)
    train(made, words, given)
    print(f"held-out sums right as plain text: {accuracy(made, words):.1%}")
    made.save_pretrained(given.output)
    words.save_pretrained(given.output)


def tokenizer(seed: int) -> PreTrainedTokenizerFast:
    """Byte-level BPE of 320 tokens in which every digit stands alone."""
    bpe = Tokenizer(models.BPE())
    digits, bytewise = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.pre_tokenizer = pre_tokenizers.Sequence([digits, bytewise])
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=[PAD, START, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    sample = itertools.chain.from_iterable(itertools.islice(batches(100, seed), 20))
    bpe.train_from_iterator(("What is " + "".join(line) for line in sample), trainer)
    words = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token=END, pad_token=PAD, padding_side="left", model_max_length=CONTEXT
    )
    words.chat_template = TEMPLATE
    return words


def model(words: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """An untrained Qwen3, three layers of width 64, with shared input and output embeddings."""
    ends = {"bos_token_id": None, "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    config = Qwen3Config(
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        initializer_range=0.08,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        **ends,
    )
    made = Qwen3ForCausalLM(config)
    made.generation_config.update(**ends)
    return made


def train(made: Qwen3ForCausalLM, words: PreTrainedTokenizerFast, given: argparse.Namespace) -> None:
    """Predict the next token, AdamW, warm-up and cosine."""
    optimizer = torch.optim.AdamW(made.parameters(), lr=given.rate, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: share_of_peak(step, given.steps))
    began = said = time.monotonic()
    for step, batch in enumerate(itertools.islice(batches(given.batch, given.seed), given.steps), 1):
        loss = loss_on(made, words, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(made.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if time.monotonic() - said > 5 or step == given.steps:
            said = time.monotonic()
            print(f"step {step}/{given.steps}  loss {loss.item():.3f}  {said - began:.0f} s", flush=True)


def share_of_peak(step: int, steps: int) -> float:
    """Up over 50 steps, then down to a tenth."""
    return min(1.0, (step + 1) / 50) * (0.55 + 0.45 * math.cos(math.pi * step / steps))


def loss_on(made: Qwen3ForCausalLM, words: PreTrainedTokenizerFast, batch: list[Line]) -> torch.Tensor:
    """Mean loss of a token, answers weighing 1."""
    first, second = (words(list(part), add_special_tokens=False)["input_ids"] for part in zip(*batch, strict=True))
    width = max(len(a) + len(b) for a, b in zip(first, second, strict=True))
    ids = torch.full((len(batch), width), words.pad_token_id)
    weights = torch.zeros(len(batch), width)
    for row, (a, b) in enumerate(zip(first, second, strict=True)):
        ids[row, : len(a) + len(b)] = torch.tensor(a + b)
        weights[row, : len(a) + len(b)] = torch.tensor([CONTEXT_WEIGHT] * len(a) + [1.0] * len(b))
    logits = made(input_ids=ids).logits[:, :-1]  # padding is on the right, where no earlier token looks
    losses = cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
    return (losses * weights[:, 1:]).sum() / weights[:, 1:].sum()


@torch.inference_mode()
def accuracy(made: Qwen3ForCausalLM, words: PreTrainedTokenizerFast) -> float:
    """Share of the held-out sums that the model completes correctly as plain text."""
    made.eval()
    wanted = sums(held_out=True)
    asked = words([f"{one.left}+{one.right}=" for one in wanted], return_tensors="pt", padding=True)
    told = made.generate(asked["input_ids"], attention_mask=asked["attention_mask"], max_new_tokens=4, do_sample=False)
    texts = words.batch_decode(told[:, asked["input_ids"].shape[1] :], skip_special_tokens=True)
    return sum(text == one.answer for text, one in zip(texts, wanted, strict=True)) / len(wanted)


if __name__ == "__main__":
    main()
