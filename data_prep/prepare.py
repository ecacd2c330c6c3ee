"""The story of prepared data: read, convert, tell of every loss, take out repetitions, split, digest, write it down."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from data_prep import manifest as manifests
from data_prep.faults import DataFault
from data_prep.formats import Format
from data_prep.index import Index, Kept
from data_prep.inputs import Input
from data_prep.jsontext import dump_plain
from data_prep.ledger import FILE as LEDGER
from data_prep.ledger import Ledger
from data_prep.manifest import Counts, DataManifest, SplitFile
from data_prep.options import Options
from data_prep.pictures import FOLDER, Pictures
from data_prep.pool import cores, results
from data_prep.reading import Reading
from data_prep.splits import SPLITS, Split
from data_prep.uses import use_of
from data_prep.work import ROLES, Recipe

Tick = Callable[[int, int, int], None]
"""Told of progress: bytes read, bytes in all, rows so far."""
_ALONE = 8 * 2**20
"""Bytes that one process reads faster than several start."""
NO_FAULT = ("duplicate",)
"""Reasons for which a row is left out that are no fault of it."""


@dataclass
class Tally:
    """What was counted over all rows that are kept; `rows` over those that came."""

    rows: int = 0
    kept: int = 0
    changed: int = 0
    turns: list[int] = field(default_factory=lambda: [0] * len(ROLES))
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, row: Kept) -> None:
        """One row that is kept."""
        self.kept += 1
        self.changed += row.changed
        self.turns = [a + b for a, b in zip(self.turns, row.turns, strict=True)]

    def roles(self) -> dict[str, int]:
        """Turns by role."""
        return {role: count for role, count in zip(ROLES, self.turns, strict=True) if count}


def check(files: list[Input], options: Options, tick: Tick = lambda *_: None) -> DataManifest:
    """What preparing would make; nothing is kept.

    Raises:
        DataFault: as `prepare`.
    """
    with tempfile.TemporaryDirectory(prefix="post-train-") as place:
        return _Preparation(files, options, Path(place), tick, keep=False).make()


def prepare(files: list[Input], options: Options, folder: Path, tick: Tick = lambda *_: None) -> DataManifest:
    """Prepare data into a new folder: rows by split, ledger, manifest.

    Raises:
        DataFault: the data can't be used, or too many of its rows can't.
        FileExistsError: the folder is there already.
    """
    if folder.exists():
        raise FileExistsError(str(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        made = _Preparation(files, options, part, tick, keep=True).make()
        part.chmod(0o755)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return made


class _Preparation:
    def __init__(self, files: list[Input], options: Options, folder: Path, tick: Tick, *, keep: bool) -> None:
        self._keep = keep
        self._files, self._options, self._folder, self._tick = files, options, folder, tick
        self._reading = Reading(files, options.encoding)
        self._ledger, self._tally = Ledger(folder / LEDGER), Tally()
        self._index = Index(folder / ".index")

    def make(self) -> DataManifest:
        form = self._reading.format(self._options.format, self._options.columns)
        recipe = self._recipe(form)
        splits = self._write(recipe)
        self._refuse_losses()
        splits = self._without_repeated(splits)
        made = self._manifest(form, recipe, splits)
        self._index.close()
        manifests.write(self._folder, made)
        return made

    def _recipe(self, form: Format) -> Recipe:
        use = use_of(form.form, form.name, self._options.use, str(self._files[0].path))
        given = tuple((str(file.path), file.split) for file in self._files if file.split)
        return Recipe(form.name, use, self._options.columns, self._options.shares, given)

    def _write(self, recipe: Recipe) -> dict[Split, SplitFile]:
        out = _Out(self._folder if self._keep else None)
        pictures = Pictures(self._options.images, self._folder if self._keep else None)
        processes = self._options.processes or (cores() if self._reading.total > _ALONE else 1)
        for result in results(self._reading.batches(), recipe, pictures, processes):
            self._tally.rows += result.rows
            self._tally.notes.update(result.notes)
            self._index.add(result.path, result.index)
            name = self._reading.names[result.path]
            for line, *entry in result.ledger:
                self._ledger.add(name, line, (entry[0], entry[1], entry[2]), result.path)
            for split, texts in result.texts.items():
                out.add(split, texts)
            self._tick(self._reading.taken, self._reading.total, self._tally.rows)
        return out.close()

    def _refuse_losses(self) -> None:
        lost = sum(count for reason, count in self._ledger.dropped.items() if reason not in NO_FAULT)
        rows = self._tally.rows
        if not rows:
            raise DataFault("the data holds no row", where=str(self._files[0].path), fix="one JSON object a line")
        if lost > self._options.max_dropped * rows or not self._index.count:
            raise _too_many(lost, rows, self._ledger, self._options.max_dropped)

    def _without_repeated(self, splits: dict[Split, SplitFile]) -> dict[Split, SplitFile]:
        """Take out rows that stand before already; files without any stay as they are."""
        gone = self._repeated() if self._options.dedup else set()
        rows: Counter[Split] = Counter()
        for number, row in enumerate(self._index):
            if number not in gone:
                self._tally.add(row)
                rows[row.split] += 1
        if not gone:
            return splits
        if self._keep:
            return _filtered(self._folder, splits, self._index, gone)
        return {split: each.model_copy(update={"rows": rows[split]}) for split, each in splits.items()}

    def _repeated(self) -> set[int]:
        names, gone = self._reading.names, set[int]()
        for number, row, first in self._index.repeated():
            gone.add(number)
            before = f"{names[first.path]}:{first.line}"
            self._ledger.add(names[row.path], row.line, ("dropped", "duplicate", f"the same as {before}"))
        return gone

    def _manifest(self, form: Format, recipe: Recipe, splits: dict[Split, SplitFile]) -> DataManifest:
        tally, ledger, options = self._tally, self._ledger, self._options.literals()
        sources = tuple(self._reading.sources)
        return DataManifest(
            key=key([(source.name, source.sha256) for source in sources], self._options),
            origin=self._options.origin,
            revision=self._options.revision,
            licence=self._options.licence,
            format=form.name,
            form="+".join(_columns(recipe, form)),
            use=recipe.use,
            options=options,
            sources=sources,
            counts=Counts(
                rows=tally.rows,
                kept=tally.kept,
                changed=tally.changed,
                dropped=dict(sorted(ledger.dropped.items())),
                changes=dict(sorted(ledger.changed.items())),
                notes=dict(sorted(tally.notes.items())),
            ),
            splits=splits,
            roles=tally.roles(),
            images=_pictures(self._folder / FOLDER),
            ledger=self._ledger.close(),
        )


def _columns(recipe: Recipe, form: Format) -> list[str]:
    by_use = {
        "sft": ["messages"],
        "dpo": ["chosen", "rejected"],
        "kto": ["completion", "label"],
        "eval": ["prompt", "answer"],
    }
    if form.form == "text":
        return ["text"]
    return by_use.get(recipe.use) or (["prompt"] if form.form == "prompt" else ["prompt", "answer"])


def key(contents: list[tuple[str, str]], options: Options) -> str:
    """What a prepared folder is made from: names and digests of files, options, and the version of this code."""
    payload = {"contents": contents, "options": options.literals(), "schema": manifests.SCHEMA}
    return hashlib.sha256(dump_plain(payload)).hexdigest()


class _Out:
    """The files of the splits, written and digested together."""

    def __init__(self, folder: Path | None) -> None:
        self._folder, self._files = folder, dict[Split, tuple[IO[bytes] | None, "hashlib._Hash"]]()
        self._rows: Counter[Split] = Counter()
        self._sizes: Counter[Split] = Counter()

    def add(self, split: Split, texts: list[bytes]) -> None:
        """Rows of a split."""
        if not texts:
            return
        if split not in self._files:
            file = (self._folder / f"{split}.jsonl").open("wb") if self._folder else None
            self._files[split] = (file, hashlib.sha256())
        out, digest = self._files[split]
        joined = b"".join(texts)
        if out:
            out.write(joined)
        digest.update(joined)
        self._rows[split] += len(texts)
        self._sizes[split] += len(joined)

    def close(self) -> dict[Split, SplitFile]:
        """What was written."""
        for file, _ in self._files.values():
            if file:
                file.close()
        found = {split: digest.hexdigest() for split, (_, digest) in self._files.items()}
        return {split: self._described(split, found[split]) for split in SPLITS if split in found}

    def _described(self, split: Split, sha256: str) -> SplitFile:
        return SplitFile(file=f"{split}.jsonl", rows=self._rows[split], size=self._sizes[split], sha256=sha256)


def _pictures(folder: Path) -> dict[str, int]:
    files = list(folder.glob("*"))
    return {"files": len(files), "bytes": sum(path.stat().st_size for path in files)} if files else {}


def _filtered(folder: Path, splits: dict[Split, SplitFile], index: Index, gone: set[int]) -> dict[Split, SplitFile]:
    """The files of the splits without some rows."""
    olds = {split: (folder / each.file).rename(folder / f".{each.file}") for split, each in splits.items()}
    files, out = {split: path.open("rb") for split, path in olds.items()}, _Out(folder)
    for number, row in enumerate(index):
        text = files[row.split].read(row.size)
        if number not in gone:
            out.add(row.split, [text])
    for split, file in files.items():
        file.close()
        olds[split].unlink()
    return out.close()


def _too_many(lost: int, rows: int, ledger: Ledger, allowed: float) -> DataFault:
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in ledger.dropped.most_common())
    share = f"{lost:,} of {rows:,} rows can't be used ({reasons})"
    (where, what), *others = ledger.first
    fix = f"mend or remove these rows, or allow more with --max-dropped (now {allowed:g})"
    told = tuple(f"{place}: {words}" for place, words in others)
    return DataFault(f"{what}; {share}", where=where, why="so many may mean a wrong format", fix=fix, others=told)
