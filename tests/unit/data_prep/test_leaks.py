"""Rows of an evaluation in the training data are found by their prompt and by what they share, and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Write

    from .conftest import Prepare

LONG = "a train leaves the station at noon and another one leaves an hour later at twice the speed"


def test_an_evaluation_is_kept_out(write: Write, make: Prepare) -> None:
    asked = [{"question": "What is 2 + 2?", "answer": "4"}, {"question": LONG, "answer": "at two"}]
    evaluation = write("eval.jsonl", asked)
    rows = [
        {"prompt": "what  is 2 + 2?", "completion": "four"},
        {"prompt": "Tell me a story", "completion": f"Once {LONG.upper()}, and so on"},
        {"prompt": "What is 2 + 3?", "completion": "5"},
        {"prompt": " ".join(LONG.split()[:12]), "completion": "shares twelve words only"},
    ]
    made = make(write("d.jsonl", rows), against=(evaluation,))
    assert made.ledger() == [("d.jsonl:1", "dropped", "leak_exact"), ("d.jsonl:2", "dropped", "leak_words")]
    told = [json.loads(line)["what"] for line in (made.folder / "ledger.jsonl").read_text().splitlines()]
    assert told[0] == "its prompt is that of eval.jsonl:1"
    assert told[1].startswith("shares 13 words with eval.jsonl:2: 'a train leaves the station")
    assert [source.name for source in made.manifest.against] == ["eval.jsonl"]
    assert make(write("d.jsonl", rows), "longer", against=(evaluation,), run=50).manifest.counts.kept == 3


def test_a_held_out_split_of_the_source_is_kept_out_of_train(write: Write, make: Prepare, work: Path) -> None:
    write("set/train.jsonl", [{"prompt": f"question {n}", "completion": f"{n}"} for n in range(20)])
    write("set/test.jsonl", [{"prompt": f"Question  {n}", "completion": "other"} for n in range(15, 25)])
    made = make(work / "set")
    assert {split: each.rows for split, each in made.manifest.splits.items()} == {"train": 15, "test": 10}
    assert made.manifest.counts.dropped == {"leak_exact": 5}


def test_many_processes_find_the_same(write: Write, make: Prepare) -> None:
    rows = [{"prompt": f"question {n}", "completion": "word " * 300} for n in range(3000)]
    evaluation = write("eval.jsonl", [{"prompt": f"question {n}", "answer": "x"} for n in range(0, 3000, 7)])
    path = write("d.jsonl", rows)
    one, many = (make(path, name, against=(evaluation,), processes=n) for name, n in (("one", 1), ("many", 2)))
    assert one.manifest.counts.dropped == {"leak_exact": 429}
    assert (one.folder / "ledger.jsonl").read_bytes() == (many.folder / "ledger.jsonl").read_bytes()
