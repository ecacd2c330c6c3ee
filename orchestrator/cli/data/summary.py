"""How a data manifest looks to a person."""

from __future__ import annotations

from data_prep.manifest import DataManifest, Lengths
from data_prep.notes import WORDS


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


def _reasons(name: str, counted: dict[str, int]) -> list[str]:
    if not counted:
        return []
    told = ", ".join(f"{reason} {count:,}" for reason, count in counted.items())
    return [f"{name:<9} {told}"]


def _tokens(split: str, found: Lengths) -> str:
    shape = f"median {found.median:,}, 95 % within {found.p95:,}, longest {found.longest:,}"
    return f"tokens    {split}: {found.total:,}; {shape}"
