"""YAML with lines: numbers, duplicates, encodings, and what is no recipe at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import yamlfile
from orchestrator.errors import RecipeError

if TYPE_CHECKING:
    from tests.conftest import Write


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2e-5", 2e-5),
        ("1e5", 1e5),
        ("+1E3", 1000.0),
        ("-2.5e-3", -0.0025),
        ("1.e2", 100.0),
        ("1.5", 1.5),
        ("7", 7),
        ("true", True),
        ("False", False),
        ("off", "off"),
        ("no", "no"),
        ("yes", "yes"),
        ("null", None),
        ("[1, 2e-5]", [1, 2e-5]),
        ("e5", "e5"),
        ("2024-01-01", "2024-01-01"),
        ("2024-13-45", "2024-13-45"),
        ("a: b: c", "a: b: c"),
        ("0b_", "0b_"),
        ("!!python/name:os.system", "!!python/name:os.system"),
    ],
)
def test_a_scalar_is_what_a_person_means(text: str, value: Any) -> None:
    found = yamlfile.scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_a_value_too_deep_to_read_stays_text() -> None:
    assert yamlfile.scalar("[" * 800) == "[" * 800


def test_every_value_knows_its_line(write: Write) -> None:
    path = write("r.yaml", "a: 1\nb:\n  c: 2\n  d:\n  - x\n  - {e: 3}\n")
    raw, lines = yamlfile.read(path)
    assert raw == {"a": 1, "b": {"c": 2, "d": ["x", {"e": 3}]}}
    assert lines == {"a": 1, "b": 2, "b.c": 3, "b.d": 4, "b.d.0": 5, "b.d.1": 6, "b.d.1.e": 6}


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3\n", "x: {a: 1}\ny:\n  a: 1\n  a: 2\n", "a: 1\n\n'a': 2\n"])
def test_a_key_that_stands_twice_is_refused_with_its_line(write: Write, text: str) -> None:
    path = write("r.yaml", text)
    last = text.count("\n")
    with pytest.raises(RecipeError, match="'a' stands twice") as caught:
        yamlfile.read(path)
    assert caught.value.where == f"{path}:{last}"


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa: 1\n", b"a: 1\r\n", b"a: 1", "ä: 1\n".encode()])
def test_encodings_and_line_ends_of_every_editor(write: Write, content: bytes) -> None:
    assert list(yamlfile.read(write("r.yaml", content))[0].values()) == [1]


def test_merge_keys_fill_in_what_is_not_given(write: Write) -> None:
    raw, _ = yamlfile.read(write("r.yaml", "x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\n"))
    assert raw["y"] == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"", 1, "mapping"),
        (b"# nothing\n", 1, "mapping"),
        (b"- a\n- b\n", 1, "mapping"),
        (b"just words\n", 1, "mapping"),
        (b"a: 1\n\tb: 2\n", 2, "YAML"),
        (b"a: [1\nb: 2\n", 2, "YAML"),
        (b"a: 1\n---\nb: 2\n", 2, "YAML"),
        (b"a: !!python/object/apply:os.system [ls]\n", 1, "YAML"),
        (b"{[1]: 2}: 3\n", 1, "YAML"),
        (b"a: *nowhere\n", 1, "YAML"),
    ],
)
def test_what_is_no_recipe_is_refused_with_its_line(write: Write, content: bytes, line: int, words: str) -> None:
    path = write("r.yaml", content)
    with pytest.raises(RecipeError, match=words) as caught:
        yamlfile.read(path)
    assert caught.value.where == f"{path}:{line}"


@pytest.mark.parametrize(
    "content", [b"a: \x00\n", b"\xff\xfea\x00", b"a: \xe4\n", b"a: " + b"[" * 800, b"&a a: [*a]\nb: &b [*b]\n"]
)
def test_what_cannot_be_read_is_refused_with_the_file(write: Write, content: bytes) -> None:
    path = write("r.yaml", content)
    with pytest.raises(RecipeError) as caught:
        yamlfile.read(path)
    assert str(path) in (caught.value.where or "")


def test_aliases_that_multiply_are_refused_at_once(write: Write) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(RecipeError, match="too many values"):
        yamlfile.read(write("r.yaml", "\n".join(rows)))


def test_a_missing_file_and_a_folder(work: Any) -> None:
    with pytest.raises(RecipeError, match="no such recipe"):
        yamlfile.read(work / "none.yaml")
    with pytest.raises(RecipeError, match="a folder is no recipe"):
        yamlfile.read(work)
