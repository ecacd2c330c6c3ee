"""Files and folders that native keys name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_KEYS = ("tokenizer_config", "base_model_config", "chat_template_jinja")
_ROWS = ("datasets", "test_datasets", "pretraining_dataset")
_IN_ROWS = ("path", "data_files", "chat_template_jinja")


def findings(spec: RunSpec, _: Job) -> list[Finding]:
    """Absolute paths to nothing, as those beside the recipe have become. Others may be names on a hub."""
    named = [(key, spec.native.get(key)) for key in _KEYS]
    return [_finding(at, path) for at, path in [*named, *_of_rows(spec.native)] if _gone(path)]


def _of_rows(native: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _ROWS:
        given = native.get(key)
        for number, one in enumerate(given if isinstance(given, list) else []):
            for name in _IN_ROWS if isinstance(one, dict) else ():
                values = one.get(name)
                yield from ((f"{key}.{number}.{name}", v) for v in (values if isinstance(values, list) else [values]))


def _gone(path: Any) -> bool:
    """Templates and URLs may stand where a path does."""
    if not isinstance(path, str) or not path.startswith(("/", "~")) or "\n" in path or "{" in path or "*" in path:
        return False
    try:
        return not Path(path).expanduser().exists()
    except (OSError, RuntimeError):
        return True


def _finding(at: str, path: Any) -> Finding:
    return Finding(
        code="axolotl.native.path",
        level="error",
        message=f"there is no {path}",
        where=f"native.{at}",
        fix=f"correct native.{at}; ./ and ../ begin at the recipe",
    )
