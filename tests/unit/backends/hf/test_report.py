"""Intervals against published values, and a report that says what is noise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backends.hf import report
from backends.trainer.items import Item
from backends.trainer.statistics import bootstrap, is_binary, mcnemar, sign_flip, smallest, wilson


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
    assert first["differences"] == []
    assert first["interval"][1] > second["interval"][0]
    (change,) = second["differences"]
    assert (change["to"], change["better_items"], change["worse_items"], change["beyond_noise"]) == (
        "base",
        10,
        0,
        True,
    )
    assert change["score"] == pytest.approx(0.1)


def test_a_difference_within_noise_is_called_that() -> None:
    rows = report.compare([result("a", [1.0, 0.0] * 10), result("b", [0.0, 1.0] * 9 + [1.0, 1.0])])
    (change,) = rows[1]["differences"]
    assert change["score"] > 0
    assert not change["beyond_noise"]


def test_files(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text("x")
    settings: dict[str, Any] = {"stage": "eval", "metric": "exact", "data": str(tmp_path / "data.jsonl"), "output": "o"}
    settings["gates"] = ["score>=base+0.25", "base>0.5"]
    results = [result("base", [0.0, 1.0], "d"), result("sft", [0.5, 1.0], "e")]
    items = [Item("p", "e", {}), Item("q", None, {})]
    report.write(tmp_path, settings, items, results, report.compare(results))
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["items"] == 2
    assert written["data_sha256"] == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert written["same_prompts"] is False
    assert [one["passed"] for one in written["gates"]] == [True, False]
    assert [m["interval_kind"] for m in written["models"]] == ["wilson", "bootstrap"]
    assert [m["share_cut_at_limit"] for m in written["models"]] == [0.5, 0.5]
    rows = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert rows[0]["models"]["sft"] == {"answer": "x", "score": 0.5}
    summary = (tmp_path / "summary.md").read_text()
    assert "| base | 0.500 |" in summary
    assert "gate FAILED: base>0.5 (0.5000 against 0.5000)" in summary
    assert "too few to show any difference" in summary
    assert "did not see the same prompt tokens" in summary


def played(label: str, exact: list[float], form: list[float]) -> report.Result:
    """A model that played a task with two rewards, three parts to one."""
    totals = [0.75 * a + 0.25 * b for a, b in zip(exact, form, strict=True)]
    said = [{"role": "assistant", "content": "hm", "tool_calls": [{"function": {"name": "bash", "arguments": "{}"}}]}]
    episodes = tuple(
        {"rewards": {"exact": a, "form": b}, "turns": 1, "end": "done", "messages": said}
        for a, b in zip(exact, form, strict=True)
    )
    return replace(result(label, totals), rewards={"exact": tuple(exact), "form": tuple(form)}, episodes=episodes)


def test_a_task_is_solved_where_all_of_its_rewards_are_one() -> None:
    results = [played("sft", [0.0] * 8, [1.0] * 8), played("grpo", [1.0] * 7 + [0.0], [1.0] * 7 + [0.0])]
    rows = report.compare(report.solved(results))
    assert [row["score"] for row in rows] == [0.25, 0.875]
    assert rows[1]["differences"][0]["test"] == "sign_flip"
    assert {name: found["score"] for name, found in rows[1]["rewards"].items()} == {
        **{"exact": 0.875, "form": 0.875, "solved": 0.875}
    }
    (change,) = rows[1]["rewards"]["solved"]["differences"]
    assert (change["test"], change["better_items"], change["worse_items"]) == ("mcnemar", 7, 0)
    assert change["sentence"].startswith("grpo is better than sft by 87.5 points")


@pytest.mark.parametrize("exact", [[0.5, 1.0], [2.0, 0.0]])
def test_graded_rewards_solve_nothing(exact: list[float]) -> None:
    assert "solved" not in report.solved([played("sft", exact, [1.0, 1.0])])[0].rewards


def test_one_reward_is_the_score_itself() -> None:
    alone = replace(result("sft", [1.0, 0.0]), rewards={"exact": (1.0, 0.0)})
    assert report.solved([alone])[0].rewards.keys() == {"exact"}


def test_conversations_are_kept_to_be_read(tmp_path: Path) -> None:
    items = [Item([{"role": "user", "content": "# why"}], None, {"sample": f"s{n}", "digest": "d"}) for n in range(2)]
    results = report.solved([played("sft", [0.0, 1.0], [1.0, 1.0])])
    rows = report.compare(results)
    report.write(tmp_path, {"stage": "eval", "metric": "task", "output": "o"}, items, results, rows)
    page = (tmp_path / "conversations" / "sft.md").read_text()
    assert "## s0: reward 0.25 (exact 0, form 1), 1 turns, done\n\n**user**\n\n    # why\n" in page
    assert "    hm\n    -> bash {}\n" in page
    kept = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert kept[1]["sample"] == "s1"
    assert kept[1]["models"]["sft"]["rewards"] == {"exact": 1.0, "form": 1.0}
    summary = (tmp_path / "summary.md").read_text()
    assert "| model | score | interval | cut at limit | exact | form | solved |" in summary
    assert "| sft | 0.625 | " in summary


def test_named_models_are_what_the_others_are_held_against() -> None:
    results = [result(label, [0.0, 1.0]) for label in ("base", "sft", "grpo")]
    rows = report.compare(results, ["base", "sft"])
    assert [[one["to"] for one in row["differences"]] for row in rows] == [[], [], ["base", "sft"]]


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(0, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (1, 7, 0.0703125), (10, 10, 1.0), (59, 80, 0.0894)],
)
def test_mcnemar_is_the_binomial_test(better: int, worse: int, p: float) -> None:
    """By hand from the binomial tails; the last from R 4.3, binom.test(59, 139)."""
    assert mcnemar(better, worse) == pytest.approx(p, abs=5e-4)


def test_mcnemar_of_many_pairs_is_chi_squared() -> None:
    """(|1100 - 1000| - 1)^2 / 2100 = 4.667, whose tail with one degree of freedom is 0.0308."""
    assert mcnemar(1100, 1000) == pytest.approx(0.0308, abs=1e-4)


def test_sign_flip_is_exact_for_few_and_close_for_many() -> None:
    assert sign_flip([0.5, 0.25, 0.0, 1.0]) == pytest.approx(2 / 8)
    assert sign_flip([0.0] * 5) == 1.0
    assert sign_flip([1.0] * 20 + [-1.0] * 20) > 0.8
    assert sign_flip([0.5] * 30) < 0.001


def test_the_smallest_difference_shrinks_with_the_items() -> None:
    """A tenth of the items differ, half each way: 2.80 standard errors of sqrt(0.1 / n)."""
    for n in (200, 800):
        steps = [1.0] * (n // 20) + [-1.0] * (n // 20) + [0.0] * (n - n // 10)
        assert smallest(steps, binary=True) == pytest.approx(2.8016 * (0.1 / n) ** 0.5, rel=0.01)
    assert smallest([0.0] * 100, binary=True) == 0.06
    assert smallest([1.0] * 4, binary=True) is None


def test_four_wins_of_four_are_no_win() -> None:
    """The bootstrap interval is 1 to 1, and the paired test knows better."""
    (change,) = report.compare([result("a", [0.0] * 4), result("b", [1.0] * 4)])[1]["differences"]
    assert not change["beyond_noise"]
    assert change["sentence"].startswith("b and a can't be told apart: +100.0 points")


@pytest.mark.parametrize(("worse", "word"), [(False, "better"), (True, "worse")])
def test_the_sentence(worse: bool, word: str) -> None:
    low, high = [0.0] * 40 + [1.0] * 60, [1.0] * 10 + [0.0] * 30 + [1.0] * 60
    (change,) = report.compare([result("a", high if worse else low), result("b", low if worse else high)])[1][
        "differences"
    ]
    text = change["sentence"]
    assert text.startswith(f"b is {word} than a by 10.0 points, 95 % interval ")
    assert text.endswith(", 100 items")
    assert "-" not in text
