"""What counts as a credential, and what doesn't."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator import credential

TOKEN = "hf_" + "a1B2" * 8


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("x", "swanlab_api_key"),
        ("x", "hub_token"),
        ("x", "lark_secret"),
        ({"storage": {"password": "p"}}, "storage.password"),
        ([{"path": f"https://user:{TOKEN}@host/x"}], "0.path"),
        (TOKEN, ""),
        ("AKIA" + "A1" * 8, ""),
    ],
)
def test_credentials_are_found_where_they_stand(value: Any, key: str) -> None:
    named = key if isinstance(value, str) else ""
    assert credential.inside(value, named) == key


@pytest.mark.parametrize(
    "value",
    [
        {"pad_token": "<|end|>", "eos_token": "</s>"},
        {"hf_use_auth_token": True, "hub_token": ""},
        "https://host:8000/path",
        "sk-short",
        {"tokens": ["a"], "eot_tokens": ["<turn|>"]},
    ],
)
def test_tokens_of_a_vocabulary_are_none(value: Any) -> None:
    assert credential.inside(value) is None


def test_comments_are_looked_at_too() -> None:
    assert credential.in_prose("export SWANLAB_API_KEY=abc")
    assert credential.in_prose(f"see {TOKEN}")
    assert not credential.in_prose("pad_token: <|end|> is the model's own")
