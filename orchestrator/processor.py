"""The processor preflight: a model's own processor run over prepared rows, in the environment of an engine."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import data_prep
from data_prep import lengths
from data_prep.manifest import DataManifest
from orchestrator import envs, hardware, process, registry
from orchestrator.errors import DataError, EnvironmentMissing
from orchestrator.events import EventReader

_PERIOD = 0.1
_SHOWN = 5


@dataclass
class Looked:
    """What the processor made of the rows.

    Attributes:
        processor: its class.
        faults: rows at fault by reason.
        first: the first of them, as `file:line: words`.
        pictures: how many were looked at, and `places` how many tokens they take.
        unknown: conversations whose pictures could not be counted, because the processor does not say what they take.
    """

    processor: str = ""
    rows: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    first: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    pictures: int = 0
    places: int = 0
    unknown: int = 0

    def summary(self) -> dict[str, Any]:
        """Everything but the single lengths."""
        shape = lengths.lengths(Counter(self.lengths), "") if self.lengths else None
        tokens = shape.model_dump(exclude={"tokenizer"}) if shape else None
        kept = ("processor", "rows", "faults", "first", "pictures", "places", "unknown")
        return {name: getattr(self, name) for name in kept} | {"tokens": tokens}

    def take(self, event: dict[str, Any]) -> None:
        """An event of the worker.

        Raises:
            DataError: the processor can't be loaded.
        """
        if event["type"] == "warning":
            self.faults[event["code"]] += 1
            if len(self.first) < _SHOWN:
                self.first.append(f"{event['where']}: {event['message']}")
        elif event["type"] == "result":
            for name in ("processor", "lengths", "pictures", "places", "unknown"):
                setattr(self, name, event[name])
        elif event["type"] == "error":
            raise DataError(f"the processor can't be loaded: {event['message']}", where=event["where"], fix=_FIX)


_FIX = "name the folder of a multimodal model with --model; what the engine lacks: post-train backends doctor NAME"


def python(backend: str, choice: str | None) -> Path:
    """The Python of an engine's environment.

    Raises:
        EnvironmentMissing: it is not installed, or can't be used.
    """
    found = envs.locate(backend, registry.load(backend).lock(), hardware.detect(), choice)
    if not found.ready:
        problem = found.problems[0] if found.problems else f"the environment of {backend} is not installed"
        raise EnvironmentMissing(problem, fix=f"post-train backends install {backend}")
    return found.python


def look(
    folder: Path,
    found: DataManifest,
    model: Path,
    interpreter: Path,
    tick: Callable[[int, int], None],
    *,
    sample: int | None = None,
    limit: int | None = None,
) -> Looked:
    """Run the processor of a model over the rows of a prepared folder.

    Args:
        tick: told of rows looked at, and of all of them.
        sample: look at about so many rows, evenly spread; all of them where it is None.
        limit: most tokens that a row may have.

    Raises:
        DataError: the processor can't be loaded, or its process dies.
    """
    total = sum(split.rows for split in found.splits.values())
    every = max(1, total // sample) if sample else 1
    looked, rows = Looked(rows=-(-total // every)), -(-total // every)
    with tempfile.TemporaryDirectory(prefix="post-train-") as name:
        place = Path(name)
        (place / "path").mkdir()
        (place / "path/data_prep").symlink_to(Path(data_prep.__file__).parent)
        request = {
            "folder": str(folder.absolute()),
            "files": [split.file for split in found.splits.values()],
            "model": str(model.absolute()),
            "out": str(place / "out.jsonl"),
            "limit": limit,
            "every": every,
        }
        (place / "request.json").write_text(json.dumps(request), encoding="utf-8")
        _stay(interpreter, place, looked, lambda step: tick(step, rows))
    return looked


def _stay(interpreter: Path, place: Path, looked: Looked, tick: Callable[[int], None]) -> None:
    """Start the worker, and take its events until it ends."""
    variables = {"PYTHONPATH": str(place / "path"), "PYTHONSAFEPATH": "1", "TRANSFORMERS_VERBOSITY": "error"}
    child = process.Child(
        [str(interpreter), "-m", "data_prep.worker_processor", str(place / "request.json")],
        cwd=place,
        env=process.clean_environment(variables),
        stdout=place / "stdout.log",
        stderr=place / "stderr.log",
    )
    reader, code = EventReader(place / "out.jsonl"), None
    try:
        while code is None:
            code = child.wait(_PERIOD)
            for event in reader.new():
                looked.take(event)
                if event["type"] == "step":
                    tick(event["step"])
    finally:
        child.kill()
    if code or not looked.processor:
        last = (place / "stderr.log").read_text(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise DataError(f"the processor's process ended with code {code}: {last[0]}", where=str(interpreter))
