"""Models compared on the same items: answers don't depend on batching, and scores are what was built into the data."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backend import ModelRef

from .conftest import Outcome, Workshop, sft

pytestmark = pytest.mark.integration

COUNT = 24
REWARDS = """
def good(completions, answer, level, **_):
    return [float(a in c[0]["content"]) / n for c, a, n in zip(completions, answer, level)]
async def waits(prompts, **_): return [0.25 for _ in prompts]
def short(completions, **_): return [1.0]
def none(completions, **_): return [None for _ in completions]
def nan(completions, **_): return [float("nan") for _ in completions]
def text(completions, **_): return ["1" for _ in completions]
def single(completions, **_): return 1.0
def raises(completions, **_): raise KeyError("boom")
"""
REWARD_FAULTS = {
    **{"short": "reward.length", "single": "reward.length", "none": "reward.value", "nan": "reward.value"},
    **{"text": "reward.value", "raises": "reward.failed", "absent": "eval.metric"},
}


def write_items(path: Path, answers: list[str]) -> Path:
    """Chat items of very different lengths."""
    source = random.Random(5)
    rows = [
        {
            "prompt": [{"role": "user", "content": "".join(source.choices("abcdefg hi", k=source.randint(1, 60)))}],
            "answer": a,
            "level": 2,
        }
        for a in answers
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answers_of(outcome: Outcome, label: str) -> list[str]:
    lines = (outcome.run / "artifacts" / "report" / "items.jsonl").read_text().splitlines()
    return [json.loads(line)["models"][label]["answer"] for line in lines]


def report_of(outcome: Outcome) -> dict[str, Any]:
    return dict(json.loads((outcome.run / "artifacts" / "report" / "report.json").read_text()))


def eval_parts(data: Path, metric: str = "exact", batch_size: int = 8, room: int = 8, **more: Any) -> dict[str, Any]:
    how = {"metric": metric, "max_new_tokens": room, "batch_size": batch_size, **more}
    return {"data": {"eval": str(data)}, "eval": how}


@pytest.fixture(scope="module")
def contest(engine: str, zoo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Base, adapter and merged model: batched, one by one, and scored in every way; two processes in all."""
    root = tmp_path_factory.mktemp("eval")
    shop = Workshop(engine, root)
    base, adapted = ModelRef(label="base", path=str(zoo / "plain")), sft(zoo / "plain", zoo / "plain-lora")
    merge = shop.prepare("merge", adapted)
    three = (base, adapted, ModelRef(label="merged", path=str(merge / "artifacts" / "model")))
    blank = write_items(root / "blank.jsonl", ["?"] * COUNT)
    drawn: dict[str, Any] = {"temperature": 100.0, "top_p": 0.95}
    first = {
        "merge": merge,
        **{f"greedy {n}": shop.prepare("eval", base, *three, **eval_parts(blank, batch_size=n)) for n in (8, 1)},
        **{f"drawn {n}": shop.prepare("eval", base, **eval_parts(blank, batch_size=n, **drawn)) for n in (8, 3)},
        "other seed": shop.prepare("eval", base, **eval_parts(blank, seed=1, **drawn)),
    }
    found = dict(zip(first, shop.finish(*first.values()), strict=True))

    known = answers_of(found["greedy 8"], "sft")
    half = write_items(root / "half.jsonl", [a if n % 2 else "?" for n, a in enumerate(known)])
    inside = write_items(
        root / "inside.jsonl", [a.strip()[1:] if n % 4 == 0 else "absent" for n, a in enumerate(known)]
    )
    (root / "reward.py").write_text(REWARDS)
    runs = {
        "exact": shop.prepare("eval", base, *three, **eval_parts(half, gates=["accuracy>=sft", "base>0.1"])),
        "contains": shop.prepare("eval", base, *three, **eval_parts(inside, "contains")),
        **{
            name: shop.prepare("eval", base, **eval_parts(half, f"reward:{root / 'reward.py'}:{name}"))
            for name in ("good", "waits", *REWARD_FAULTS)
        },
    }
    runs |= _odd_templates(shop, zoo, root, half)
    return found | dict(zip(runs, shop.finish(*runs.values()), strict=True))


def _odd_templates(shop: Workshop, zoo: Path, root: Path, data: Path) -> dict[str, Path]:
    bare = Path(shutil.copytree(zoo / "plain", root / "bare"))
    (bare / "chat_template.jinja").unlink()
    other = Path(shutil.copytree(zoo / "plain", root / "other"))
    (other / "chat_template.jinja").write_text("{{ strftime_now('%Y') }} {{ messages[0].content }}")
    plain, without, odd = (
        ModelRef(label=name, path=str(path))
        for name, path in (("plain", zoo / "plain"), ("bare", bare), ("odd", other))
    )
    return {
        "lent": shop.prepare("eval", plain, without, plain, **eval_parts(data)),
        "differ": shop.prepare("eval", plain, odd, plain, **eval_parts(data)),
        "too long": shop.prepare("eval", ModelRef(label="short", path=str(zoo / "conv")), **eval_parts(data, room=128)),
        "none at all": shop.prepare("eval", without, **eval_parts(data)),
    }


def test_batched_answers_are_those_given_one_by_one(contest: dict[str, Outcome]) -> None:
    for label in ("base", "sft", "merged"):
        answers = answers_of(contest["greedy 8"], label)
        assert answers == answers_of(contest["greedy 1"], label)
        assert len(set(answers)) > COUNT / 2


def test_sampled_answers_depend_on_the_seed_and_not_on_the_batch(contest: dict[str, Outcome]) -> None:
    drawn = answers_of(contest["drawn 8"], "base")
    assert drawn == answers_of(contest["drawn 3"], "base")
    for other in ("other seed", "greedy 8"):
        assert sum(a != b for a, b in zip(drawn, answers_of(contest[other], "base"), strict=True)) > COUNT / 2
    assert report_of(contest["drawn 8"])["settings"]["temperature"] == 100.0


def test_gates_are_judged_and_listed(contest: dict[str, Outcome]) -> None:
    assert [one["passed"] for one in report_of(contest["exact"])["gates"]] == [True, False]


def test_the_adapter_is_at_work_and_its_merge_answers_the_same(contest: dict[str, Outcome]) -> None:
    base, adapted, merged = (answers_of(contest["greedy 8"], label) for label in ("base", "sft", "merged"))
    assert adapted == merged
    assert sum(a != b for a, b in zip(base, adapted, strict=True)) > COUNT / 2


def test_exact_counts_the_answers_that_were_planted(contest: dict[str, Outcome]) -> None:
    assert contest["exact"].metrics == {"base.score": 0.0, "sft.score": 0.5, "merged.score": 0.5}
    models = report_of(contest["exact"])["models"]
    assert [m["label"] for m in models] == ["base", "sft", "merged"]
    (first,), (second,) = models[1]["differences"], models[2]["differences"]
    assert (first["better_items"], first["beyond_noise"]) == (COUNT / 2, True)
    assert (second["score"], second["beyond_noise"]) == (0.0, False)
    assert len({m["prompts_digest"] for m in models}) == 1


def test_contains(contest: dict[str, Outcome]) -> None:
    assert contest["contains"].metrics["sft.score"] == 0.25


def test_events_tell_the_progress(contest: dict[str, Outcome]) -> None:
    events = contest["exact"].events
    assert [e["state"] for e in contest["exact"].of("state")] == ["loading", "evaluating", "done"]
    steps = [e["step"] for e in events if e["type"] == "step"]
    assert steps == sorted(steps)
    assert steps[-1] == 3 * COUNT == events[1]["total"]
    assert {e["model"] for e in contest["exact"].of("sample")} == {"base", "sft", "merged"}


def test_answers_cut_at_the_limit_are_told(contest: dict[str, Outcome]) -> None:
    assert "eval.cut" in [e["code"] for e in contest["exact"].of("warning")]
    assert report_of(contest["exact"])["models"][0]["share_cut_at_limit"] > 0.5


def test_rewards_are_called_as_in_training(contest: dict[str, Outcome]) -> None:
    expected = [a if n % 2 else "?" for n, a in enumerate(answers_of(contest["greedy 8"], "sft"))]
    texts = answers_of(contest["good"], "base")
    wanted = sum((e in t) / 2 for e, t in zip(expected, texts, strict=True)) / COUNT
    assert contest["good"].metrics["base.score"] == pytest.approx(wanted)
    assert contest["waits"].metrics["base.score"] == 0.25


@pytest.mark.parametrize(("name", "code"), REWARD_FAULTS.items())
def test_bad_rewards(contest: dict[str, Outcome], name: str, code: str) -> None:
    assert contest[name].error == code
    assert not (contest[name].run / "artifacts" / "report").exists()


def test_a_failing_reward_is_named_with_its_line(contest: dict[str, Outcome]) -> None:
    (event,) = contest["raises"].of("error")
    line = REWARDS.splitlines().index('def raises(completions, **_): raise KeyError("boom")') + 1
    assert f"reward.py:{line}: KeyError" in event["message"]


def test_templates(contest: dict[str, Outcome]) -> None:
    warned = {
        name: {e["code"] for e in contest[name].of("warning")} - {"eval.cut"} for name in ("exact", "lent", "differ")
    }
    assert warned == {
        "exact": set(),
        "lent": {"eval.template_lent"},
        "differ": {"eval.prompts_differ", "eval.dated_template"},
    }
    assert (report_of(contest["lent"])["same_prompts"], report_of(contest["differ"])["same_prompts"]) == (True, False)
    assert contest["none at all"].error == "eval.no_template"


def test_answers_that_the_model_has_no_positions_for(contest: dict[str, Outcome]) -> None:
    assert contest["too long"].error == "eval.too_long"
