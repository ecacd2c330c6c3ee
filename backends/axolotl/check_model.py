"""What comes with the model: a chat template, and what it needs to be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator import modelfolder
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_OWN = (None, "tokenizer_default")
"""What `chat_template` says where the tokenizer's own is meant."""


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Conversations that nothing can render. A model that is not here yet is not looked at."""
    folder = Path(str(spec.native.get("tokenizer_config") or job.model.path))
    if folder.is_dir() and _renders(spec, job) and not modelfolder.has_template(folder):
        return [*_missing(folder)]
    return []


def _renders(spec: RunSpec, job: Job) -> bool:
    """Whether some rows are conversations for the tokenizer's own template."""
    if spec.native.get("chat_template") not in _OWN:
        return False
    if spec.data.train is not None:
        return job.form in ("messages", None)
    listed = spec.native.get("datasets")
    return any(_plain(one) for one in (listed if isinstance(listed, list) else []))


def _plain(dataset: Any) -> bool:
    return isinstance(dataset, dict) and dataset.get("type") == "chat_template" and dataset.get("chat_template") in _OWN


def _missing(folder: Path) -> Iterator[Finding]:
    yield Finding(
        code="model.template",
        level="error",
        message=f"the rows are conversations, and {folder} has no chat template to make text of them",
        where="model.path",
        fix="native.chat_template: chatml, or the one that the model was made with; a file of your own with "
        "native.chat_template: jinja and native.chat_template_jinja: ./FILE.jinja",
    )
