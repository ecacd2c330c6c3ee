"""What a person may say about how data is prepared."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from data_prep.columns import Columns
from data_prep.splits import Shares
from data_prep.tokenizer import ModelTokenizer


@dataclass(frozen=True)
class Options:
    """How to prepare.

    Attributes:
        format: layout of the rows; recognised where it is not named.
        use: what they are for; follows from the format where it is not named.
        encoding: what the bytes are, where the file does not say.
        max_dropped: share of rows that may be dropped for a fault.
        dedup: leave out rows that stand before already.
        processes: how many work; as many as there are cores where it is not said.
        tokenizer: counts tokens, and renders what gets loss.
        max_tokens: longer rows are left out.
        against: evaluations whose rows must not be trained on.
        run: words in a row that two texts share when one leaks into the other.
        limit: rows of a split at most; reading stops when every split has them.
        licence: of the data, where no file states it.
    """

    format: str | None = None
    use: str | None = None
    encoding: str | None = None
    columns: Columns = field(default_factory=Columns)
    shares: Shares = field(default_factory=Shares)
    max_dropped: float = 0.05
    dedup: bool = True
    processes: int | None = None
    tokenizer: ModelTokenizer | None = None
    max_tokens: int | None = None
    against: tuple[Path, ...] = ()
    run: int = 13
    limit: int | None = None
    licence: str | None = None
    origin: str | None = None
    revision: str | None = None
    images: tuple[tuple[str, Path], ...] = ()

    def literals(self) -> dict[str, Any]:
        """Everything that makes the result what it is, and nothing of the machine.

        Raises:
            DataFault: the tokenizer can't be loaded.
        """
        return {
            "format": self.format,
            "use": self.use,
            "encoding": self.encoding,
            "columns": {"names": [list(pair) for pair in self.columns.names], "keep": list(self.columns.keep)},
            "shares": asdict(self.shares),
            "max_dropped": self.max_dropped,
            "dedup": self.dedup,
            "max_tokens": self.max_tokens,
            "run": self.run,
            "limit": self.limit,
            "tokenizer": self.tokenizer.content() if self.tokenizer else None,
        }
