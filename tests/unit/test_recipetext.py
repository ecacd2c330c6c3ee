"""Recipes as text: read back they say the same, and look as if a person had written them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import recipe
from orchestrator.backend import Translated
from orchestrator.recipetext import written

if TYPE_CHECKING:
    from tests.conftest import Write


def text_of(comment: str | None = None, **settings: Any) -> str:
    pairs = {key.replace("__", "."): value for key, value in settings.items()}
    return written([], [Translated(setting=key, value=value, comment=comment) for key, value in pairs.items()])


def test_sections_stand_in_the_order_of_shipped_recipes() -> None:
    text = text_of(native__x=1, training__epochs=2, lora__r=8, model__path="m", method="lora", stage="sft", name="n")
    assert " ".join(text.split()) == (
        "name: n stage: sft method: lora model: path: m lora: r: 8 training: epochs: 2 native: x: 1"
    )


def test_header_and_comments_stand_above_what_they_are_about() -> None:
    one = Translated(setting="hardware.processes", value=8, comment="first\nsecond")
    assert written(["From a file.", ""], [one]) == (
        "# From a file.\n#\nhardware:\n  # first\n  # second\n  processes: 8\n"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2e-5, "2e-5"),
        (0.0002, "2e-4"),
        (1e-08, "1e-8"),
        (0.05, "0.05"),
        (0.0, "0.0"),
        (3.5e20, "3.5e20"),
        (-1.5e-7, "-1.5e-7"),
        ("2e-5", "'2e-5'"),
        ("off", "off"),
        ("true", "'true'"),
        (None, "null"),
        (True, "true"),
        ("train[:1%]", "train[:1%]"),
        ([1, 2], "[1, 2]"),
        ("ä", "ä"),
    ],
)
def test_values_read_as_people_write_them(value: Any, text: str) -> None:
    assert text_of(native__x=value) == f"native:\n  x: {text}\n"


def test_long_lists_and_lists_of_mappings_stand_one_below_the_other() -> None:
    assert text_of(native__x=[{"path": "a"}]) == "native:\n  x:\n    - path: a\n"
    assert "\n    - " + "m" * 40 in text_of(native__x=["m" * 40] * 3)


@pytest.mark.parametrize(
    "value",
    [
        2e-5,
        1e-300,
        float("inf"),
        "2e-5",
        "1_000",
        "no",
        "2024-01-01",
        " a: b #c",
        "line\nline\n",
        "tab\tand 'quotes\" \\",
        "",
        "null",
        ["", "~", "1"],
        {"a": {"b": [1, {"c": None}]}},
        {"q.k": 8, "v": 1},
        {0: "20GiB", "cpu": "1GiB"},
        {"": 0},
        "x" * 500,
        "word " * 100,
        "{% for m in x %}\n  {{ m }}\n{% endfor %}",
    ],
)
def test_read_back_it_says_the_same(write: Write, value: Any) -> None:
    path = write("r.yaml", text_of(stage="sft", name="it", native__key=value))
    found = {key: one.value for key, one in recipe.read(path).stages[0].items() if key.startswith("native.")}
    expected = {f"native.key.{k}": v for k, v in _flat(value)} if _flat(value) else {"native.key": value}
    assert found == expected


def _flat(value: Any) -> list[tuple[str, Any]]:
    """A mapping as recipes read it: flat, unless a key has a point or is no text."""
    if not isinstance(value, dict) or not all(isinstance(key, str) and "." not in key for key in value):
        return []
    return [pair for k, v in value.items() for pair in ([(f"{k}.{n}", w) for n, w in _flat(v)] or [(k, v)])]
