"""What prepare and check share: their flags, and the options behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from data_prep import anew, columns, inputs, manifest, sources
from data_prep.columns import Columns
from data_prep.faults import DataFault
from data_prep.inputs import Input
from data_prep.options import Options
from data_prep.prepare import Tick
from data_prep.splits import Shares
from data_prep.tokenizer import ModelTokenizer
from orchestrator import progress
from orchestrator.cli.options import JSON
from orchestrator.errors import DataError, OutputExists

Command = TypeVar("Command", bound=Callable[..., Any])
_SHARE = click.FloatRange(0, 1)
_MEGA = 2**20

_FLAGS = (
    click.argument("sources", metavar="SOURCE...", nargs=-1, required=True),
    click.option("--format", help="Layout of the rows; recognised where it is not given."),
    click.option("--use", type=click.Choice(["sft", "dpo", "grpo", "kto", "eval"]), help="What the rows are for."),
    click.option("--columns", help="Which column is which: prompt=v2,completion=v1; a.b for a key within a column."),
    click.option("--keep", help="Columns that come along as they are, for rewards: level,source."),
    click.option("--model", type=click.Path(path_type=Path), help="Model folder: counts tokens with its tokenizer."),
    click.option("--max-tokens", type=click.IntRange(1), help="Leave out rows of more tokens; needs --model."),
    click.option("--against", multiple=True, help="Evaluation whose rows must not be trained on."),
    click.option(
        "--run", type=click.IntRange(3), default=13, show_default=True, help="Words in a row that make a leak."
    ),
    click.option("--from-mirror", type=click.Path(path_type=Path), help="Folder with the files of a named source."),
    click.option("--revision", help="Commit of a named source or hub name; named sources have one."),
    click.option("--max-examples-per-split", type=click.IntRange(1), help="Take no more rows of a split than this."),
    click.option("--images", multiple=True, metavar="[BEGINNING=]FOLDER", help="Where pictures lie that rows name."),
    click.option("--encoding", help="Encoding of text files that don't say theirs, such as cp1252."),
    click.option("--validation", type=_SHARE, default=0.05, show_default=True, help="Share held out for validation."),
    click.option("--test", type=_SHARE, default=0.0, show_default=True, help="Share held out for tests."),
    click.option("--seed", type=int, default=42, show_default=True, help="Seed of the split."),
    click.option(
        "--max-dropped", type=_SHARE, default=0.05, show_default=True, help="Share of rows that may be at fault."
    ),
    click.option("--keep-duplicates", is_flag=True, help="Keep rows that stand before already."),
    click.option("--licence", help="Licence of the data, where no file states it."),
    click.option("--processes", type=click.IntRange(1), help="Processes; as many as cores where not given."),
    JSON,
)


def flags(command: Command) -> Command:
    """The flags of commands that read data."""
    for flag in reversed(_FLAGS):
        command = flag(command)
    return command


def options(given: dict[str, Any]) -> Options:
    """The options behind the flags.

    Raises:
        DataFault: columns that are no pairs.
    """
    return Options(
        format=given["format"],
        use=given["use"],
        encoding=given["encoding"],
        columns=Columns(columns.parse(given["columns"]), tuple((given["keep"] or "").replace(",", " ").split())),
        shares=shares(given),
        max_dropped=given["max_dropped"],
        dedup=not given["keep_duplicates"],
        processes=given["processes"],
        tokenizer=_tokenizer(given),
        max_tokens=given["max_tokens"],
        against=tuple(paths(given["against"])),
        run=given["run"],
        limit=given["max_examples_per_split"],
        licence=given["licence"],
        images=tuple(_root(text) for text in given["images"]),
    )


def shares(given: dict[str, Any]) -> Shares:
    """How rows are split.

    Raises:
        DataFault: the shares are more than the whole.
    """
    if given["validation"] + given["test"] > 1:
        what = f"{given['validation']:g} and {given['test']:g} are more than all rows"
        raise DataFault(what, where="--validation, --test", fix="name shares that leave some for training")
    return Shares(given["validation"], given["test"], given["seed"])


def _tokenizer(given: dict[str, Any]) -> ModelTokenizer | None:
    if given["max_tokens"] and not given["model"]:
        raise DataFault("tokens are those of a model", where="--max-tokens", fix="name a model folder with --model")
    return ModelTokenizer(given["model"].expanduser()) if given["model"] else None


def _root(text: str) -> tuple[str, Path]:
    start, mark, folder = text.rpartition("=")
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise DataFault("no such folder", where=f"--images {text}", fix="name the folder that the pictures lie below")
    return (start if mark else "", root)


def read(names: tuple[str, ...], given: dict[str, Any]) -> tuple[list[Input], Options]:
    """The files behind what was named, paths or a source, and the options for them.

    Raises:
        DataFault: nothing there, or a source together with something else.
    """
    known = [source for name in names if (source := sources.source(name))]
    mirror, revision = given["from_mirror"], given["revision"]
    if not known:
        if mirror or revision:
            fix = f"name one of {', '.join(sources.SOURCES)}, or a hub name"
            raise DataFault("only named sources have a mirror or a revision", where=names[0], fix=fix)
        folders = paths(names)
        chosen = options(given)
        if len(folders) == 1 and manifest.is_prepared(folders[0]):
            chosen = anew.known(folders[0], chosen)
        licence = chosen.licence or next((stated for f in folders if (stated := sources.licence(f))), None)
        return inputs.inputs(folders), replace(chosen, licence=licence)
    if len(names) > 1:
        raise DataFault("a named source is prepared by itself", where=names[0], fix="prepare one after the other")
    place = mirror.expanduser() if mirror else None
    found = sources.from_mirror(known[0], place, revision) if place else sources.from_hub(known[0], revision)
    return sources.read(found, options(given))


def paths(names: tuple[str, ...]) -> list[Path]:
    """The files and folders that were named."""
    return [Path(name).expanduser() for name in names]


@contextmanager
def told() -> Iterator[None]:
    """Tell of faults in data as every command tells of errors."""
    try:
        yield
    except DataFault as fault:
        raise DataError(fault.what, where=fault.where, why=fault.why, fix=fault.fix, details=fault.others) from None
    except FileExistsError as error:
        fix = "name another one, or remove it"
        raise OutputExists("the folder is there already", where=error.filename or str(error), fix=fix) from None


@contextmanager
def rows(title: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar, or plain lines, of how many rows were looked at."""
    bar = progress.make(quiet)
    with bar.stage(f"{title} (rows)"):
        yield lambda step, total: bar.event({"type": "step", "step": step, "total": total, "metrics": {}})


@contextmanager
def shown(title: str, *, quiet: bool) -> Iterator[Tick]:
    """A bar, or plain lines, of how much was read."""
    bar, last = progress.make(quiet), -1

    def tick(taken: int, total: int, _rows: int) -> None:
        nonlocal last
        if taken // _MEGA != last:
            last = taken // _MEGA
            bar.event({"type": "step", "step": last, "total": max(total // _MEGA, 1), "metrics": {}})

    with bar.stage(f"{title} (MiB)"):
        yield tick
