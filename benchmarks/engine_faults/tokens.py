"""Faults of the chat template, the tokenizer, and what gets loss."""

from __future__ import annotations

import re

from benchmarks.engine_faults.fault import Fault
from benchmarks.engine_faults.scene import Scene, edit

_SFT = ("sft", "--recipe", "sft.yaml", "--name", "again")
_EVAL = ("eval", "sft", "--data", "items.jsonl", "--name", "again", "--set", "eval.max_new_tokens=4")
_BARE = ("trl_sft.py", "model", "sft.jsonl")
_TEMPLATE = "model/chat_template.jinja"
_TOKENIZER = "model/tokenizer_config.json"


def _unmarked(template: str) -> str:
    return re.sub(r"\{%- (end)?generation %\}", "", template)


def _no_answers(scene: Scene) -> None:
    """Conversations that end before the assistant speaks."""
    rows = scene.read("sft.jsonl")
    scene.rows("sft.jsonl", [{"messages": row["messages"][:1]} for row in rows])


def _long_questions(scene: Scene) -> None:
    """Every answer lies beyond the limit."""
    rows = scene.read("sft.jsonl")
    for row in rows:
        row["messages"][0]["content"] *= 40
    scene.rows("sft.jsonl", rows)


def _outside(scene: Scene) -> None:
    """The end token is no token of the file any more, and gets a number behind the last one."""
    _without(scene, "<|im_end|>")


def _split(scene: Scene) -> None:
    """The template's turn marker is no token any more, so that it falls to pieces."""
    _without(scene, "<|im_start|>")


def _without(scene: Scene, mark: str) -> None:
    with scene.json(scene.folder / "model" / "tokenizer.json") as tokenizer:
        tokenizer["added_tokens"] = [token for token in tokenizer["added_tokens"] if token["content"] != mark]
        tokenizer["model"]["vocab"].pop(mark, None)


FAULTS = (
    Fault(
        "T1a",
        "another chat template at eval than in training",
        _EVAL,
        edit(_TEMPLATE, lambda s: s.replace("<|im_start|>' + message", "<|im_start|> ' + message")),
        "started from",
    ),
    Fault(
        "T1b",
        "no chat template",
        _SFT,
        lambda scene: (scene.folder / _TEMPLATE).unlink(),
        "template",
        bare=_BARE,
    ),
    Fault("T2", "no turn of the assistant", _SFT, _no_answers, r"assistant|answer|mask", bare=_BARE),
    Fault(
        "T3",
        "the template gives loss to the user's turns",
        _SFT,
        edit(
            _TEMPLATE,
            lambda s: s.replace(
                "{{- message['content'] + '<|im_end|>' }}\n    {%- endif",
                "{%- generation %}{{- message['content'] + '<|im_end|>' }}{%- endgeneration %}\n    {%- endif",
            ),
        ),
        r"user",
        bare=_BARE,
    ),
    Fault(
        "T4",
        "the template ends no turn, so that no end is learned",
        _SFT,
        edit(_TEMPLATE, lambda s: s.replace("+ '<|im_end|>' }}{%- endgen", "}}{%- endgen")),
        "end",
        bare=_BARE,
    ),
    Fault("T5a", "the limit cuts every answer away", _SFT, _long_questions, "max_length|cut|long", bare=_BARE),
    Fault(
        "T6",
        "the template shows only the last turn",
        _SFT,
        edit(_TEMPLATE, lambda s: s.replace("in messages %}", "in messages[-1:] %}", 1)),
        r"template\.prefix",
        bare=_BARE,
    ),
    Fault(
        "T7a",
        "the end token has another number than the model's",
        _SFT,
        _outside,
        "names the end token",
        bare=_BARE,
    ),
    Fault("T7b", "a marker of turns splits into pieces", _SFT, _split, "split|pieces", bare=_BARE),
    Fault(
        "T8",
        "the tokenizer names no end token",
        _SFT,
        edit(_TOKENIZER, lambda s: s.replace('"eos_token": "<|im_end|>",\n', "")),
        "end token|eos|no_end",
        bare=_BARE,
    ),
)
