"""post-train tasks."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.tasks.loading import shipped

if TYPE_CHECKING:
    from tests.conftest import Cli

FLAT = """\
from orchestrator.tasks import *
class Env(Environment):
    def __init__(self, sample): pass
    async def init(self): return Opening([{'role': 'user', 'content': 'x'}])
    async def step(self, message): return Reply(done=True)
async def score(episode): return 1.0
def task(): return Task('flat', [Sample('a', {})], [Sample('b', {'n': 1})], Env, [Reward('one', score)])
"""


def test_list_names_what_comes_along(cli: Cli) -> None:
    assert [row["name"] for row in cli("tasks", "list", "--json").json] == list(shipped())
    assert "qa" in cli("tasks", "list").out


def test_a_new_file_works_at_once_and_is_never_overwritten(cli: Cli, work: Path) -> None:
    cli("tasks", "new", "my_task.py")
    played = cli("tasks", "try", "my_task.py", "--samples", "3", "--json").json
    assert [one["total"] for one in played] == [1.0] * 3
    assert played[0]["sample"]["id"].startswith("my_task.jsonl:")
    assert "no problem found" in cli("tasks", "check", "my_task.py").out
    assert "there already" in cli("tasks", "new", "my_task", code=6).err


def test_try_prints_messages_and_rewards(cli: Cli) -> None:
    said = cli("tasks", "try", "alphabet_sort", "--policy", "garbage", "--samples", "1").out
    assert re.search(r"user +Sort these names", said)
    assert "reward 0 (order 0)" in said
    assert "no policy" in cli("tasks", "try", "qa", "--policy", "clever", code=2).err


def test_check_ends_with_5_when_nothing_would_be_learned(cli: Cli, work: Path) -> None:
    (work / "flat.py").write_text(FLAT)
    assert "error" not in cli("tasks", "check", "flat.py").out
    sound = cli("tasks", "check", "qa", "--json").json
    assert (sound["rewards"]["reference"], sound["rewards"]["garbage"], sound["problems"]) == (1.0, 0.0, [])
    (work / "flat.py").write_text(FLAT.replace("return Reply(done=True)", "raise KeyError('k')"))
    assert "flat.py:5" in cli("tasks", "check", "flat.py", code=5).out
    (work / "flat.py").write_text(FLAT.replace("score)])", "score)], reference=lambda s: None)"))
    assert "the reference policy of task 'flat' raised TypeError" in cli("tasks", "check", "flat.py", code=5).out


def test_options_reach_the_task_and_wrong_ones_are_refused(cli: Cli) -> None:
    one = cli("tasks", "try", "alphabet_sort", "--task-option", "turns=1", "--samples", "1", "--json").json[0]
    assert one["turns"] == 1
    assert "did you mean 'turns'" in cli("tasks", "check", "alphabet_sort", "--task-option", "turn=1", code=3).err
    assert "NAME=VALUE" in cli("tasks", "check", "qa", "--task-option", "data", code=2).err


def test_serve_answers_on_loopback(work: Path) -> None:
    argv = [sys.executable, "-m", "orchestrator", "tasks", "serve", "--port", "0"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as child:
        assert child.stdout is not None
        url = child.stdout.readline().split()[-1]
        with urllib.request.urlopen(urllib.request.Request(url, b'{"queries": ["Hask"]}'), timeout=20) as answer:
            assert b"Hask" in answer.read()
        assert "//127.0.0.1:" in url
        child.terminate()
