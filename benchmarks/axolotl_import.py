"""Whether imported Axolotl configurations mean the same: python -m benchmarks.axolotl_import FOLDER --python PYTHON

Each file becomes a recipe, the recipe a native configuration for eight H100s; Axolotl reads that and the original, and
the two are compared key by key.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.axolotl_differences import Config, unexplained
from orchestrator import foreign, recipe, registry
from orchestrator.backend import Job, ModelRef
from orchestrator.errors import PostTrainError
from orchestrator.findings import Finding, errors
from orchestrator.hardware import Gpu, Machine
from orchestrator.resolve import resolve
from orchestrator.spec import RunSpec

ROOT = Path(__file__).resolve().parent.parent
H100 = Gpu(name="NVIDIA H100 80GB HBM3", memory=80 * 2**30, capability=9.0)
MACHINE = Machine(cores=128, memory=1024 * 2**30, gpus=(H100,) * 8)
_GROUPS = {
    "equal": "the same to Axolotl, before and after",
    "different": "not the same",
    "engine": "refused by Axolotl itself",
    "refused": "refused by the import",
}


@dataclass(frozen=True)
class Trip:
    """What became of one file.

    Attributes:
        group: equal, different, engine or refused.
        reason: the first line of why, empty where it is equal.
        native: the YAML that Axolotl would train from.
        left_out: keys that the import named as left out.
        checks: errors that the plan would stop at.
        ours: whether the rows are our own `data.train`.
    """

    name: str
    group: str = ""
    reason: str = ""
    native: str = ""
    left_out: tuple[str, ...] = ()
    checks: tuple[Finding, ...] = ()
    ours: bool = False


def main() -> None:
    """Compare, print the table and every file that is not equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=os.environ.get("POST_TRAIN_AXOLOTL_PYTHON"), help="Axolotl's Python.")
    given = parser.parse_args()
    if not given.python:
        parser.error("name Axolotl's Python: --python $(post-train backends path axolotl)")
    trips = compared(sorted(p for p in given.folder.rglob("*") if p.suffix in (".yml", ".yaml")), given.python)
    print("\n".join(table(trips)))


def compared(files: Iterable[Path], python: str) -> list[Trip]:
    """Send every file round, and have Axolotl read both ends in one process."""
    trips = {str(path): there(path) for path in files}
    asked = [{"name": f"before {name}", "text": Path(name).read_text("utf-8-sig")} for name in trips]
    asked += [{"name": f"after {name}", "text": trip.native} for name, trip in trips.items() if trip.native]
    answers = {answer["name"]: answer for answer in _normalised(asked, python)}
    return [_judged(trip, answers[f"before {name}"], answers.get(f"after {name}")) for name, trip in trips.items()]


def there(path: Path) -> Trip:
    """One file as a recipe, and the recipe as Axolotl's configuration."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "recipe.yaml"
        try:
            converted = foreign.convert(path, written.parent, None, None)
        except PostTrainError as error:
            return Trip(str(path), "refused", (error.details or (error.what,))[0])
        written.write_text(converted.text, encoding="utf-8")
        spec = resolve(recipe.read(written), 0, {}).spec
    backend, job = registry.load(spec.backend), _job(spec, path)
    native = backend.materialize(spec, job).files[0].content
    left = tuple(one.key for one in converted.imported.left_out)
    checks = tuple(errors(backend.check(spec, job)))
    return Trip(str(path), native=native, left_out=left, checks=checks, ours=spec.data.train is not None)


def _job(spec: RunSpec, path: Path) -> Job:
    model = ModelRef(
        label="base",
        path=spec.model.path or "",
        revision=spec.model.revision,
        trust_remote_code=spec.model.trust_remote_code,
    )
    form = "messages" if spec.data.train else None
    return Job(run_dir=path.parent / "run", model=model, machine=MACHINE, form=form)


def _normalised(asked: list[dict[str, str]], python: str) -> list[Config]:
    variables = {"HF_HUB_OFFLINE": "1", "AXOLOTL_DO_NOT_TRACK": "1", "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    outcome = subprocess.run(
        [python, str(ROOT / "benchmarks" / "axolotl_normalise.py")],
        input="".join(json.dumps(one) + "\n" for one in asked),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | variables,
    )
    if outcome.returncode:
        raise SystemExit(f"Axolotl's Python failed:\n{outcome.stderr[-2000:]}")
    return [json.loads(line) for line in outcome.stdout.splitlines()]


def _judged(trip: Trip, before: Config, after: Config | None) -> Trip:
    if "refused" in before:
        return replace(trip, group="engine", reason=_first(before["refused"]))
    if after is None:
        return trip
    if "refused" in after:
        return replace(trip, group="different", reason=f"Axolotl refuses it afterwards: {_first(after['refused'])}")
    wrong = unexplained(before["config"], after["config"], trip.left_out)
    words = "; ".join(f"{one.key}: {one.before!r} -> {one.after!r}" for one in wrong)
    return replace(trip, group="different" if wrong else "equal", reason=words)


def _first(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return " ".join(lines[1:3] if "validation error" in lines[0] else lines[:1])[:200]


def table(trips: list[Trip]) -> list[str]:
    """Counts, then each file that is not equal, then what the plan's checks refuse among those that are."""
    counts = Counter(trip.group for trip in trips)
    able = counts["equal"] + counts["different"]
    lines = [f"{counts[group]:4}  {group:<10} {words}" for group, words in _GROUPS.items()]
    lines.append(f"{len(trips):4}  files; {counts['equal']} of {able} that both take are equal")
    lines += [f"{t.group:<10} {t.name}: {t.reason}" for t in trips if t.group != "equal"]
    lines += [f"checks     {t.name}: {f.code}: {f.message}" for t in trips if t.group == "equal" for f in t.checks]
    return lines


if __name__ == "__main__":
    main()
