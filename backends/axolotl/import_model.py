"""Model, attention and precision."""

from __future__ import annotations

from typing import get_args

from backends.axolotl.reading import Reading
from orchestrator.spec import Attention

_FLAGS = {
    "xformers_attention": "xformers",
    "sage_attention": "sage",
    "flex_attention": "flex_attention",
    "flash_attention": "flash_attention_2",
    "sdp_attention": "sdpa",
    "eager_attention": "eager",
}
"""Axolotl's older switches, in the order in which it looks at them."""


def translate(reading: Reading) -> None:
    """`model:` and what says how to compute."""
    reading.put("model.path", reading.placed(reading.take("base_model"), "base_model"), key="base_model")
    for key in ("revision_of_model", "model_revision"):
        if (revision := reading.take(key)) is not None:
            reading.put("model.revision", str(revision), key=key)
    if reading.take("trust_remote_code"):
        reading.put("model.trust_remote_code", True, key="trust_remote_code")
    _attention(reading)
    _precision(reading)


def _attention(reading: Reading) -> None:
    flags = {flag: reading.take(flag) for flag in _FLAGS if flag in reading.given}
    key = next((flag for flag, value in flags.items() if value), "attn_implementation")
    wanted = reading.take("attn_implementation") or _FLAGS.get(key)
    if wanted is None:
        reading.put("native.attn_implementation", None, comment="not said in the original: Axolotl decides")
    elif wanted in get_args(Attention):
        reading.put("model.attention", wanted, key=key)
    else:
        reading.put("native.attn_implementation", wanted, key=key)


def _precision(reading: Reading) -> None:
    """`bf16: auto`, which is also the default, means bf16 where the hardware has it."""
    bf16, fp16 = reading.take("bf16", "auto"), reading.take("fp16")
    key = "bf16" if bf16 or not fp16 else "fp16"
    if bf16 is True:
        reading.put("training.precision", "bf16", key=key)
    elif fp16 or bf16 != "auto":
        reading.put("training.precision", "fp16" if fp16 else "fp32", key=key)
