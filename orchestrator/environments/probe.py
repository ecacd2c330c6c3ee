"""A look at an interpreter: its version, its platform, its packages."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import process
from orchestrator.errors import EnvironmentMissing

_LOOK = """
import json, os, platform, re, sys
from importlib import metadata
found = {}
for dist in metadata.distributions():
    name = dist.metadata["Name"]
    if name:
        found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), dist.version)
markers = {
    "implementation_name": sys.implementation.name, "os_name": os.name, "sys_platform": sys.platform,
    "implementation_version": platform.python_version(), "python_full_version": platform.python_version(),
    "python_version": ".".join(platform.python_version_tuple()[:2]),
    "platform_machine": platform.machine(), "platform_python_implementation": platform.python_implementation(),
    "platform_system": platform.system(),
    "platform_release": platform.release(), "platform_version": platform.version(),
}
print(json.dumps({"markers": markers, "packages": found}))
"""

_IMPORT_LIMIT = 600.0

IMPORTS = """
import importlib, sys, traceback
from importlib import metadata
failed = False
for name in sys.argv[1:]:
    files = metadata.distribution(name).files or []
    packages = {f.parts[0] for f in files if len(f.parts) == 2 and f.name == "__init__.py"}
    modules = packages | {f.stem for f in files if len(f.parts) == 1 and f.suffix == ".py"}
    own = name.replace("-", "_")
    for module in sorted({own} & modules or modules):
        print("import", module, flush=True)
        try:
            importlib.import_module(module)
        except BaseException:
            traceback.print_exc(limit=1)
            failed = True
sys.exit(failed)
"""
"""Imports the top-level module of each distribution named on the command line; exit code 1 when one fails."""


@dataclass(frozen=True)
class Look:
    """What was found: marker values as in PEP 508, distribution name -> version."""

    markers: dict[str, str]
    packages: dict[str, str]

    @property
    def python(self) -> str:
        """Version, e.g. 3.11.7."""
        return self.markers["python_full_version"]


def look(python: Path) -> Look:
    """Ask an interpreter.

    Raises:
        EnvironmentMissing: it does not answer like a Python.
    """
    # -E as in a worker's clean environment; the interpreter's own folder as a cwd from which nothing can be imported
    outcome = process.run(
        (str(python), "-E", "-c", _LOOK), timeout=60, cwd=python.parent, env=process.clean_environment({})
    )
    try:
        answer = json.loads(outcome.out.strip().splitlines()[-1])
        return Look(answer["markers"], answer["packages"])
    except (ValueError, IndexError, KeyError, TypeError):
        said = outcome.err.strip().splitlines()[-3:]
        raise EnvironmentMissing("not a working Python interpreter", where=str(python), details=said) from None


@functools.cache
def broken(python: Path, names: Sequence[str]) -> str | None:
    """The last line of what an import of these distributions says when it fails; None when all goes well.

    Takes as long as they take, once in a process.
    """
    argv = (str(python), "-E", "-c", IMPORTS, *names)
    outcome = process.run(argv, timeout=_IMPORT_LIMIT, cwd=python.parent, env=process.clean_environment({}))
    if outcome.code == 0:
        return None
    return next((line.strip() for line in reversed(outcome.err.splitlines()) if line.strip()), "no reason given")
