"""`post-train runs list` over many runs, with and without its index: python -m benchmarks.runs_list"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.clock import interleaved, program
from orchestrator import index, manifest
from orchestrator.backend import ModelRef
from orchestrator.manifest import Manifest
from orchestrator.recipe import Recipe, Value
from orchestrator.resolve import resolve


def main() -> None:
    """Make the runs, measure, print seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _fill(root, given.runs)
        listing = (program("post-train"), "runs", "list", "--runs", str(root))

        def without() -> tuple[str, ...]:
            (root / index.FILE).unlink(missing_ok=True)
            return listing

        times = interleaved({"no index yet": without, "index up to date": lambda: listing}, given.repetitions)
        print(f"post-train runs list, {given.runs:,} runs, {given.repetitions} repetitions")
        print("\n".join(one.line() for one in times))


def _fill(root: Path, count: int) -> None:
    """Manifests as a run of fifty steps leaves them."""
    text = json.dumps(_record().model_dump(mode="json", by_alias=True), indent=2)
    for number in range(count):
        (root / f"many-sft-{number:06d}").mkdir()
        one = text.replace('"id": "many"', f'"id": "many-sft-{number:06d}"')
        (root / f"many-sft-{number:06d}" / manifest.FILE).write_text(one, encoding="utf-8")


def _record() -> Manifest:
    settings: dict[str, Any] = {"stage": "sft", "name": "many", "model.path": "org/model", "data.train": "rows.jsonl"}
    spec = resolve(Recipe(None, "", None, ({k: Value(v, "flag") for k, v in settings.items()},)), 0, {})
    return Manifest(
        id="many",
        state="SUCCEEDED",
        created=manifest.now(),
        updated=manifest.now(),
        spec=spec.spec,
        start=ModelRef(label="base", path="org/model"),
        origins=spec.origins,
        fingerprint="0" * 64,
        metrics={"loss": 0.5, "learning_rate": 1e-4},
    )


if __name__ == "__main__":
    main()
