"""What is worth a second look in a row that is sound: counted, never changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FILL = re.compile(rb"\{\{\s*[a-zA-Z_]\w*\s*\}\}")
_MARKUP = re.compile(rb"<\|[a-zA-Z_]+\|>|\[INST\]|<start_of_turn>")

WORDS = {
    "placeholder": "rows hold a placeholder such as {{name}}, which the model would learn to write",
    "markup": "rows hold the markup of a chat template, such as <|im_start|>, inside their text",
}


def noted(text: bytes) -> Iterator[str]:
    """Kinds of things noticed in a row."""
    if b"{{" in text and _FILL.search(text):
        yield "placeholder"
    if (b"<" in text or b"[INST]" in text) and _MARKUP.search(text):
        yield "markup"
