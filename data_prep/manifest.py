"""The data manifest: what a prepared folder holds, what it was made from, and what became of every row.

It holds no time and no path of a machine: the same input and options make the same bytes wherever they lie.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_prep.faults import DataFault
from data_prep.splits import Split

FILE = "manifest.json"
SCHEMA = 1
KIND = "post-train data"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceFile(_Part):
    """A file that rows came from; its name is relative to what was named on the command line."""

    name: str
    sha256: str
    size: int
    container: str
    compression: str = "none"
    encoding: str = "utf-8"
    split: Split | None = None


class SplitFile(_Part):
    """A file of rows."""

    file: str
    rows: int
    size: int
    sha256: str


class Counts(_Part):
    """Rows: `rows` in = `kept` + all that is dropped. `changed` of the kept ones are not as they came."""

    rows: int
    kept: int
    changed: int
    dropped: dict[str, int] = Field({}, description="Rows by reason.")
    changes: dict[str, int] = Field({}, description="Changes by reason; a row may have several.")
    notes: dict[str, int] = Field({}, description="Things worth a look in rows that are kept.")


class Lengths(_Part):
    """Tokens of a row, rendered. `histogram` counts rows by the power of two they stay under."""

    tokenizer: str = Field(description="sha256 of tokenizer.json and the chat template.")
    shortest: int
    median: int
    p95: int
    longest: int
    total: int
    histogram: dict[str, int]


class DataManifest(_Part):
    """All that is known of a prepared folder."""

    kind: str = KIND
    schema_version: int = SCHEMA
    key: str = Field(
        description="Hash of the content of every input and of the options: the same key, the same folder."
    )
    origin: str | None = Field(None, description="Hub name or built-in source.")
    revision: str | None = None
    licence: str | None = Field(None, description="As the source states it; None when it does not.")
    format: str
    form: str
    use: str
    options: dict[str, Any]
    sources: tuple[SourceFile, ...]
    counts: Counts
    splits: dict[Split, SplitFile]
    roles: dict[str, int] = {}
    tokens: dict[Split, Lengths] = {}
    findings: tuple[str, ...] = Field((), description="What is wrong with the tokenizer, or worth knowing of the set.")
    against: tuple[SourceFile, ...] = Field((), description="Evaluations whose rows were kept out of train.")
    images: dict[str, int] = {}
    ledger: SplitFile


def write(folder: Path, manifest: DataManifest) -> None:
    """Write a manifest; last of all files, so that a folder with one is whole."""
    text = manifest.model_dump_json(indent=2) + "\n"
    (folder / FILE).write_text(text, encoding="utf-8")


def read(folder: Path) -> DataManifest:
    """The manifest of a prepared folder.

    Raises:
        DataFault: there is none, or it is damaged or of a newer version.
    """
    path = folder / FILE
    try:
        found = DataManifest.model_validate_json(path.read_bytes())
    except OSError as error:
        fix = "post-train data prepare FILE --output FOLDER"
        raise DataFault(f"no prepared data: {error.strerror}", where=str(path), fix=fix) from None
    except ValidationError as error:
        first = error.errors()[0]
        what = f"the data manifest is damaged: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise DataFault(what, where=str(path), fix="prepare the data again") from None
    if found.schema_version > SCHEMA:
        raise DataFault("the data manifest is of a newer version", where=str(path), fix="upgrade post-train")
    return found


def is_prepared(folder: Path) -> bool:
    """Whether a folder says that it is prepared data."""
    path = folder / FILE
    return path.is_file() and KIND.encode() in path.read_bytes()[:200]


def digest(folder: Path) -> str:
    """sha256 of the manifest, hex: it holds the digests of all else."""
    return hashlib.sha256((folder / FILE).read_bytes()).hexdigest()
