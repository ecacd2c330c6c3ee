"""RL tasks: samples, an environment, rewards. The same file serves every engine and eval. Standard library only.

A task file needs what is exported here, `message` to write messages and read tool calls, `policies` for its reference.
`post-train tasks new my_task.py` writes one to start from.
"""

from orchestrator.tasks.environment import Environment, Opening, Reply
from orchestrator.tasks.episode import Episode
from orchestrator.tasks.loading import load
from orchestrator.tasks.message import Message, Tool
from orchestrator.tasks.order import Order
from orchestrator.tasks.playing import OutOfTokens, Policy, play
from orchestrator.tasks.reward import Reward, Scores, judge
from orchestrator.tasks.rows import read_rows, split
from orchestrator.tasks.sample import Generated, Sample, Split
from orchestrator.tasks.task import Limits, Task

__all__ = [
    "Environment",
    "Episode",
    "Generated",
    "Limits",
    "Message",
    "Opening",
    "Order",
    "OutOfTokens",
    "Policy",
    "Reply",
    "Reward",
    "Sample",
    "Scores",
    "Split",
    "Task",
    "Tool",
    "judge",
    "load",
    "play",
    "read_rows",
    "split",
]
