"""Masks rows with several chat templates, in the engine's environment; prints what gets loss: mask_cases.py MODEL."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from typing import Any

from transformers import AutoTokenizer

from backends.trl.worker_mask import Masker
from backends.trl.worker_mask_check import Census
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError

TURNS = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "first"},
    {"role": "user", "content": "two"},
    {"role": "assistant", "content": "second"},
]
HEAD = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}"
TAIL = "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
BODY = "{{ message['content'] + '<|im_end|>\\n' }}"
TEMPLATES = {
    "plain": HEAD + BODY + TAIL,
    "markers_without_end": HEAD
    + "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] }}{% endgeneration %}"
    + "{{ '<|im_end|>\\n' }}{% else %}"
    + BODY
    + "{% endif %}"
    + TAIL,
    "markers_on_everybody": HEAD
    + "{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}{{ '\\n' }}"
    + TAIL,
    "rewrites": HEAD + "{% if loop.last %}{{ 'last: ' }}{% endif %}" + BODY + TAIL,
    "no_end": "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}",
}


def main(model: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(model)
    templates = TEMPLATES | {"qwen3": (files("trl") / "chat_templates" / "qwen3.jinja").read_text(encoding="utf-8")}
    rows = {"multi": TURNS, "single": TURNS[:2]}
    results = {
        f"{name} {which}": case(tokenizer, text, row) for name, text in templates.items() for which, row in rows.items()
    }
    tokenizer.pad_token = tokenizer.eos_token
    print(json.dumps(results | {"pad_is_end single": case(tokenizer, TEMPLATES["plain"], TURNS[:2])}))


def case(tokenizer: Any, template: str, messages: list[dict[str, str]]) -> dict[str, Any]:
    """The pieces of text with loss, or the code of the refusal."""
    tokenizer.chat_template = template
    try:
        masker, row = Masker(tokenizer, "assistant"), {"messages": messages}
        tokens = masker.tokens(row, "row 1")
        masker.cross_check(row, tokens)
        census = Census("assistant", {*tokenizer.get_added_vocab().values(), *tokenizer.all_special_ids}, 64)
        census.take(tokens)
        census.judge("rows", EventWriter(None))
    except WorkError as error:
        return {"code": error.code}
    pieces: list[list[int]] = []
    before = False
    for token, on in zip(tokens.ids, tokens.loss, strict=True):
        if on and not before:
            pieces.append([])
        if on:
            pieces[-1].append(token)
        before = on
    return {"taught": [tokenizer.decode(piece) for piece in pieces], "twin": masker.twin_rows}


if __name__ == "__main__":
    main(sys.argv[1])
