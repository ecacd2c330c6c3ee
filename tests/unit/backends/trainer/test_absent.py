"""A folder that doesn't give every weight is refused, and every kind of lack is counted."""

from __future__ import annotations

import pytest

from backends.trainer import absent
from orchestrator.harness import WorkError


def test_a_whole_model_passes() -> None:
    absent.refuse("model", {"missing_keys": set(), "mismatched_keys": set()})


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"missing_keys": {"b", "a"}, "mismatched_keys": set()}, r"2 tensors are missing and 0 have .* \(a, b\)"),
        ({"missing_keys": set(), "mismatched_keys": {("c", (1,), (2,))}}, r"0 tensors are missing and 1 have .* \(c\)"),
    ],
)
def test_what_would_be_random_is_named(told: dict[str, set[object]], words: str) -> None:
    with pytest.raises(WorkError, match=words) as error:
        absent.refuse("model", told)
    assert error.value.code == "model.random_weights"
