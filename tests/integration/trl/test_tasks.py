"""Tasks under TRL: the tokens that the loss sees, and real GRPO in one turn and in several."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orchestrator.harness import UNTRAINED_VARIABLE

from .conftest import HERE, MakeHand
from .hand import ROOT

pytestmark = pytest.mark.integration
QUICKSTART = ROOT / "recipes" / "quickstart" / "model"
COUNTING = '''\
"""Sums that may be tried twice; digits earn, words don't."""
from orchestrator.tasks import Environment, Generated, Limits, Opening, Reply, Reward, Sample, Task
from orchestrator.tasks.message import text, user

class Sums(Environment):
    def __init__(self, sample):
        self.asked, self.left = sample.data["q"], 2
    async def init(self):
        return Opening([user(self.asked)])
    async def step(self, message):
        self.left -= 1
        return Reply([] if not self.left else [user(self.asked)], done=not self.left)

async def digits(episode):
    said = "".join(text(message) for message in episode.said)
    return sum(letter.isdigit() for letter in said) / max(1, len(said))

async def spoke(episode):
    return float(episode.turns)

def sample(n):
    return Sample(f"s{n}", {"q": f"What is {n % 90 + 10}+{n * 7 % 90 + 10}"})

def task(*, count: int = 32):
    rewards = [Reward("digits", digits, 3.0), Reward("spoke", spoke)]
    return Task("counting", Generated(sample, range(count)), Generated(sample, range(count, count + 8)), Sums, rewards,
                Limits(max_turns=2, max_tokens=12, context=96))
'''


@pytest.fixture(scope="module")
def cases(python: str, model: Path) -> dict[str, Any]:
    env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    argv = [python, str(HERE / "speaker_cases.py"), str(model)]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_turns_are_the_tokens_of_one_rendering_and_only_the_models_count(cases: dict[str, Any]) -> None:
    turns = cases["turns"]
    assert turns["roles"] == ["user", "assistant"] * 3
    assert turns["text"] == turns["rendered"].rstrip("\n")
    assert turns["own"].count("<sorted>") == turns["own"].count("<|im_end|>") == 3
    assert "Now add" not in turns["own"]
    assert turns["even"]
    assert (turns["silent"], turns["end"]) == ([0.0], "done")


def test_episodes_share_their_generations(cases: dict[str, Any]) -> None:
    assert cases["together"]["sizes"] == [2, 2, 2]


def test_a_turn_without_an_end_and_a_full_context_end_the_episode(cases: dict[str, Any]) -> None:
    assert (cases["cut"]["end"], cases["cut"]["roles"]) == ("tokens", ["user", "assistant"])
    assert cases["full"]["end"] == "tokens"
    assert cases["full"]["roles"][-1] in ("user", "assistant")


def test_tools_are_called_and_their_results_are_not_the_models(cases: dict[str, Any]) -> None:
    tools = cases["tools"]
    assert tools["roles"] == ["system", "user", "assistant", "tool", "assistant"]
    assert tools["own"].startswith("<tool_call>")
    assert tools["own"].endswith("<answer>Hask</answer><|im_end|>")
    assert "largest town is" in tools["text"]
    assert "largest town is" not in tools["own"]
    assert '"name": "search"' in tools["text"].partition("<|im_start|>user")[0], "the tool is told in the system turn"
    assert cases["bad_call"]["end"] == "done"


def test_commands_of_the_models_run_in_the_sandbox_of_the_engines_environment(cases: dict[str, Any]) -> None:
    sandbox = cases["sandbox"]
    if "missing" in sandbox:
        pytest.skip(sandbox["missing"])
    assert sandbox["roles"] == ["system", "user", "assistant", "tool", "assistant"]
    assert "data.csv" in sandbox["text"].rpartition("<tool_response>")[2]
    assert [round(given["grade"], 2) for given in sandbox["given"]] == [0.2, 0.2]


def test_what_would_train_on_other_tokens_is_refused(cases: dict[str, Any]) -> None:
    assert cases["rewrites"] == {"code": "task.template"}
    assert cases["no_tools"] == {"code": "task.tools"}


def test_the_template_task_runs_in_one_turn_and_rewards_what_was_said(make_hand: MakeHand, tmp_path: Path) -> None:
    answers = {f"What is {n}+{n + 5}": f"it is {2 * n + 5}" for n in range(10, 60)}
    rows = [{"question": question, "answer": answer} for question, answer in answers.items()]
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    hand = make_hand(
        "grpo",
        "lora",
        base=QUICKSTART,
        max_steps=2,
        batch_size=16,
        _data={"train": None},
        _task={"name": "qa", "options": {"data": str(tmp_path / "rows.jsonl"), "max_tokens": 16}},
        _rl={"reward": [], "max_completion_length": 16},
        eval_steps=2,
    )
    hand.env[UNTRAINED_VARIABLE] = "1"  # this model can be right every time, and then nothing is to be learned
    outcome = hand.run()
    assert outcome.code == 0, outcome.log
    assert outcome.metric("task/turns") == [1.0, 1.0]
    for sample in outcome.of("sample"):
        right = sample["completion"].strip() == answers[sample["prompt"]]
        assert sample["rewards"] == {"exact": float(right)}


def test_a_task_of_several_turns_trains_and_its_reward_rises(make_hand: MakeHand, tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(COUNTING)
    outcome = make_hand(
        "grpo",
        "lora",
        base=QUICKSTART,
        max_steps=8,
        batch_size=32,
        max_length=96,
        _data={"train": None},
        _task={"name": str(tmp_path / "counting.py"), "options": {}},
        _rl={"reward": [], "max_completion_length": 12, "num_generations": 8, "beta": 0.0},
    ).run()
    assert outcome.code == 0, outcome.log
    earned = outcome.metric("rewards/digits/mean")
    assert sum(earned[-2:]) > sum(earned[:2])
    assert max(outcome.metric("task/turns")) > 1
    assert outcome.of("sample")[0]["rewards"].keys() == {"digits", "spoke"}


def test_a_task_that_fails_is_told_with_its_line(make_hand: MakeHand, tmp_path: Path) -> None:
    broken = COUNTING.replace("self.left -= 1", "raise KeyError('k')")
    (tmp_path / "counting.py").write_text(broken)
    outcome = make_hand(
        "grpo",
        "lora",
        base=QUICKSTART,
        batch_size=8,
        _data={"train": None},
        _task={"name": str(tmp_path / "counting.py"), "options": {}},
        _rl={"reward": [], "max_completion_length": 20},
    ).run()
    assert outcome.codes() == ["task.failed"]
    assert f"{tmp_path / 'counting.py'}:11" in outcome.of("error")[0]["message"]
