"""A few rows of any data in canonical form, each with the file and line it came from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from data_prep import inputs, manifest
from data_prep.faults import DataFault
from data_prep.inputs import Input
from data_prep.options import Options
from data_prep.pictures import Pictures
from data_prep.reading import Reading
from data_prep.row import Row
from data_prep.uses import Use, use_of
from data_prep.work import RECORD, Recipe, Worker


@dataclass(frozen=True)
class Seen:
    """A row with its place; or a place and what is wrong with the row there."""

    place: str
    row: Row | None
    fault: str = ""


def raw(files: list[Input], options: Options, skip: int, count: int) -> list[Seen]:
    """Rows of any files as prepare would make them.

    Raises:
        DataFault: the data can't be read.
    """
    return list(islice(_converted(Reading(files, options.encoding), options), skip, skip + count))


def prepared(folder: Path, split: str, skip: int, count: int) -> list[Seen]:
    """Rows of a split of a prepared folder.

    Raises:
        DataFault: it has no such split.
    """
    found, file = manifest.read(folder).splits, folder / f"{split}.jsonl"
    if split not in found:
        raise DataFault(f"no split is called {split}", where=str(folder), fix=f"--split {' or '.join(found)}")
    inputs.inputs([file])
    with file.open(encoding="utf-8", newline="\n") as lines:
        picked = islice(enumerate(lines, start=1), skip, skip + count)
        return [Seen(f"{file.name}:{number}", json.loads(line)) for number, line in picked]


def _converted(reading: Reading, options: Options) -> Iterator[Seen]:
    form = reading.format(options.format, options.columns)
    use = use_of(form.form, form.name, options.use, reading.first)
    return converted(reading, options, form.name, use)


def converted(reading: Reading, options: Options, form: str, use: Use) -> Iterator[Seen]:
    """Every row of some files in canonical form, or what is wrong with it."""
    recipe = Recipe(form, use, options.columns, replace(options.shares, validation=0, test=0))
    worker = Worker(recipe, Pictures(options.images))
    for batch in reading.batches():
        result, name = worker.result(batch), reading.names[batch.path]
        kept = zip(result.texts["train"], result.index, strict=True)
        found = {RECORD.unpack(record)[1]: json.loads(text) for text, record in kept}
        faults = {line: what for line, action, _, what in result.ledger if action == "dropped"}
        for line in sorted(found.keys() | faults.keys()):
            yield Seen(f"{name}:{line}", found.get(line), faults.get(line, ""))
