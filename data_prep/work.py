"""What a process does with a batch: every row read, converted, checked, counted, and written as it will stand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from struct import Struct

from data_prep import formats, inline, masks, splits
from data_prep.batch import Batch, Item
from data_prep.columns import Columns
from data_prep.formats.base import Format, Work
from data_prep.jsontext import NotJson, dump, dump_plain, refuse_surrogates
from data_prep.leaks import Leaks
from data_prep.notes import noted
from data_prep.pictures import Pictures
from data_prep.row import Marks, Row, RowFault
from data_prep.splits import SPLITS, Shares, Split
from data_prep.tokenizer import ModelTokenizer
from data_prep.uses import SHAPES, Shape, Use

ROLES = ("system", "developer", "user", "assistant", "tool")
RECORD = Struct("<16sQIIBB5H")
"""One kept row in the index: digest of its bytes, line, bytes, tokens, split, changed or not, turns by role."""
_TALK = ("messages", "prompt", "completion", "chosen")
_LEARNED = ("sft", "dpo", "kto")
Entry = tuple[int, str, str, str]
"""One line of the ledger: line, what was done, kind of reason, the reason in words."""


@dataclass(frozen=True)
class Recipe:
    """How rows are made, the same in every process.

    Attributes:
        format: name of the layout of the rows.
        use: what they are for.
        columns: other names for columns, and columns to keep.
        shares: how rows are split; files that are a split already name it in `given`.
        tokenizer: counts tokens, of at most `max_tokens` a row.
        leaks: what no training row may hold.
    """

    format: str
    use: Use
    columns: Columns = field(default_factory=Columns)
    shares: Shares = field(default_factory=Shares)
    given: tuple[tuple[str, Split], ...] = ()
    tokenizer: ModelTokenizer | None = None
    max_tokens: int | None = None
    leaks: Leaks | None = None


@dataclass
class Result:
    """What came of one batch."""

    path: str
    rows: int = 0
    texts: dict[Split, list[bytes]] = field(default_factory=lambda: {split: [] for split in SPLITS})
    index: list[bytes] = field(default_factory=list)
    ledger: list[Entry] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    looked: dict[str, str] = field(default_factory=dict)


class Worker:
    """Turns batches into results."""

    def __init__(self, recipe: Recipe, pictures: Pictures) -> None:
        self._recipe, self._pictures = recipe, pictures
        self._format: Format = formats.named(recipe.format)
        self._shape: Shape = SHAPES[self._format.form][recipe.use]
        self._given = dict(recipe.given)

    def result(self, batch: Batch) -> Result:
        """Everything that a batch holds."""
        result = Result(batch.path)
        self._pictures.beside = Path(batch.path).parent
        for item in batch.items():
            try:
                rows = self._rows(item)
            except (RowFault, NotJson) as fault:
                rows = []
                _drop(result, item, fault)
            for row, marks in rows:
                self._keep(row, marks, item, result)
        result.looked = self._pictures.looked()
        return result

    def _rows(self, item: Item) -> list[tuple[Row, Marks]]:
        """The rows that an item holds, under canonical names."""
        if item.fault:
            raise item.fault
        marks: Marks = [item.note] if item.note else []
        given = self._recipe.columns.named(as_row(item.value), marks)
        self._refuse_others(given)
        return [(row, list(marks)) for row in self._format.several(given)]

    def _keep(self, given: Row, marks: Marks, item: Item, result: Result) -> None:
        try:
            work = Work(self._pictures.take, marks)
            row = self._shape(self._format.convert(given, work))
            row.update(self._recipe.columns.kept(given, row))
            self._add(row, marks, item, result)
        except (RowFault, NotJson) as fault:
            _drop(result, item, fault)
        except RecursionError:
            _drop(result, item, NotJson("not_json", "nested too deeply"))

    def _add(self, row: Row, marks: Marks, item: Item, result: Result) -> None:
        split = self._given.get(result.path) or self._recipe.shares.split(splits.prompt(row))
        if self._recipe.leaks and split == "train":
            self._recipe.leaks.refuse(row)
        tokens, text = self._tokens(row, result.notes), self._text(row, item)
        digest, number = blake2b(text, digest_size=16).digest(), SPLITS.index(split)
        result.rows += 1
        result.notes.update(noted(text))
        if b'"type":"image"' in text and any(map(inline.is_late, inline.turns(row))):
            result.notes["picture_late"] += 1
        result.texts[split].append(text)
        result.index.append(RECORD.pack(digest, item.line, len(text), tokens, number, bool(marks), *_turns(row)))
        result.ledger += [(item.line, "changed", code, what) for code, what in marks]

    def _refuse_others(self, row: Row) -> None:
        """Rows of another layout have a fault; layouts that are converted alike may be mixed."""
        if self._format.matches(row):
            return
        other = formats.recognise(row)
        if other is None:
            have = ", ".join(f"`{column}`" for column in list(row)[:8]) or "nothing"
            raise RowFault("columns", f"{self._format.name} wants {self._format.reads}; this row has {have}")
        if other.convert is not self._format.convert:
            raise RowFault("other_format", f"a row of the format {other.name} among rows of {self._format.name}")

    def _tokens(self, row: Row, notes: Counter[str]) -> int:
        """Tokens of a row; 0 where nobody asked."""
        recipe = self._recipe
        if recipe.tokenizer is None:
            return 0
        rendered = recipe.tokenizer.rendered(row)
        learned = recipe.use in _LEARNED and "text" not in row
        if learned:
            masks.refuse(rendered)
        if recipe.max_tokens:
            masks.refuse_long(rendered, recipe.max_tokens)
        if learned and any(each.spans is None for each in rendered):
            notes["mask_unknown"] += 1
        if inline.pictures(row):
            notes["picture_tokens"] += 1
        return max(len(each.ids) for each in rendered)

    def _text(self, row: Row, item: Item) -> bytes:
        try:
            return (dump_plain(row) if item.floats else dump(row)) + b"\n"
        except UnicodeEncodeError:
            refuse_surrogates(row)
            raise
        except TypeError:  # a long integer, or a value of a table that JSON does not have
            return _long(row) + b"\n"


def _drop(result: Result, item: Item, fault: RowFault | NotJson) -> None:
    result.rows += 1
    result.ledger.append((item.line, "dropped", fault.code, fault.what))


def as_row(value: object) -> Row:
    """A row from a value: an object, or a bare list of turns.

    Raises:
        RowFault: anything else.
    """
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(turn, dict) for turn in value):
        return {formats.BARE: value}
    raise RowFault("not_row", f"a row is a JSON object, not {formats.kind(value)}")


def _turns(row: Row) -> list[int]:
    """Turns by role; of two answers, the better one's."""
    roles = [turn["role"] for column in _TALK if column in row for turn in row[column]]
    return [roles.count(role) for role in ROLES]


def _long(row: Row) -> bytes:
    try:
        return dump_plain(row)
    except TypeError as error:
        raise RowFault("not_json", f"a value that JSON does not have: {error}") from None
