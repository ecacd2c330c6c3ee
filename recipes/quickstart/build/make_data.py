"""Write the quickstart's four data files, the same bytes every time.

    python make_data.py ../data

sft.jsonl          demonstrations: a question and its right answer
prompts.jsonl      questions for GRPO, with the answer in a column that the reward reads
preferences.jsonl  questions with a right answer and a wrong one, for DPO
held_out.jsonl     every held-out sum, for measuring; none of them is in the files above
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

from sums import Sum, sums

Row = dict[str, Any]

ROWS = 3000
SLIPS = (-100, -10, -1, 1, 10)
"""A lost carry or a digit that is off by one: the mistakes a model makes that nearly can."""


def demonstration(one: Sum) -> Row:
    """A row for SFT."""
    return {"messages": [*asked(one), reply(one.answer)]}


def prompt(one: Sum) -> Row:
    """A row for GRPO or evaluation."""
    return {"prompt": asked(one), "answer": one.answer}


def preference(one: Sum, rng: random.Random) -> Row:
    """A row for DPO; the rejected answer is a near miss, never negative."""
    total = one.left + one.right
    wrong = rng.choice([total + slip for slip in SLIPS if total + slip >= 0])
    return {"prompt": asked(one), "chosen": [reply(one.answer)], "rejected": [reply(str(wrong))]}


def asked(one: Sum) -> list[Row]:
    """The conversation up to the model's turn."""
    return [{"role": "user", "content": one.question}]


def reply(text: str) -> Row:
    """The model's turn."""
    return {"role": "assistant", "content": text}


def write(path: Path, rows: list[Row]) -> None:
    """One JSON object a line, with \\n on every system."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
    print(f"{path}: {len(rows)} rows, {path.stat().st_size:,} bytes")


def main() -> None:
    """Write all files. Each draws its own sums, so that a row in one says nothing about the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder to write into")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    rng, known = random.Random(0), sums(held_out=False)
    write(folder / "sft.jsonl", [demonstration(one) for one in rng.sample(known, ROWS)])
    write(folder / "prompts.jsonl", [prompt(one) for one in rng.sample(known, ROWS)])
    write(folder / "preferences.jsonl", [preference(one, rng) for one in rng.sample(known, ROWS)])
    write(folder / "held_out.jsonl", [prompt(one) for one in sums(held_out=True)])


if __name__ == "__main__":
    main()
