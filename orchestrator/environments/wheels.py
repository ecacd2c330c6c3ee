"""Wheels made for another Python: uv takes a file from the first index that has the version, fitting best or not.

A wheel tagged `py310` is allowed on 3.11, and a lock has the hashes of all of them. Some packages, multiprocess among
them, publish one wheel for each Python, whose code fails on another one.
"""

from __future__ import annotations

import json
from pathlib import Path

from orchestrator import process

_LOOK = """
import json, re, sys
from importlib import metadata
own, found = f"py3{sys.version_info[1]}", []
for dist in metadata.distributions():
    tags = re.findall(r"^Tag: (py3\\d+)-none-any", dist.read_text("WHEEL") or "", re.MULTILINE)
    if tags and own not in tags:
        found.append(re.sub(r"[-_.]+", "-", dist.metadata["Name"]).lower())
print(json.dumps(sorted(found)))
"""


def foreign(python: Path) -> list[str]:
    """Distributions whose wheel names another Python only."""
    outcome = process.run(
        (str(python), "-E", "-c", _LOOK), timeout=60, cwd=python.parent, env=process.clean_environment({})
    )
    found: list[str] = json.loads(outcome.out) if outcome.code == 0 else []
    return found


def again(python: Path, requirements: Path) -> list[tuple[str, ...]]:
    """argvs that install these once more with pip, which takes the file that fits best, from whichever index."""
    pip = (str(python), "-m", "pip", "install", "--only-binary", ":all:", "--no-input", "--progress-bar", "off")
    exact = ("--force-reinstall", "--no-deps", "--require-hashes", "-r", str(requirements))
    return [(str(python), "-m", "ensurepip"), (*pip, *exact)]
