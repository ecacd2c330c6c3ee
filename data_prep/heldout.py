"""Evaluations and held-out splits, read so that training rows can be held against them."""

from __future__ import annotations

from data_prep.inputs import Input, inputs
from data_prep.leaks import Leaks
from data_prep.look import converted
from data_prep.manifest import SourceFile
from data_prep.options import Options
from data_prep.reading import Reading
from data_prep.uses import SHAPES


def leaks(files: list[Input], options: Options) -> tuple[Leaks | None, tuple[SourceFile, ...]]:
    """What no training row may hold: the rows of `options.against`, and those of held-out files among the inputs.

    Returns:
        None where there is nothing to hold rows against; and the files of `options.against`.

    Raises:
        DataFault: an evaluation can't be read.
    """
    held = [file for file in files if file.split in ("validation", "test")]
    if not held and not options.against:
        return None, ()
    found = Leaks(options.run)
    if held:
        _add(found, Reading(held, options.encoding), options)
    evaluations = [Reading(inputs([path]), None) for path in options.against]
    for reading in evaluations:
        _add(found, reading, Options())
    return found, tuple(source for reading in evaluations for source in reading.sources)


def _add(found: Leaks, reading: Reading, options: Options) -> None:
    form = reading.format(options.format, options.columns)
    use = "eval" if "eval" in SHAPES[form.form] else next(iter(SHAPES[form.form]))
    for seen in converted(reading, options, form.name, use):
        if seen.row:
            found.add(seen.row, seen.place)
