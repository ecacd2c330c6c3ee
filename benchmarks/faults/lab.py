"""Where faults are tried: folders, the quickstart's model and rows, post-train as a process."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from orchestrator.cli import main
from orchestrator.cli import stage as _stage  # noqa: F401  (imported once, for all children)

QUICKSTART = Path(__file__).resolve().parents[2] / "recipes" / "quickstart"
Row = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """How a command ended: exit code, stdout and stderr, seconds."""

    code: int
    text: str
    seconds: float

    @property
    def messages(self) -> list[str]:
        """Lines of errors and findings, without the plan around them."""
        lines = self.text.splitlines()
        start = next((n for n, line in enumerate(lines) if line.startswith("error:")), len(lines))
        found = [line for line in lines[:start] if re.match(r"\s*(error|advice|warning|note) \[", line)]
        return [line.strip() for line in [*found, *lines[start:]]]


@dataclass
class Lab:
    """One place for all faults; everything is written below `root`."""

    root: Path
    _numbers: Any = field(default_factory=itertools.count)
    _done: dict[tuple[str, ...], Said] = field(default_factory=dict)

    def folder(self) -> Path:
        """A new one."""
        made = self.root / f"{next(self._numbers):03d}"
        made.mkdir(parents=True)
        return made

    def model(self) -> Path:
        """A copy of the tiny model, to be damaged."""
        return Path(shutil.copytree(QUICKSTART / "model", self.folder() / "model"))

    def file(self, name: str, content: str | bytes) -> str:
        """A file in a folder of its own."""
        path = self.folder() / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def rows(self, rows: list[Row], name: str = "rows.jsonl") -> str:
        """A JSONL file."""
        return self.file(name, "".join(json.dumps(row) + "\n" for row in rows))

    def recipe(self, stage: Row) -> list[str]:
        """argv that plans a recipe of one stage."""
        return ["run", self.file("recipe.yaml", json.dumps({"name": "fault", **stage})), "--dry-run"]

    def run(self, words: list[str]) -> Said:
        """post-train with these words; the same words are run once."""
        key = tuple(words)
        if key not in self._done:
            self._done[key] = self._run(words)
        return self._done[key]

    def _run(self, words: list[str]) -> Said:
        """In a child of this process, which has the imports done already: seconds are those of the command itself."""
        said, began = self.folder() / "said.txt", time.monotonic()
        child = os.fork()
        if child == 0:
            self._become(words, said)
        _, status = os.waitpid(child, 0)
        return Said(os.waitstatus_to_exitcode(status), said.read_text(encoding="utf-8"), time.monotonic() - began)

    def _become(self, words: list[str], said: Path) -> NoReturn:
        """post-train, writing to a file."""
        file = os.open(said, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.environ |= {"POST_TRAIN_RUNS": str(self.root / "runs"), "COLUMNS": "2000", "NO_COLOR": "1"}
        sys.argv = ["post-train", *words]
        code: object = 70
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 1)

    def made(self, *words: str) -> Path:
        """The folder of a run that is made now and must succeed."""
        said = self._run([*words, "--json"])
        if said.code:
            sys.exit(f"post-train {' '.join(words)}\n{said.text}")
        text = said.text[said.text.index("[") : said.text.rindex("]") + 1]
        return Path(json.loads(text)[-1]["folder"])


def chat(question: str = "What is 3 + 4?", answer: str = "7") -> Row:
    """A row for sft."""
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}


CHATS = [chat(f"What is {n} + 4?", str(n + 4)) for n in range(40)]
PROMPTS = [{"prompt": row["messages"][:1], "answer": row["messages"][1]["content"]} for row in CHATS]
PAIRS = [
    {"prompt": row["prompt"], "chosen": chat()["messages"][1:], "rejected": chat("", "8")["messages"][1:]}
    for row in PROMPTS
]
HELD_OUT = [{"prompt": [{"role": "user", "content": f"What is {n} + 5?"}], "answer": str(n + 5)} for n in range(40)]
