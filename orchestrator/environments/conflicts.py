"""Known conflicts of an engine's packages, from `conflicts.toml` in the lock's folder, looked for in an interpreter."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packaging.specifiers import SpecifierSet

from orchestrator.backend import EnvLock
from orchestrator.environments import probe
from orchestrator.spec import Part

Level = Literal["problem", "difference"]


class Known(Part):
    """One entry of the file.

    Attributes:
        packages: each of these on its own.
        found: condition on the package; the file's head names them all.
        beside: conditions on further packages, all of which must hold.
        level: whether the environment can't be used, or should only be known about.
        message, fix: with places for `package`, `found`, `locked`, `why` and `python`.
    """

    packages: tuple[str, ...]
    found: str
    beside: dict[str, str] = {}
    level: Level
    message: str
    fix: str


class _File(Part):
    conflict: tuple[Known, ...] = ()


class Conflict(Part):
    """One that was seen. `found` is the version there; None for a missing package."""

    package: str
    found: str | None
    level: Level
    message: str
    fix: str


@dataclass(frozen=True)
class Place:
    """An interpreter, its packages, and what the lock wants there; distribution name -> version."""

    python: Path
    packages: Mapping[str, str]
    locked: Mapping[str, str]


def read(lock: EnvLock) -> tuple[Known, ...]:
    """The known conflicts; none where the folder has no `conflicts.toml`."""
    path = lock.folder / "conflicts.toml"
    return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).conflict if path.exists() else ()


def seen(lock: EnvLock, place: Place) -> list[Conflict]:
    """Those that are there, one a package. Imports what has to be tried, if it is installed."""
    told: dict[str, Conflict] = {}
    for known in read(lock):
        for name in known.packages:
            if name not in told and _fits(known, name, place):
                told[name] = _told(known, name, place)
    return list(told.values())


def _fits(known: Known, name: str, place: Place) -> bool:
    beside = all(_holds(condition, other, place) for other, condition in known.beside.items())
    return beside and _holds(known.found, name, place)


def _holds(condition: str, name: str, place: Place) -> bool:
    version = place.packages.get(name)
    if version is None or condition in ("missing", "present"):
        return condition == ("missing" if version is None else "present")
    if condition == "broken":
        return probe.broken(place.python, (name,)) is not None
    wanted, positive = condition.removeprefix("not "), not condition.startswith("not ")
    if wanted == "locked":
        return (version.partition("+")[0] == place.locked.get(name, "").partition("+")[0]) is positive
    if wanted.startswith("+"):
        return (version.partition("+")[2].partition(".")[0] == wanted[1:]) is positive
    return SpecifierSet(condition).contains(version, prereleases=True)


def _told(known: Known, name: str, place: Place) -> Conflict:
    version = place.packages.get(name)
    words = {
        "package": name,
        "found": version,
        "locked": place.locked.get(name, "VERSION"),
        "python": place.python,
        "why": probe.broken(place.python, (name,)) if known.found == "broken" else "",
    }
    message, fix = (text.format_map(words) for text in (known.message, known.fix))
    return Conflict(package=name, found=version, level=known.level, message=message, fix=fix)
