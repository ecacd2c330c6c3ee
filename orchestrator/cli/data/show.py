"""post-train data show"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from data_prep import look, manifest
from data_prep.look import Seen
from data_prep.row import Row, RowFault
from data_prep.tokenizer import ModelTokenizer, Rendered
from orchestrator.cli.data import request


@click.command(short_help="Print rows as the model sees them.")
@request.flags
@click.option("--split", default="train", show_default=True, help="Which split of a prepared folder.")
@click.option("--skip", type=click.IntRange(0), default=0, help="Rows to pass over first.")
@click.option("--rows", type=click.IntRange(1), default=3, show_default=True, help="Rows to print.")
def command(sources: tuple[str, ...], split: str, skip: int, rows: int, as_json: bool, **given: Any) -> None:
    """Print rows of SOURCE: a prepared folder, or any file or named source as prepare would make them.

    With --model they are rendered with its chat template, and what gets loss is coloured (between ⟦ and ⟧ where there
    is no colour), with numbers of tokens.
    """
    with request.told():
        folders = [path for path in request.paths(sources) if manifest.is_prepared(path)]
        if folders:
            options = request.options(given)
            found = [seen for folder in folders for seen in look.prepared(folder, split, skip, rows)]
        else:
            files, options = request.read(sources, given)
            found = look.raw(files, options, skip, rows)
        for seen in found:
            _print(seen, options.tokenizer, as_json=as_json)


def _print(seen: Seen, tokenizer: ModelTokenizer | None, *, as_json: bool) -> None:
    if as_json:
        return click.echo(json.dumps({"where": seen.place, "row": seen.row, "fault": seen.fault}, ensure_ascii=False))
    if seen.row is None:
        return click.echo(f"{seen.place}  dropped: {seen.fault}\n")
    if tokenizer is None:
        return click.echo(f"{seen.place}\n{_plain(seen.row)}\n")
    try:
        rendered = tokenizer.rendered(seen.row)
    except RowFault as fault:
        return click.echo(f"{seen.place}  {fault.what}\n")
    for each in rendered:
        click.echo(f"{seen.place}  {_counts(each)}\n{_coloured(each)}\n")
    return None


def _counts(rendered: Rendered) -> str:
    learned = rendered.learned()
    told = "nothing tells which get loss" if learned is None else f"{learned:,} with loss"
    return f"{len(rendered.ids):,} tokens, {told}"


def _coloured(rendered: Rendered) -> str:
    """What gets loss in green on a terminal, between brackets elsewhere."""
    pieces, at = list[str](), 0
    for start, end in rendered.spans or []:
        pieces += [rendered.text[at:start], _marked(rendered.text[start:end])]
        at = end
    return "".join(pieces) + rendered.text[at:]


def _marked(text: str) -> str:
    return click.style(text, fg="green") if sys.stdout.isatty() else f"⟦{text}⟧"


def _plain(row: Row) -> str:
    lines = list[str]()
    for column, value in row.items():
        if isinstance(value, list):
            lines += [f"{column}.{turn['role']}: {_said(turn)}" for turn in value]
        else:
            lines.append(f"{column}: {value}")
    return "\n".join(lines)


def _said(turn: Row) -> str:
    content = turn["content"]
    if isinstance(content, list):
        content = " ".join(part.get("text") or f"[{part['path']}]" for part in content)
    calls = json.dumps(turn["tool_calls"], ensure_ascii=False) if turn.get("tool_calls") else ""
    return " ".join(piece for piece in (content, calls) if piece)
