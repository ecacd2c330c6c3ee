"""Where an answer begins and ends, by the template: a model may write a header first, and a template its own end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from .conftest import Workshop

pytestmark = pytest.mark.integration

CHANNELS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}{% if m.role == 'assistant' %} to=user\n{% else %}\n{% endif %}"
    "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant{% endif %}"
)


def test_end_of_turn_and_end_of_text_both_end_an_answer(shop: Workshop, zoo: Path) -> None:
    seen = json.loads(shop.script("read_answers.py", zoo / "plain", "4 to=user\n"))
    assert seen == {"ends": ["<|endoftext|>", "<|im_end|>"], "proper": "4 to=user\n", "text": "4 to=user\n"}


def test_a_header_that_the_model_writes_is_no_part_of_the_answer(shop: Workshop, zoo: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo / "plain", tmp_path / "channels"))
    (folder / "chat_template.jinja").write_text(CHANNELS)
    thought = " to=self\nhmm<|im_start|>assistant to=user\n42"
    seen = json.loads(shop.script("read_answers.py", folder, thought))
    assert (seen["proper"], seen["text"]) == ("42", " to=self\nhmmassistant to=user\n42")
