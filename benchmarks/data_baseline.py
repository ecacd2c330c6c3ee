"""The work of `post-train data prepare` on ShareGPT rows, done with `datasets`: for benchmarks.data_prep.

Converts, checks and hashes every row, leaves out repeated ones, divides by a hash of the prompt, writes JSON lines and
digests what it read and wrote. Runs in an environment with `datasets`: python data_baseline.py FILE FOLDER PROCESSES
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

ROLES = {"human": "user", "gpt": "assistant", "system": "system"}
HELD = 0.05


def convert(row: dict[str, Any]) -> dict[str, Any]:
    """Canonical turns, the reason why a row is at fault, its digest and its place between 0 and 1."""
    turns = [{"role": ROLES.get(t["from"], ""), "content": t["value"] or ""} for t in row["conversations"]]
    asked = "\x1f".join(turn["content"] for turn in turns[:1])
    text = "\x1e".join(f"{turn['role']}\x1f{turn['content']}" for turn in turns)
    place = hashlib.blake2b(" ".join(asked.casefold().split()).encode(), digest_size=8).digest()
    return {
        "messages": turns,
        "fault": fault(turns),
        "digest": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
        "place": int.from_bytes(place, "big") / 2**64,
    }


def fault(turns: list[dict[str, str]]) -> str:
    """Roles in order, no empty turn, an answer at the end."""
    before = ""
    for turn in turns:
        if not turn["role"] or not turn["content"].strip():
            return "turn"
        if turn["role"] == before or (turn["role"] == "assistant" and before != "user"):
            return "order"
        before = turn["role"]
    return "" if before == "assistant" else "answer"


def main() -> None:
    """Prepare a file into a folder."""
    from datasets import load_dataset

    source, folder, processes = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    rows = load_dataset("json", data_files=str(source), split="train", cache_dir=str(folder / "cache"))
    rows = rows.map(convert, remove_columns=rows.column_names, num_proc=processes if processes > 1 else None)
    seen: set[str] = set()
    faults, digests = rows["fault"], rows["digest"]
    kept = [n for n, (bad, digest) in enumerate(zip(faults, digests, strict=True)) if not bad and first(digest, seen)]
    rows = rows.select(kept)
    places = rows["place"]
    for name, held in (("train", False), ("validation", True)):
        part = rows.select([n for n, place in enumerate(places) if (place < HELD) is held]).select_columns("messages")
        part.to_json(folder / f"{name}.jsonl", num_proc=processes if processes > 1 else None)
    files = [source, *sorted(folder.glob("*.jsonl"))]
    print({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})


def first(digest: str, seen: set[str]) -> bool:
    """Whether a digest is new."""
    if digest in seen:
        return False
    seen.add(digest)
    return True


if __name__ == "__main__":
    main()
