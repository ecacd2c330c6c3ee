"""Seconds that `post-train sft` adds to the same TRL training by hand: python -m benchmarks.overhead [--env PYTHON]

Both train the same model on the same rows with the same settings, in the same environment, from start to saved
adapter. The difference is what checks, digests, events and the second process cost.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import environment
from benchmarks.clock import compare, interleaved, program

ROOT = Path(__file__).resolve().parent.parent
QUICKSTART = ROOT / "recipes" / "quickstart"
HAND = str(Path(__file__).with_name("hand_sft.py"))
WEIGHTS = "adapter/adapter_model.safetensors"


@dataclass(frozen=True)
class Contest:
    """One training, two ways. `folder`: everything is written below it."""

    folder: Path
    python: Path
    model: Path
    data: Path
    steps: int
    numbers: Iterator[int]

    def ours(self, *more: str) -> list[str]:
        """argv of post-train."""
        words = ["sft", "--backend", "trl", "--env", str(self.python), "--runs", str(self.folder / "runs"), "--json"]
        given = ["--model", str(self.model), "--data", str(self.data), "--max-steps", str(self.steps), "--name", "it"]
        return [program("post-train"), *words, *given, "--set", "hardware.threads=1", *more]

    def hand(self) -> list[str]:
        """argv of the script, with the variables that post-train gives its worker."""
        output = self.folder / f"hand-{next(self.numbers)}"
        variables = [f"{key}={value}" for key, value in self.native["launch"]["env"].items()]
        return ["env", *variables, str(self.python), HAND, str(self.folder / "native.yaml"), str(output)]

    @property
    def native(self) -> dict[str, Any]:
        """The native part of the plan, as `plan` shows it."""
        found: dict[str, Any] = json.loads((self.folder / "native.json").read_bytes())
        return found

    def prepare(self) -> None:
        """Write the plan's native file where the script finds it."""
        done = subprocess.run(self.ours("--dry-run"), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        native = json.loads(done.stdout)[0]["native"]
        (self.folder / "native.json").write_text(json.dumps(native), encoding="utf-8")
        (self.folder / "native.yaml").write_text(native["files"][0]["content"], encoding="utf-8")

    def same(self) -> bool:
        """Whether every repetition of both ways made the same adapter, to the bit."""
        made = (*self.folder.glob(f"runs/it-*/artifacts/{WEIGHTS}"), *self.folder.glob(f"hand-*/{WEIGHTS}"))
        return len({path.read_bytes() for path in made}) == 1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", help="Python or folder of the environment; default: the one from the lock")
    parser.add_argument("--model", type=Path, default=QUICKSTART / "model")
    parser.add_argument("--data", type=Path, default=QUICKSTART / "data" / "sft.jsonl")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python, model, data = environment.python("trl", given.env), given.model.absolute(), given.data.absolute()
        contest = Contest(Path(folder), python, model, data, given.steps, itertools.count())
        contest.prepare()
        times = interleaved({"post-train sft": contest.ours, "TRL by hand": contest.hand}, given.repetitions)
        print(f"{given.repetitions} repetitions, interleaved; {given.steps} steps; {model.name} on {data.name}")
        print(compare(times))
        print(f"the adapters are {'the same to the bit' if contest.same() else 'not the same'}")


if __name__ == "__main__":
    main()
