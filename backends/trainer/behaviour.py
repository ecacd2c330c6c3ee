"""What a configuration says of a model's arithmetic, and where its answers end.

Short conversations don't show all of it: a lost scaling of positions is felt only in long ones.
"""

from __future__ import annotations

import json
from typing import Any

_LONGEST = 200
_NOISE = {
    *("architectures", "auto_map", "dtype", "torch_dtype", "transformers_version", "quantization_config", "use_cache"),
    *("pad_token_id", "bos_token_id", "eos_token_id", "id2label", "label2id", "problem_type", "return_dict"),
    *("output_attentions", "output_hidden_states", "output_router_logits", "gradient_checkpointing", "is_decoder"),
    *("attention_dropout", "chunk_size_feed_forward", "initializer_range", "name_or_path", "tokenizer_class"),
}
"""Keys that trainers and versions of transformers set as they like, and that change no answer."""

Values = dict[str, Any]


def of(config: Any) -> Values:
    """Dotted key -> value, for everything that may change an answer; long lists are left out."""
    return dict(sorted(_flat(config.to_dict(), "").items()))


def difference(expected: Values, found: Values) -> str | None:
    """Keys that both sides have with another value; None without any. Versions of transformers add and drop some."""
    other = [key for key in expected if key in found and expected[key] != found[key]]
    shown = [f"{key} was {expected[key]!r} and is {found[key]!r}" for key in other[:4]]
    return "; ".join(shown) or None


def stops(model: Any) -> list[int]:
    """Tokens at which generation ends by the model's own settings."""
    found = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return sorted(set(found)) if isinstance(found, list) else [] if found is None else [int(found)]


def _flat(tree: dict[str, Any], prefix: str) -> Values:
    found: Values = {}
    for key, value in tree.items():
        if key in _NOISE or str(key).startswith("_") or value is None:
            continue
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{key}.")
        elif isinstance(value, bool | int | float | str | list | tuple) and len(json.dumps(value)) <= _LONGEST:
            found[f"{prefix}{key}"] = list(value) if isinstance(value, tuple) else value
    return found
