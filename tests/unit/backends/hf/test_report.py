"""Intervals against published values, and a report that says what is noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backends.hf import report
from backends.hf.intervals import bootstrap, is_binary, wilson
from backends.hf.items import Item


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_against_newcombe_1998(successes: int, n: int, low: float, high: float) -> None:
    """Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_bootstrap_is_repeatable_and_near_the_normal_interval() -> None:
    values = [0.0] * 300 + [1.0] * 700
    low, high = bootstrap(values)
    assert (low, high) == bootstrap(values)
    half = 1.96 * (0.7 * 0.3 / 1000) ** 0.5
    assert (low, high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.005)


def test_bootstrap_of_equal_values_has_no_width() -> None:
    assert bootstrap([0.25] * 7) == (0.25, 0.25)


def test_binary() -> None:
    assert is_binary([0.0, 1.0])
    assert not is_binary([0.5])


def result(label: str, scores: list[float], digest: str = "d") -> report.Result:
    n = len(scores)
    return report.Result(label, tuple(scores), ("x",) * n, (2,) * n, (True,) * (n - 1) + (False,), 1.5, digest)


def test_pairing_finds_what_separate_intervals_hide() -> None:
    """Ten of 100 items get better and none gets worse: the intervals overlap, the paired difference is clear."""
    before, after = [1.0] * 50 + [0.0] * 50, [1.0] * 60 + [0.0] * 40
    first, second = report.compare([result("base", before), result("sft", after)])
    assert first["difference"] is None
    assert first["interval"][1] > second["interval"][0]
    change = second["difference"]
    assert (change["to"], change["better_items"], change["worse_items"], change["beyond_noise"]) == (
        "base",
        10,
        0,
        True,
    )
    assert change["score"] == pytest.approx(0.1)


def test_a_difference_within_noise_is_called_that() -> None:
    change = report.compare([result("a", [1.0, 0.0] * 10), result("b", [0.0, 1.0] * 9 + [1.0, 1.0])])[1]["difference"]
    assert change["score"] > 0
    assert not change["beyond_noise"]


def test_files(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text("x")
    settings: dict[str, Any] = {"stage": "eval", "metric": "exact", "data": str(tmp_path / "data.jsonl"), "output": "o"}
    results = [result("base", [0.0, 1.0], "d"), result("sft", [0.5, 1.0], "e")]
    items = [Item("p", "e", {}), Item("q", None, {})]
    report.write(tmp_path, settings, items, results, report.compare(results))
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["items"] == 2
    assert written["data_sha256"] == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert written["same_prompts"] is False
    assert [m["interval_kind"] for m in written["models"]] == ["wilson", "bootstrap"]
    assert [m["share_cut_at_limit"] for m in written["models"]] == [0.5, 0.5]
    rows = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert rows[0]["models"]["sft"] == {"answer": "x", "score": 0.5}
    summary = (tmp_path / "summary.md").read_text()
    assert "| base | 0.500 |" in summary
    assert "did not see the same prompt tokens" in summary
