"""What the rows hold, against what Axolotl does with images and with conversations in two columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator.backend import Job, Trait
from orchestrator.findings import Finding, Level
from orchestrator.spec import RunSpec

_REFUSED = {
    "turns": (
        "columns",
        "Axolotl reads prompt and completion as text; conversations in them would be trained as their repr",
        "give one `messages` column: post-train data prepare",
    ),
    "list": (
        "image_list",
        "{words}: Axolotl takes the first of a list, and puts it after the text where it finds no place",
        "put each image inline, in order, before its text: post-train data prepare",
    ),
    "late": (
        "image_order",
        "an image comes after the text it belongs to; the model would read the question before the picture",
        "put each image part before its text part",
    ),
    "unknown": (
        "part",
        "no template knows a part of type {words!r}; it would be left out, or stop the training",
        "use parts of type text and image: post-train data prepare",
    ),
}
"""Trait -> code, message, fix."""
_ADVISED = {
    "remote": (
        "image_remote",
        "{words} is downloaded while training, each time its row is used, and isn't looked at before",
        "download the images, and name their files",
    ),
    "media": (
        "media",
        "parts of type {words} aren't looked at before launch, and training on them was not tried here",
        "post-train sft ... --smoke",
    ),
}
_KEYS = "native: {processor_type: AutoProcessor, skip_prepare_dataset: true, remove_unused_columns: false}"


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Each fault once in each file, with the line it was first seen in."""
    return [finding for trait in job.traits for finding in _of(trait, spec)]


def _of(trait: Trait, spec: RunSpec) -> Iterator[Finding]:
    if trait.name in _REFUSED:
        code, message, fix = _REFUSED[trait.name]
        yield _finding(code, trait, message.format(words=trait.words), fix)
    if trait.name in _ADVISED:
        code, message, fix = _ADVISED[trait.name]
        yield _finding(code, trait, message.format(words=trait.words), fix, "advice")
    if trait.name == "pictures":
        yield from _multimodal(trait, spec)
    elif trait.name == "relative" and trait.setting == "data.eval" and not _beside(trait, spec.data.train):
        message = f"{trait.words} is looked for in the folder of the training rows, where Axolotl is started"
        yield _finding("image_folder", trait, message, "put both files into one folder, or give absolute paths")


def _multimodal(trait: Trait, spec: RunSpec) -> Iterator[Finding]:
    if spec.training.packing:
        message = "packed rows with images mix up which picture belongs to which text"
        yield _finding("image_packing", trait, message, fix="training.packing: false")
    given = spec.native
    processed = given.get("processor_type") and given.get("skip_prepare_dataset")
    if not processed or given.get("remove_unused_columns") is not False:
        message = "rows with images go through the model's processor while training, not through a tokenizer before it"
        yield _finding("image_keys", trait, message, fix=_KEYS)


def _beside(trait: Trait, train: str | None) -> bool:
    return train is None or trait.file.absolute().parent == Path(train).absolute().parent


def _finding(code: str, trait: Trait, message: str, fix: str, level: Level = "error") -> Finding:
    return Finding(code=f"axolotl.{code}", level=level, message=message, fix=fix, where=trait.where)
