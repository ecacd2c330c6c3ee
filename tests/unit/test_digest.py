"""Digests of contents."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import digest

if TYPE_CHECKING:
    from tests.conftest import Write


def test_a_digest_is_sha256_of_the_bytes(write: Write) -> None:
    assert digest.file_digest(write("f", b"abc")) == hashlib.sha256(b"abc").hexdigest()


def test_a_big_file_is_read_once_and_again_when_it_changed(
    write: Write, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_BIG", 4)
    path, memory = write("f", b"12345678"), work / "memory"
    first = digest.file_digest(path, memory)
    (note,) = memory.iterdir()
    note.write_text('{"sha256": "remembered"}')
    assert digest.file_digest(path, memory) == "remembered"
    path.write_bytes(b"abcdefgh")
    os.utime(path, ns=(1, 1))
    assert digest.file_digest(path, memory) == hashlib.sha256(b"abcdefgh").hexdigest() != first


def test_a_big_file_that_changed_and_got_its_old_time_back_is_read_again(
    write: Write, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_BIG", 4)
    path, memory = write("f", b"12345678"), work / "memory"
    before, stat = digest.file_digest(path, memory), path.stat()
    with path.open("r+b") as file:
        file.write(b"2")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert digest.file_digest(path, memory) != before


def test_a_models_own_code_counts(write: Write, work: Path) -> None:
    """With `trust_remote_code` it is what answers."""
    write("m/config.json", "{}")
    before = digest.model_digest(work / "m")
    write("m/modeling_own.py", "pass")
    assert digest.model_digest(work / "m") != before


def test_a_damaged_memory_is_no_answer(write: Write, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_BIG", 4)
    path, memory = write("f", b"12345678"), work / "memory"
    first = digest.file_digest(path, memory)
    for text in ("", "{}", "[1]", "{"):
        next(memory.iterdir()).write_text(text)
        assert digest.file_digest(path, memory) == first


def test_a_folder_is_names_and_contents(write: Write, work: Path) -> None:
    write("m/config.json", "{}")
    write("m/sub/w.safetensors", b"1")
    write("m/.hidden", "x")
    write("m/notes.md", "x")
    files = digest.folder_files(work / "m")
    assert [f.path for f in files] == ["config.json", "notes.md", "sub/w.safetensors"]
    before, model = digest.combined(files), digest.model_digest(work / "m")
    write("m/notes.md", "y")
    assert digest.combined(digest.folder_files(work / "m")) != before
    assert digest.model_digest(work / "m") == model
    (work / "m/sub/w.safetensors").rename(work / "m/sub/v.safetensors")
    assert digest.model_digest(work / "m") != model
