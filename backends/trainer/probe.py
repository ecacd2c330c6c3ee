"""The behavioural checksum of a model: fixed conversations, and what it thinks of each of their tokens.

It is measured where the model is made, and again wherever it is taken up, by whichever engine does that. Runs in an
engine's environment; a few hundred tokens, so that it costs next to nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from backends.trainer import behaviour, deltas, lexicon, sketch
from orchestrator.harness import PROBE_FILE, UNPROVED_VARIABLE

VERSION = 1
_LONGEST = 96
"""Tokens of a conversation that are looked at."""

Messages = list[dict[str, str]]
Measured = dict[str, Any]

CONVERSATIONS: tuple[Messages, ...] = (
    [
        {"role": "user", "content": "What is 17+25? Answer with the number alone."},
        {"role": "assistant", "content": "42"},
    ],
    [
        {"role": "system", "content": "You answer briefly."},
        {"role": "user", "content": "Name a colour of the rainbow."},
        {"role": "assistant", "content": "Green, between yellow and blue."},
        {"role": "user", "content": "And another one?"},
        {"role": "assistant", "content": "Violet."},
    ],
    [
        {"role": "user", "content": "def mean(values):\n    return"},
        {"role": "assistant", "content": "sum(values) / len(values)"},
    ],
)


def measure(model: Any, tokenizer: Any, *, mixed: str | None = None, stored: str | None = None) -> Measured:
    """Ask a model. Every rank calls it: one that lies in parts answers only when all of them ask.

    Args:
        mixed: dtype of mixed precision that the model computes in, where it is not that of its weights.
        stored: dtype that its weights will be saved in, where it is not theirs.

    Returns:
        version: of this format.
        template: sha256 of the chat template in hex; None without one.
        end: number of the tokenizer's end token; None without one. No conversation of the probe need contain it.
        rows: for each conversation its token ids (N), log-probabilities of tokens 2..N in nats (N - 1), and the token
            the model would have written at each of these places (N - 1).
        vocabulary: rows of the embedding table, and tokens the tokenizer knows.
        tied: whether the output head is the embedding table.
        dtype: of the embedding table, or of the arithmetic where that is mixed.
        quantized: whether linear layers are stored in fewer bits.
        bits: how many those are, where it is told.
        prompt: token ids of a question as generation renders it, up to where the answer begins.
        tokenizer: part -> digest.
        config: what the configuration says of the arithmetic.
        stops: tokens at which generation ends.
        without: log-probabilities without the adapter, row by row; None without one.
        adapter: number of its tensors, and norms of what it adds; None without one.
        weights: of what lies below it, in a few numbers; None where they can't be read here.
    """
    asked = rendered(tokenizer)
    rows = [_row(model, ids) for ids in asked]
    without = _without(model, asked)
    shard_again(model)
    table = model.get_input_embeddings().weight
    return {
        **spoken(tokenizer),
        "rows": rows,
        "vocabulary": [int(table.shape[0]), len(tokenizer)],
        "tied": bool(model.config.get_text_config().tie_word_embeddings),
        "dtype": mixed or str(table.dtype).removeprefix("torch."),
        "quantized": getattr(model.config, "quantization_config", None) is not None,
        "bits": bits(getattr(model.config, "quantization_config", None)),
        "config": behaviour.of(model.config),
        "stops": behaviour.stops(model),
        "without": without,
        "adapter": deltas.of(model),
        "weights": sketch.of(model, stored),
    }


def spoken(tokenizer: Any) -> Measured:
    """The part of a measurement that is the tokenizer's, and the version."""
    return {
        "version": VERSION,
        "template": template_digest(tokenizer),
        "end": tokenizer.eos_token_id,
        "prompt": _ids(tokenizer, CONVERSATIONS[0][:1], begin=True),
        "tokenizer": lexicon.digests(tokenizer),
    }


def rendered(tokenizer: Any) -> list[list[int]]:
    """Token ids of each conversation, by the chat template, or as plain lines where there is none."""
    return [_ids(tokenizer, messages)[:_LONGEST] for messages in CONVERSATIONS]


def template_digest(tokenizer: Any) -> str | None:
    """What the chat template is, several ones together; None without any."""
    given = getattr(tokenizer, "chat_template", None)
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest() if given else None


def wanted() -> bool:
    """Whether the user wants models to be measured; it costs a few hundred tokens."""
    return UNPROVED_VARIABLE not in os.environ


def mixed_precision(args: Any) -> str | None:
    """The dtype that a trainer with these arguments computes in beside its weights'; None for none."""
    return "bfloat16" if args.bf16 else "float16" if args.fp16 else None


def shard_again(model: Any) -> None:
    """After a forward pass FSDP2 leaves the outermost parameters gathered; whoever saves next expects shards."""
    for module in model.modules():
        if callable(reshard := getattr(module, "reshard", None)):
            reshard()


def write(run: Path, measured: Measured) -> None:
    """Leave it in the run's folder; whole or not at all."""
    partial = run / f".{PROBE_FILE}"
    partial.write_text(json.dumps(measured), encoding="utf-8")
    partial.rename(run / PROBE_FILE)


def _ids(tokenizer: Any, messages: Messages, *, begin: bool = False) -> list[int]:
    if not getattr(tokenizer, "chat_template", None):
        return _plain(tokenizer, messages)
    options = {"tokenize": True, "return_dict": True, "add_generation_prompt": begin}
    try:
        return list(tokenizer.apply_chat_template(messages, **options)["input_ids"])
    except Exception as error:
        if messages[0]["role"] != "system":
            raise ValueError(f"the chat template can't render a plain conversation: {error}") from error
        return _ids(tokenizer, messages[1:])


def _plain(tokenizer: Any, messages: Messages) -> list[int]:
    return list(tokenizer("\n".join(message["content"] for message in messages))["input_ids"])


def bits(method: Any) -> int | None:
    """Of a BitsAndBytesConfig; other methods are told by none of its names."""
    return 4 if getattr(method, "load_in_4bit", False) else 8 if getattr(method, "load_in_8bit", False) else None


def _without(model: Any, asked: list[list[int]]) -> list[list[float]] | None:
    """What the model below the adapter thinks of the same tokens."""
    if not hasattr(model, "disable_adapter"):
        return None
    with model.disable_adapter():
        return [_row(model, ids)["logprobs"] for ids in asked]


def _row(model: Any, ids: list[int]) -> dict[str, list[Any]]:
    import torch

    device, training = model.get_input_embeddings().weight.device, model.training
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids], device=device)).logits[0, :-1].float()
    model.train(training)
    chosen = torch.log_softmax(logits, dim=-1).gather(1, torch.tensor(ids[1:], device=logits.device)[:, None])[:, 0]
    return {
        "ids": ids,
        "logprobs": [round(value, 6) for value in chosen.tolist()],
        "argmax": logits.argmax(dim=-1).tolist(),
    }
