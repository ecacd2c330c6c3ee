"""The story of prepared data: read, convert, tell of every loss, take out repetitions, split, digest, write it down."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from data_prep import fresh, heldout, out
from data_prep import manifest as manifests
from data_prep.faults import DataFault
from data_prep.formats import Format
from data_prep.index import Index
from data_prep.inputs import Input
from data_prep.ledger import FILE as LEDGER
from data_prep.ledger import Ledger
from data_prep.lengths import lengths
from data_prep.limits import Limits
from data_prep.manifest import DataManifest, Lengths, SplitFile
from data_prep.options import Options
from data_prep.out import Out
from data_prep.pictures import FOLDER as PICTURES
from data_prep.pictures import Pictures, named_in
from data_prep.place import making
from data_prep.pool import cores, results
from data_prep.reading import Reading
from data_prep.splits import Split
from data_prep.tally import Tally
from data_prep.uses import columns_of, use_of
from data_prep.work import Recipe

Tick = Callable[[int, int, int], None]
"""Told of progress: bytes read, bytes in all, rows so far."""
_ALONE = 8 * 2**20
"""Bytes that one process reads faster than several start."""
NO_FAULT = ("duplicate", "leak_exact", "leak_words", "max_tokens")
"""Reasons for which a row is left out that are no fault of it."""


_PLACE = "name the folder that the pictures lie below with --images"
_MENDS = {
    "picture_missing": _PLACE,
    "picture_outside": _PLACE,
    "picture_url": "download the pictures, write their paths into the rows",
    "not_utf8": "name the encoding with --encoding",
    "columns": "say which column is which with --columns",
    "other_format": "prepare each format by itself",
}
"""What to do first, by the most frequent fault."""


def check(files: list[Input], options: Options, tick: Tick = lambda *_: None) -> DataManifest:
    """What preparing would make; nothing is kept.

    Raises:
        DataFault: as `prepare`.
    """
    with tempfile.TemporaryDirectory(prefix="post-train-") as place:
        return _make(files, options, Path(place), tick, keep=False)


def prepare(files: list[Input], options: Options, folder: Path, tick: Tick = lambda *_: None) -> DataManifest:
    """Prepare data into a new folder: rows by split, ledger, manifest.

    Raises:
        DataFault: the data can't be used, or too many of its rows can't.
        FileExistsError: the folder is there already.
    """
    with making(folder) as part:
        return _make(files, options, part, tick, keep=True)


def _make(files: list[Input], options: Options, folder: Path, tick: Tick, *, keep: bool) -> DataManifest:
    reading = Reading(files, options.encoding)
    form = reading.format(options.format, options.columns)
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(folder / LEDGER))
        index = stack.enter_context(Index(folder / ".index"))
        made = _Preparation(reading, options, folder if keep else None, ledger, index).make(form, tick)
    if keep:
        if made.images:
            fresh.note_pictures(folder, {})
        manifests.write(folder, made)
    return made


class _Preparation:
    """One set of files on its way; `folder` is None where nothing is kept."""

    def __init__(self, reading: Reading, options: Options, folder: Path | None, ledger: Ledger, index: Index) -> None:
        self._reading, self._options, self._folder = reading, options, folder
        self._ledger, self._index, self._tally = ledger, index, Tally()

    def make(self, form: Format, tick: Tick) -> DataManifest:
        """Everything, in order."""
        use = use_of(form.form, form.name, self._options.use, self._reading.first)
        options = self._options
        leaks, self._against = heldout.leaks(self._reading.files, options)
        recipe = Recipe(
            format=form.name,
            use=use,
            columns=options.columns,
            shares=options.shares,
            given=self._reading.given,
            tokenizer=options.tokenizer,
            max_tokens=options.max_tokens,
            leaks=leaks,
        )
        if options.tokenizer:
            options.tokenizer.load()  # before processes are forked, so that they share it
            if form.form != "text":
                options.tokenizer.require_template()
        with Out(self._folder) as written:
            self._write(recipe, written, tick)
            splits = written.files()
        self._refuse_losses()
        return self._manifest(form, recipe, self._without_repeated(splits))

    def _write(self, recipe: Recipe, written: Out, tick: Tick) -> None:
        options = self._options
        pictures = Pictures(options.images, self._folder)
        limits = Limits(options.limit, self._reading, options.shares)
        processes = options.processes or (cores() if self._reading.total > _ALONE else 1)
        for result in results(self._reading.batches(), recipe, pictures, processes):
            if options.limit:
                limits.cut(result)
            self._tally.rows += result.rows
            self._tally.notes.update(result.notes)
            self._index.add(result.path, result.index)
            for line, action, reason, what in result.ledger:
                self._ledger.add(self._reading.names[result.path], line, (action, reason, what), result.path)
            for split, texts in result.texts.items():
                written.add(split, texts)
            if self._folder and result.looked:
                fresh.note_pictures(self._folder, result.looked)
            tick(self._reading.taken, self._reading.total, self._tally.rows)
            if limits.full:
                break

    def _refuse_losses(self) -> None:
        lost = sum(count for reason, count in self._ledger.dropped.items() if reason not in NO_FAULT)
        if not self._tally.rows:
            raise DataFault("the data holds no row", where=self._reading.first, fix="one JSON object a line")
        if lost > self._options.max_dropped * self._tally.rows or not self._index.count:
            raise _too_many(lost, self._tally.rows, self._ledger, self._options.max_dropped)

    def _without_repeated(self, splits: dict[Split, SplitFile]) -> dict[Split, SplitFile]:
        """Take out rows that stand before already; files without any stay as they are."""
        gone = self._repeated() if self._options.dedup else set()
        self._tally.count(self._index, gone)
        if gone and self._folder:
            return out.without(self._folder, splits, self._index, gone)
        return {split: each.model_copy(update={"rows": self._tally.kept[split]}) for split, each in splits.items()}

    def _repeated(self) -> set[int]:
        names, gone = self._reading.names, set[int]()
        for number, row, first in self._index.repeated():
            gone.add(number)
            before = f"{names[first.path]}:{first.line}"
            self._ledger.add(names[row.path], row.line, ("dropped", "duplicate", f"the same as {before}"))
        return gone

    def _manifest(self, form: Format, recipe: Recipe, splits: dict[Split, SplitFile]) -> DataManifest:
        sources = tuple(self._reading.seen())
        return DataManifest(
            key=fresh.key([(source.name, source.sha256) for source in (*sources, *self._against)], self._options),
            origin=self._options.origin,
            revision=self._options.revision,
            licence=self._options.licence,
            format=form.name,
            form=columns_of(form.form, recipe.use),
            use=recipe.use,
            options=self._options.literals(),
            sources=sources,
            against=self._against,
            counts=self._tally.counts(self._ledger),
            splits=splits,
            roles=self._tally.roles(),
            tokens=self._lengths(),
            findings=tuple(self._options.tokenizer.findings()) if self._options.tokenizer else (),
            images=_pictures(self._folder / PICTURES, splits) if self._folder else {},
            ledger=self._ledger.done(),
        )

    def _lengths(self) -> dict[Split, Lengths]:
        if self._options.tokenizer is None:
            return {}
        tokenizer = self._options.tokenizer.content()
        return {split: lengths(counted, tokenizer) for split, counted in self._tally.tokens.items() if counted}


def _pictures(folder: Path, splits: dict[Split, SplitFile]) -> dict[str, int]:
    """Count the pictures, without those of rows that were left out."""
    used = (
        {name for each in splits.values() for name in named_in(folder.parent / each.file)} if folder.exists() else set()
    )
    for path in folder.glob("*"):
        if path.name not in used:
            path.unlink()
    files = list(folder.glob("*"))
    return {"files": len(files), "bytes": sum(path.stat().st_size for path in files)} if files else {}


def _too_many(lost: int, rows: int, ledger: Ledger, allowed: float) -> DataFault:
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in ledger.dropped.most_common())
    share = f"{lost:,} of {rows:,} rows can't be used ({reasons})"
    (where, what), *others = ledger.first
    worst = next((reason for reason, _ in ledger.dropped.most_common() if reason not in NO_FAULT), "")
    first = _MENDS.get(worst, "mend or remove these rows")
    fix = f"{first}, or allow more with --max-dropped (now {allowed:g})"
    told = tuple(f"{place}: {words}" for place, words in others)
    why = "rows at fault are left out only while they are few: more may mean a wrong format, or a folder not named"
    return DataFault(f"{what}; {share}", where=where, why=why, fix=fix, others=told)
