"""Prints, as JSON, how a tokenizer's answers begin and end: read_answers.py MODEL_FOLDER ANSWER."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from backends.trainer.prompts import reader


def main(folder: Path, answer: str) -> None:
    made = reader(folder, None, trust=False, options={})
    ids = made.tokenizer(answer, add_special_tokens=False)["input_ids"]
    ends = sorted(made.tokenizer.convert_ids_to_tokens(list(made.ends)))
    print(json.dumps({"ends": ends, "proper": made.text(made.proper(ids)), "text": made.text(ids)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
