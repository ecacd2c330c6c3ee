"""Where packages come from on this machine: what pip is told, said to uv too, and who has a CPU build of torch.

No address of any registry is written here: the tools have their own, and users configure theirs.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import process

VARIABLE = "POST_TRAIN_FIND_LINKS"
_VERSION = re.compile(r"[^\s,]+")


@dataclass(frozen=True)
class Sources:
    """Folders or pages of wheels, the main index if it is not the default, further ones, a certificate file."""

    find_links: tuple[str, ...] = ()
    index: str | None = None
    extra: tuple[str, ...] = ()
    cert: str | None = None

    def for_pip(self) -> dict[str, str]:
        """pip's variables; it reads its own configuration, so it only has to hear of further places."""
        # a pip before 23.1 runs `setup.py install` without it, which leaves no record of what it installed
        told = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0", "PIP_USE_PEP517": "1"}
        return told | ({"PIP_FIND_LINKS": " ".join(self.find_links)} if self.find_links else {})

    def for_uv(self) -> dict[str, str]:
        """The same in uv's variables, where the user's own win. Not in an argv, which would show a password."""
        told = {
            "UV_FIND_LINKS": ",".join(self.find_links),
            "UV_DEFAULT_INDEX": self.index or "",
            "UV_INDEX": " ".join(self.extra),
            # pip takes the best version that any of its indexes has; the hashes say whether it is the right file
            "UV_INDEX_STRATEGY": "unsafe-best-match" if self.extra else "",
            "SSL_CERT_FILE": self.cert or "",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
        }
        return {
            key: value for key, value in told.items() if value and (key == "UV_FIND_LINKS" or key not in os.environ)
        }


def configured(find_links: str | None = None) -> Sources:
    """What pip is configured with, with `find_links` or the variable in front."""
    named = find_links or os.environ.get(VARIABLE)
    settings = _pip_settings()
    links = (
        _place(named) if named else "",
        *settings.get("find-links", "").split(),
        *os.environ.get("UV_FIND_LINKS", "").split(","),
    )
    return Sources(
        find_links=tuple(dict.fromkeys(filter(None, links))),
        index=settings.get("index-url"),
        extra=tuple(settings.get("extra-index-url", "").split()),
        cert=settings.get("cert"),
    )


def asked(find_links: str | None = None) -> bool:
    """Whether the user named a place for wheels, by flag or variable."""
    return bool(find_links or os.environ.get(VARIABLE))


def shown(places: Sequence[str]) -> str:
    """Places for a message, without the user and password that an address may hold."""
    return ", ".join(re.sub(r"//[^@/]*@", "//", place) for place in places)


def cpu_build(version: str, sources: Sources, asked: bool) -> str | None:
    """The full version of the CPU build of torch, such as `2.13.0+cpu`, if pip sees one for this Python.

    Without pip nobody can be asked; then the place that the user named is believed to have it.
    """
    pip = _pip()
    if pip is None:
        return f"{version}+cpu" if asked and plain_is_cuda() else None
    target = ("--python-version", f"{sys.version_info[0]}.{sys.version_info[1]}")
    outcome = process.run(
        (*pip, "index", "versions", "torch", *target), timeout=120, env=process.clean_environment(sources.for_pip())
    )
    line = next((text for text in outcome.out.splitlines() if text.startswith("Available versions:")), "")
    return next((v for v in _VERSION.findall(line) if v.startswith(f"{version}+cpu")), None)


def plain_is_cuda() -> bool:
    """Whether the main index's plain torch wheel is a CUDA build on this platform: so on Linux, not on macOS."""
    return platform.system() == "Linux"


def _place(named: str) -> str:
    """A folder's full path, as an address where blanks or commas would end it in a variable; pages as they are."""
    path = Path(named).expanduser().absolute()
    if not path.is_dir():
        return named
    return path.as_uri() if re.search(r"[\s,]", str(path)) else str(path)


def _pip() -> tuple[str, ...] | None:
    if importlib.util.find_spec("pip"):
        return (sys.executable, "-m", "pip")
    on_path = shutil.which("pip") or shutil.which("pip3")
    return (on_path,) if on_path else None


def _pip_settings() -> dict[str, str]:
    """pip's options by name; environment variables win over the `install` section, that over `global`, as in pip."""
    pip = _pip()
    outcome = process.run((*pip, "config", "list"), timeout=60, env=process.clean_environment({})) if pip else None
    found: dict[str, tuple[int, str]] = {}
    for line in outcome.out.splitlines() if outcome and outcome.code == 0 else ():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        rank = {":env:": 3, "install": 2, "global": 1}.get(section, 0)
        if rank > found.get(name, (0, ""))[0]:
            found[name] = (rank, str(ast.literal_eval(value)))
    return {name: value for name, (_, value) in found.items()}
