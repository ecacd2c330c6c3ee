"""What is worth a second look in a row that is sound: counted, never changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FILL = re.compile(rb"\{\{\s*[a-zA-Z_]\w*\s*\}\}")
_PLACE = re.compile(rb"<image>|<IMG_CONTEXT>|<\|image\|>|<image_pad>")
_MARKUP = re.compile(rb"<\|[a-zA-Z_]+\|>|\[INST\]|<start_of_turn>")

WORDS = {
    "picture_word": "rows name a place for a picture, such as <image>, and have no picture",
    "picture_late": "rows have a picture behind the text that asks about it: the question is read before it is seen",
    "picture_tokens": "rows hold pictures, whose own tokens are not counted here, but by `data check --processor`",
    "mask_unknown": "rows where nothing tells what gets loss: the template marks no answers and rewrites earlier turns",
    "placeholder": "rows hold a placeholder such as {{name}}, which the model would learn to write",
    "markup": "rows hold the markup of a chat template, such as <|im_start|>, inside their text",
}


def noted(text: bytes) -> Iterator[str]:
    """Kinds of things noticed in a row."""
    if b"<" in text and b'"type":"image"' not in text and _PLACE.search(text):
        yield "picture_word"
    if b"{{" in text and _FILL.search(text):
        yield "placeholder"
    if (b"<" in text or b"[INST]" in text) and _MARKUP.search(text):
        yield "markup"
