"""Prepared data as the source of other prepared data: the same rows, divided otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from data_prep import manifest
from data_prep.columns import EVERYTHING, Columns
from data_prep.inputs import Input
from data_prep.options import Options
from data_prep.splits import Shares

_FORMATS = {
    "messages": "messages",
    "text": "text",
    "chosen+rejected": "preference",
    "completion+label": "kto",
    "prompt+answer": "question_answer",
    "prompt": "prompt",
}


def known(folder: Path, options: Options) -> Options:
    """The options with the format and the use that a prepared folder states, where they are not given.

    Raises:
        DataFault: the folder's manifest is damaged.
    """
    found = manifest.read(folder)
    return replace(options, format=options.format or _FORMATS[found.form], use=options.use or found.use)


def anew(folder: Path, shares: Shares) -> tuple[list[Input], Options]:
    """The files of a prepared folder, and the options that keep their rows as they are.

    Raises:
        DataFault: the folder is not prepared.
    """
    found = manifest.read(folder)
    files = [Input(folder / s.file, s.file, folder.resolve()) for s in found.splits.values()]
    options = Options(
        format=_FORMATS[found.form],
        use=found.use,
        columns=Columns(keep=(EVERYTHING,)),
        shares=shares,
        dedup=False,
        licence=found.licence,
        origin=found.origin,
        revision=found.revision,
    )
    return files, options
