"""The quickstart's reward: 1 for the exact answer, 0 for anything else. Copy this file and change the judgement.

GRPO samples several completions of each prompt, asks this function for one number each, and makes the better ones
likelier. Any file and any function name will do; a recipe names them as `./reward.py:exact_match`.
"""

from __future__ import annotations

from typing import Any


def exact_match(completions: list[Any], answer: list[str], **columns: object) -> list[float]:  # noqa: ARG001
    """Compare each completion with the answer in its row, outer white space aside.

    Args:
        completions: what the model wrote, one entry a sample: a string, or, where the prompt is a chat, a list of
            messages such as `[{"role": "assistant", "content": "116"}]`.
        answer: the column `answer` of the data, one entry a sample. Every column of the data arrives like this, under
            its own name: add a parameter to use it.
        columns: the rest: other columns, and `prompts`, `completion_ids` and `trainer_state` from the trainer.

    Returns:
        One number a completion; the higher, the better. Only differences within the samples of one prompt count.
    """
    return [float(text(told).strip() == wanted) for told, wanted in zip(completions, answer, strict=True)]


def text(completion: Any) -> str:
    """The words of a completion: the last message's, where it is a list of messages."""
    return completion if isinstance(completion, str) else str(completion[-1]["content"])
