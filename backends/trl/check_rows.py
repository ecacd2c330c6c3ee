"""What the rows hold, against an engine that trains on text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.trl.config import native
from orchestrator import modelfolder
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_NO_TEXT = ("pictures", "list", "media", "unknown")


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Rows with something other than text, and conversations that nothing can render."""
    return [*_not_text(job), *_template(spec, job)]


def _not_text(job: Job) -> list[Finding]:
    """Once in each file."""
    first = {trait.file: trait for trait in reversed(job.traits) if trait.name in _NO_TEXT}
    return [
        Finding(
            code="trl.images",
            level="error",
            message="rows hold pictures, sound or parts of another type, and this backend trains on text",
            where=trait.where,
            fix="backend: axolotl, or leave only the text of these rows",
        )
        for trait in first.values()
    ]


def _template(spec: RunSpec, job: Job) -> Iterator[Finding]:
    given, model = native(spec, "config").get("chat_template_path"), Path(job.model.path)
    fix = "native.config.chat_template_path: FILE.jinja, or rows with prompt and completion as text"
    if isinstance(given, str):
        if given.endswith(".jinja") and not Path(given).is_file():
            yield _template_error(f"there is no file {given}", fix, "native.config.chat_template_path")
        return
    talks = job.form == "messages" or any(trait.name == "turns" for trait in job.traits)
    if talks and model.is_dir() and not modelfolder.has_template(model):
        message = f"the rows are conversations, and {model} has no chat template to make text of them"
        yield _template_error(message, fix, "model.path")


def _template_error(message: str, fix: str, where: str) -> Finding:
    return Finding(code="model.template", level="error", message=message, fix=fix, where=where)
