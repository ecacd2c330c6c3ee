"""A task played by real models: batches play what one episode after the other plays, and what can't be is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backend import Learned, ModelRef
from orchestrator.spec import TaskSpec

from .conftest import REPO, Outcome, Workshop

pytestmark = pytest.mark.integration

COUNT = 12
QUICKSTART = REPO / "recipes" / "quickstart" / "model"
TASK = '''\
"""Sums that are asked twice, in prompts of very different lengths; and, if wanted, a tool that is never called."""
from orchestrator.tasks import Environment, Limits, Opening, Reply, Reward, Sample, Task
from orchestrator.tasks.message import text, tool, user

class Sums(Environment):
    def __init__(self, sample, tools):
        self.asked, self.tools, self.left = sample.data["q"], tools, 2
    async def init(self):
        return Opening([user(self.asked)], self.tools)
    async def step(self, message):
        self.left -= 1
        return Reply([] if not self.left else [user(self.asked)], done=not self.left)

async def right(episode):
    return float(text(episode.said[0]) == f"it is {episode.sample.data['sum']}")

async def ended(episode):
    return float(not episode.truncated)

def sample(n, tag):
    a, b = n + 10, n * 7 % 90 + 10
    return Sample(f"s{n}", {"q": " ".join([f"What is {a}+{b}"] * (1 + n % 3)), "sum": a + b, "tag": tag})

def task(*, train: int = 40, count: int = 12, tag: str = "", tools: bool = False, context: int = 128,
         max_tokens: int = 12):
    numbers = range(train), range(train, train + count)
    rewards = [Reward("right", right, 3.0), Reward("ended", ended)]
    offered = [tool("look", "Look it up.", query="What for.")] if tools else []
    return Task("sums", *([sample(n, tag) for n in some] for some in numbers), lambda one: Sums(one, offered), rewards,
                Limits(max_turns=2, max_tokens=max_tokens, context=context))
'''


def parts(file: Path, batch_size: int = 8, options: dict[str, Any] | None = None, **how: Any) -> dict[str, Any]:
    how = {"metric": "task", "batch_size": batch_size, **how}
    return {"task": {"name": str(file), "options": options or {}}, "eval": how}


def items_of(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.code == 0, outcome.stderr
    lines = (outcome.run / "artifacts" / "report" / "items.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def report_of(outcome: Outcome) -> dict[str, Any]:
    return dict(json.loads((outcome.run / "artifacts" / "report" / "report.json").read_text()))


@pytest.fixture(scope="module")
def played(engine: str, zoo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """The task played in every way, in one process."""
    root = tmp_path_factory.mktemp("play")
    shop = Workshop(engine, root)
    mine, other = root / "talk.py", root / "other.py"
    mine.write_text(TASK)
    other.write_text(TASK)
    base, random = ModelRef(label="base", path=str(QUICKSTART)), ModelRef(label="random", path=str(zoo / "plain"))
    drawn: dict[str, Any] = {"temperature": 2.0}
    long = {"count": 1, "max_tokens": 200, "context": 500}
    seen = root / "seen.jsonl"
    seen.write_text(json.dumps({"prompt": "what is  52+34", "answer": "86"}) + "\n")  # sample 42, spaces and case aside

    def learned(*what: Learned, most: float = 0.01, **more: Any) -> Path:
        return shop.prepare("eval", base, learned=what, **parts(mine, max_leaked=most, **more))

    bare = Path(shutil.copytree(QUICKSTART, root / "bare"))
    (bare / "chat_template.jinja").unlink()
    rows = Learned(run="a-sft", rows=seen)
    caller = ModelRef(label="caller", path=str(shutil.copytree(QUICKSTART, root / "caller")))
    (template,) = Path(engine).parents[1].glob("lib/python3*/site-packages/trl/chat_templates/qwen3.jinja")
    shutil.copy(template, root / "caller" / "chat_template.jinja")
    config = json.loads((root / "caller" / "config.json").read_text())
    (root / "caller" / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 1024}))
    runs = {
        **{f"greedy {n}": shop.prepare("eval", base, base, random, **parts(mine, n)) for n in (8, 1)},
        **{f"drawn {n}": shop.prepare("eval", base, **parts(mine, n, **drawn)) for n in (8, 3)},
        "noise": shop.prepare("eval", base, **parts(mine, options=long, temperature=1e6, seed=2)),
        "other seed": shop.prepare("eval", base, **parts(mine, seed=1, **drawn)),
        "some": shop.prepare("eval", base, **parts(mine, max_items=5)),
        "other some": shop.prepare("eval", base, **parts(mine, max_items=5, seed=1)),
        "seen": learned(rows),
        "allowed": learned(rows, most=1.0),
        "same file": learned(Learned(run="a-grpo", task=TaskSpec(name=str(mine), options={"tag": ""}))),
        "same sample": learned(Learned(run="a-grpo", task=TaskSpec(name=str(mine), options={"train": 44}))),
        "other file": learned(
            Learned(run="a-grpo", task=TaskSpec(name=str(other), options={"train": 44})), options={"tag": "other"}
        ),
        "unknown": learned(
            Learned(run="a-sft", rows=root / "gone.jsonl"), Learned(run="a-grpo", task=TaskSpec(name="gone.py"))
        ),
        "tools": shop.prepare("eval", base, **parts(mine, options={"tools": True})),
        "tools known": shop.prepare("eval", caller, **parts(mine, options={"tools": True, "context": 1024})),
        "no template": shop.prepare("eval", ModelRef(label="bare", path=str(bare)), **parts(mine)),
        "long prompt": shop.prepare("eval", base, **parts(mine, options={"context": 24})),
        "no room": shop.prepare(
            "eval", ModelRef(label="short", path=str(zoo / "conv")), **parts(mine, options={"context": 200})
        ),
        "no task": shop.prepare("eval", base, **parts(root / "gone.py")),
        "other option": shop.prepare("eval", base, **parts(mine, options={"cuont": 1})),
    }
    return dict(zip(runs, shop.finish(*runs.values()), strict=True))


def test_a_batch_plays_what_one_after_the_other_plays(played: dict[str, Outcome]) -> None:
    assert items_of(played["greedy 8"]) == items_of(played["greedy 1"])
    talks = [item["models"]["base"] for item in items_of(played["greedy 8"])]
    assert len({str(one["messages"]) for one in talks}) == COUNT
    assert sum(one["turns"] == 2 for one in talks) > COUNT / 2
    roles = [message["role"] for message in talks[0]["messages"]]
    assert roles == ["assistant", "user", "assistant"][: len(roles)]


def test_drawn_episodes_depend_on_the_seed_and_not_on_the_batch(played: dict[str, Outcome]) -> None:
    def said(name: str) -> dict[str, str]:
        return {item["sample"]: str(item["models"]["base"]["messages"]) for item in items_of(played[name])}

    assert said("drawn 8") == said("drawn 3")
    for other in ("other seed", "greedy 8"):
        assert sum(said("drawn 8")[sample] != text for sample, text in said(other).items()) > COUNT / 2


def test_each_message_of_an_episode_draws_anew(played: dict[str, Outcome]) -> None:
    """One episode, so hot that the model itself has no say, and only the noise is left."""
    (item,) = items_of(played["noise"])
    first, second = (message["content"] for message in item["models"]["base"]["messages"][::2])
    assert first[:8] != second[:8]


def test_rewards_are_what_was_earned(played: dict[str, Outcome]) -> None:
    first, last = report_of(played["greedy 8"])["models"]
    talks = [item["models"]["base"] for item in items_of(played["greedy 8"])]
    right = sum(one["rewards"]["right"] for one in talks) / COUNT
    ended = sum(one["end"] == "done" for one in talks) / COUNT
    assert (first["rewards"]["right"]["score"], first["rewards"]["ended"]["score"]) == (right, ended)
    assert first["score"] == pytest.approx(0.75 * right + 0.25 * ended)
    assert first["share_cut_at_limit"] == pytest.approx(1 - ended)
    assert first["rewards"].keys() == {"right", "ended", "solved"}
    assert right > 0 == last["rewards"]["right"]["score"]
    assert played["greedy 8"].metrics["base.reward.right"] == right
    assert {e["code"] for e in played["greedy 8"].of("warning")} == {"eval.prompts_differ", "eval.cut"}
    page = (played["greedy 8"].run / "artifacts" / "report" / "conversations" / "base.md").read_text()
    assert page.count("**user**") == sum(one["turns"] for one in talks)


def test_validation_samples_are_played_and_some_of_them_are_drawn_by_the_seed(played: dict[str, Outcome]) -> None:
    whole, some, others = (
        {item["sample"] for item in items_of(played[name])} for name in ("greedy 8", "some", "other some")
    )
    assert whole == {f"s{n}" for n in range(40, 40 + COUNT)}
    assert len(some) == len(others) == 5
    assert some | others < whole
    assert some != others


def leaks_of(outcome: Outcome) -> list[str]:
    return [f"{one['item']} {one['how']}" for one in report_of(outcome)["settings"]["leaks"]]


def test_samples_that_were_trained_on_are_refused_or_told(played: dict[str, Outcome]) -> None:
    assert played["seen"].error == "eval.leak"
    assert "s42 in" in played["seen"].of("error")[0]["message"]
    assert leaks_of(played["allowed"]) == ["s42 the same question"]
    assert "1 of 12 items stand in" in (played["allowed"].run / "artifacts" / "report" / "summary.md").read_text()
    assert leaks_of(played["same file"]) == []
    assert played["same sample"].error == "eval.leak"
    assert "a-grpo: sample s43 (the same sample)" in played["same sample"].of("error")[0]["message"]
    assert played["other file"].error == "eval.leak"
    assert "(the same question)" in played["other file"].of("error")[0]["message"]


def test_what_can_not_be_read_is_unknown_and_not_clean(played: dict[str, Outcome]) -> None:
    warned = [e["message"] for e in played["unknown"].of("warning") if e["code"] == "eval.leak_unknown"]
    assert ["a-sft" in warned[0], "a-grpo" in warned[1]] == [True, True]


def test_tools_are_offered_where_the_form_of_a_call_is_known(played: dict[str, Outcome]) -> None:
    assert len(items_of(played["tools known"])) == COUNT
    told = report_of(played["tools known"])["models"][0]["prompts_digest"]
    assert told != report_of(played["greedy 8"])["models"][0]["prompts_digest"]


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("tools", "task.tools", "knows no format of tool calls"),
        ("no template", "template.missing", "no chat template"),
        ("long prompt", "eval.too_long", "of 24 that the task lets it have"),
        ("no room", "eval.too_long", "short has 128 positions, and the task lets an episode have 200"),
        ("no task", "task.failed", "gone.py"),
        ("other option", "task.failed", "did you mean 'count'"),
    ],
)
def test_what_can_not_be_played_is_refused_before_a_model_is_loaded(
    played: dict[str, Outcome], name: str, code: str, words: str
) -> None:
    assert played[name].error == code
    assert words in played[name].of("error")[0]["message"]
    assert [e["state"] for e in played[name].of("state")] == ["loading"]
