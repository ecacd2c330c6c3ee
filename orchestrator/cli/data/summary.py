"""How a data manifest looks to a person."""

from __future__ import annotations

from typing import Any

from data_prep.manifest import DataManifest, Lengths
from data_prep.notes import WORDS

_WIDE = 40
"""Columns of the longest bar."""


def histogram(split: str, found: Lengths) -> list[str]:
    """Rows by length in tokens, a bar for each power of two."""
    most = max(found.histogram.values())
    lines, above = [f"{split}, rows by tokens"], 0
    for under, count in found.histogram.items():
        bar = "█" * max(1, round(_WIDE * count / most))
        lines.append(f"  {above:>7,} to {int(under) - 1:>7,} {count:>10,} {bar}")
        above = int(under)
    return lines


def lines(found: DataManifest) -> list[str]:
    """A manifest in a few lines."""
    counts = found.counts
    splits = ", ".join(f"{name} {split.rows:,}" for name, split in found.splits.items())
    text = [
        f"format    {found.format}, for {found.use} ({found.form})",
        f"rows      {counts.rows:,} in, {counts.kept:,} kept, {counts.changed:,} of them changed",
        *_reasons("dropped", counts.dropped),
        *_reasons("changed", counts.changes),
        f"splits    {splits}",
    ]
    roles = ", ".join(f"{role} {count:,}" for role, count in found.roles.items())
    text += [f"turns     {roles}"] if roles else []
    text += [_tokens(split, found.tokens[split]) for split in found.tokens]
    text += [f"warning   {finding}" for finding in found.findings]
    text += [f"note      {count:,} {WORDS[name]}" for name, count in counts.notes.items()]
    text += [f"pictures  {found.images['files']:,} files, {found.images['bytes']:,} bytes"] if found.images else []
    return text + ([f"licence   {found.licence}"] if found.licence else [])


def processed(told: dict[str, Any]) -> list[str]:
    """What a processor made of the rows."""
    tokens, faults = told["tokens"], ", ".join(f"{reason} {count:,}" for reason, count in told["faults"].items())
    shape = (
        f"; median {tokens['median']:,}, 95 % within {tokens['p95']:,}, longest {tokens['longest']:,}" if tokens else ""
    )
    text = [
        f"processor {told['processor']}: {told['rows']:,} rows",
        f"pictures  {told['pictures']:,}, which take {told['places']:,} tokens",
        f"tokens    {tokens['total'] if tokens else 0:,}, pictures included{shape}",
    ]
    unknown = f"note      {told['unknown']:,} rows: the processor does not say how many tokens their pictures take"
    return text + ([unknown] if told["unknown"] else []) + ([f"at fault  {faults}"] if faults else [])


def _reasons(name: str, counted: dict[str, int]) -> list[str]:
    if not counted:
        return []
    told = ", ".join(f"{reason} {count:,}" for reason, count in counted.items())
    return [f"{name:<9} {told}"]


def _tokens(split: str, found: Lengths) -> str:
    shape = f"median {found.median:,}, 95 % within {found.p95:,}, longest {found.longest:,}"
    return f"tokens    {split}: {found.total:,}; {shape}"
