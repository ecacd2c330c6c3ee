"""What a lock pins, and how an interpreter's packages differ from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from orchestrator.backend import EnvLock

VARIANTS = ("cpu", "cuda")
"""Names of the locks, and of the `.in` files that go into one of them alone."""


@dataclass(frozen=True)
class Pin:
    """One exact version, and the interpreters it is for."""

    name: str
    version: str
    marker: Marker | None


def read(path: Path) -> list[Pin]:
    """The pins of a lock or requirements file; lines without `==` are left out."""
    text = re.sub(r"\\\n", " ", path.read_text(encoding="utf-8"))
    wanted = [Requirement(line) for line in map(_bare, text.splitlines()) if line]
    return [
        Pin(canonicalize_name(r.name), s.version, r.marker)
        for r in wanted
        for s in r.specifier
        if s.operator in ("==", "===")
    ]


def required(lock: EnvLock) -> list[str]:
    """Names that the engine can't do without: those of `requirements.in`."""
    return _names(lock.folder / "requirements.in")


def source_only(lock: EnvLock) -> list[str]:
    """Names that no index has a built wheel of: the lines of `source.txt`, where a lock needs any."""
    path = lock.folder / "source.txt"
    return [line for line in map(_bare, path.read_text(encoding="utf-8").splitlines()) if line] if path.exists() else []


def split(path: Path, names: Collection[str]) -> tuple[str, str]:
    """The text of a lock in two, hashes and all: without these names, and these names alone."""
    entries = re.split(r"^(?=[a-z0-9])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    apart = [re.split("[ =;]", entry, maxsplit=1)[0] in names for entry in entries]
    rest, chosen = ("".join(e for e, a in zip(entries, apart, strict=True) if a == side) for side in (False, True))
    return rest, chosen


def wanted_by(path: Path) -> dict[str, set[str]]:
    """Package -> the packages that require it, as a lock's `# via` comments say; a name in an .in file is `-r FILE`."""
    entries = re.split(r"^(?=[a-z0-9])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    told = {re.split("[ =;]", entry, maxsplit=1)[0]: entry.partition("# via")[2] for entry in entries}
    return {name: {line.strip(" #") for line in text.splitlines() if line.strip(" #")} for name, text in told.items()}


def named(lock: EnvLock) -> list[str]:
    """Names that a person wrote down for every variant: those of the `.in` files that aren't one variant's own."""
    files = (file for file in sorted(lock.folder.glob("*.in")) if file.stem not in VARIANTS)
    return [name for file in files for name in _names(file)]


def expected(lock: EnvLock, variant: str, markers: Mapping[str, str]) -> dict[str, str]:
    """Name -> version that the lock wants in an interpreter with these marker values."""
    torch = lock.folder / "torch.txt"
    files = [lock.folder / f"{variant}.lock", *([torch] if variant == "cpu" and torch.exists() else [])]
    found = [pin for file in files for pin in read(file)]
    return {p.name: p.version for p in found if p.marker is None or p.marker.evaluate(dict(markers))}


def differences(
    wanted: Mapping[str, str], found: Mapping[str, str], names: Iterable[str] | None = None
) -> dict[str, str]:
    """A line for each package that is missing or of another version; a build tag such as `+cpu` doesn't count."""
    lines = {}
    for name in wanted if names is None else [n for n in names if n in wanted]:
        if name not in found:
            lines[name] = f"{name} is missing; the lock has {wanted[name]}"
        elif found[name].split("+")[0] != wanted[name].split("+")[0]:
            lines[name] = f"{name} is {found[name]}; the lock has {wanted[name]}"
    return lines


def _names(file: Path) -> list[str]:
    lines = map(_bare, file.read_text(encoding="utf-8").splitlines())
    return [canonicalize_name(Requirement(line).name) for line in lines if line]


def _bare(line: str) -> str:
    """A requirement without comment and hashes."""
    return re.split(r"\s--hash=|(?:^|\s)#", line, maxsplit=1)[0].strip()
