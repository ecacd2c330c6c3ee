"""The first training rows, against what Axolotl does with images and with conversations in two columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_LOOKED_AT = 200
"""Rows looked at; the whole file is checked elsewhere."""

Part = dict[str, Any]


def findings(spec: RunSpec, _: Job) -> list[Finding]:
    """Each fault once, with the line it was first seen in."""
    path, found = spec.data.train, dict[str, Finding]()
    if path is None:
        return []
    for number, row in _rows(Path(path)):
        for finding in _faults(spec, row, Path(path).parent):
            found.setdefault(finding.code, finding.model_copy(update={"where": f"{path}:{number}"}))
    return list(found.values())


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows that can be read; what can't is the data check's finding."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = list(islice(file, _LOOKED_AT))
    except (OSError, UnicodeError):
        return
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield number, row


def _faults(spec: RunSpec, row: dict[str, Any], folder: Path) -> Iterator[Finding]:
    if any(isinstance(row.get(column), list) for column in ("prompt", "completion")):
        message = "Axolotl reads prompt and completion as text; conversations in them would be trained as their repr"
        yield _error("columns", message, fix="give one `messages` column: post-train data prepare")
    parts = _parts(row)
    images = [part for part in parts if part.get("type") == "image"]
    listed = row.get("images")
    if isinstance(listed, list) and len(listed) > len(images):
        message = (
            f"{len(listed)} images in a top-level list, {len(images)} in the messages: only those are seen in place"
        )
        yield _error("image_list", message, fix="put each image inline, in order, before the text it belongs to")
    if images or listed:
        yield from _multimodal(spec)
    gone = [path for part in images if isinstance(path := part.get("path"), str) and not (folder / path).is_file()]
    if gone:
        message = f"there is no image {gone[0]}, seen from {folder}"
        yield _error("image_missing", message, fix="give paths relative to the data file, or absolute ones")
    if any(_late(message) for message in _messages(row)):
        message = "an image comes after the text it belongs to; the model would read the question before the picture"
        yield _error("image_order", message, fix="put each image part before its text part")


def _multimodal(spec: RunSpec) -> Iterator[Finding]:
    if spec.training.packing:
        message = "packed rows with images mix up which picture belongs to which text"
        yield _error("image_packing", message, fix="training.packing: false")
    given = spec.native
    if (
        given.get("processor_type")
        and given.get("skip_prepare_dataset")
        and given.get("remove_unused_columns") is False
    ):
        return
    message = "rows with images go through the model's processor while training, not through a tokenizer before it"
    fix = "native: {processor_type: AutoProcessor, skip_prepare_dataset: true, remove_unused_columns: false}"
    yield _error("image_keys", message, fix=fix)


def _messages(row: dict[str, Any]) -> list[Part]:
    given = row.get("messages")
    return [m for m in given if isinstance(m, dict)] if isinstance(given, list) else []


def _parts(row: dict[str, Any]) -> list[Part]:
    contents = [message.get("content") for message in _messages(row)]
    return [part for content in contents if isinstance(content, list) for part in content if isinstance(part, dict)]


def _late(message: Part) -> bool:
    """Whether text stands before every image of a message: the question would come first."""
    content = message.get("content")
    kinds = [part.get("type") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "image" in kinds and "text" in kinds and kinds[-1] == "image"


def _error(code: str, message: str, fix: str) -> Finding:
    return Finding(code=f"axolotl.{code}", level="error", message=message, fix=fix)
