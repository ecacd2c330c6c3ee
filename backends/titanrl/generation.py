"""Which API of TitanRL an environment holds: seen from its files and versions, without importing any of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backends.titanrl import registry_030, registry_2026_09, registry_2026_10
from backends.titanrl.settings import Titan
from backends.titanrl.values import Choice
from orchestrator.backend import Job
from orchestrator.spec import RunSpec

RELEASE = "0.3.0"


@dataclass(frozen=True)
class Generation:
    """One API.

    Attributes:
        name: as `native.api` says it.
        models: kinds of model that it has, by `model_type`.
        there, gone: files below `torchtitan/` that it has, and that only others have.
        text: the config registry in its words.
    """

    name: str
    models: frozenset[str]
    there: tuple[str, ...]
    gone: tuple[str, ...]
    text: Callable[[RunSpec, Job, Titan, Choice], str]

    def fits(self, package: Path) -> bool:
        """Whether a `torchtitan` folder is of this generation."""
        has = [(package / name).exists() for name in self.there]
        return all(has) and not any((package / name).exists() for name in self.gone)


GENERATIONS = (
    Generation(
        RELEASE,
        registry_030.MODELS,
        ("experiments/rl/train.py", "experiments/rl/actors/trainer.py", "components/optimizer/optimizer.py"),
        ("rl/train.py",),
        registry_030.text,
    ),
    Generation(
        "2026-09",
        registry_2026_09.MODELS,
        ("rl/train.py", "rl/distributed/parallelism.py", "components/optimizer"),
        ("config/loader.py",),
        registry_2026_09.text,
    ),
    Generation(
        "2026-10",
        registry_2026_10.MODELS,
        ("rl/train.py", "config/loader.py", "components/optim", "rl/components/data.py"),
        (),
        registry_2026_10.text,
    ),
)


def of(titan: Titan, job: Job) -> Generation | None:
    """The one that the recipe names, else the one in the environment; the lock's while nothing is installed.

    None where what is installed is none of them: the files decide, and where they can't be seen the version.
    """
    name = titan.api if titan.api != "auto" else _installed(job)
    return next((one for one in GENERATIONS if one.name == name), None)


def having(kind: str) -> list[str]:
    """Generations that have a kind of model."""
    return [one.name for one in GENERATIONS if kind in one.models]


def _installed(job: Job) -> str | None:
    version = (job.packages or {}).get("torchtitan")
    if version is None:
        return RELEASE
    for package in _folders(job.python):
        return next((one.name for one in GENERATIONS if one.fits(package)), None)
    return RELEASE if version == RELEASE else None


def _folders(python: Path | None) -> list[Path]:
    return sorted(python.parent.parent.glob("lib/python3*/site-packages/torchtitan")) if python else []
