"""Files made to break a reader, or broken on their way: a clear error, or a counted and explained row."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from data_prep import batch, compressed
from data_prep.faults import DataFault
from data_prep.inputs import inputs

if TYPE_CHECKING:
    from tests.conftest import Write

    from .conftest import Prepare, Refused

GOOD = b'{"prompt": "a", "completion": "b"}'


def bad_row(text: bytes) -> bytes:
    """Many good rows with a bad one on line 3."""
    rows = [b'{"prompt": "%d", "completion": "b"}' % n for n in range(100)]
    return b"\n".join([*rows[:2], text, *rows[2:]]) + b"\n"


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        (GOOD[:-5], "not_json", "not JSON"),
        (b'{"prompt": NaN, "completion": "b"}', "not_finite", "NaN is not JSON"),
        (b'{"prompt": "a", "completion": 1e999}', "not_finite", "too large"),
        (b'{"prompt": "a", "completion": -Infinity}', "not_finite", "-Infinity is not JSON"),
        (b'{"prompt": "a", "completion": "b\\ud800"}', "surrogate", "half of a surrogate pair"),
        (b'{"prompt": "a", "completion": "b\xff"}', "not_utf8", "not UTF-8 at byte 32"),
        (b'{"prompt": "a", "prompt": "b", "completion": "c"}', "repeated_key", "'prompt' occurs twice"),
        (b'{"a":' * 50_000, "not_json", "nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "not_json", "nested too deeply"),
        (b'{"prompt": "a", "completion": ' + b"1" * 6000 + b"}", "not_json", "not JSON"),
        (b"5", "not_row", "a row is a JSON object, not a number"),
        (b"null", "not_row", "not null"),
        (b"[]", "not_row", "not a list"),
        (b"\0" * 20, "not_json", "not JSON"),
        (b'{"prompt": "a\tb", "completion": "b"}', "not_json", "control character"),
        (GOOD + b" trailing", "not_json", "Extra data"),
    ],
)  # fmt: skip
def test_one_bad_row_is_told_and_the_others_are_kept(
    write: Write, make: Prepare, text: bytes, reason: str, words: str
) -> None:
    made = make(write("d.jsonl", bad_row(text)))
    assert made.manifest.counts.kept == 100
    assert made.ledger() == [("d.jsonl:3", "dropped", reason)]
    assert words in (made.folder / "ledger.jsonl").read_text()


def test_too_many_bad_rows_stop_it(write: Write, refused: Refused) -> None:
    found = refused(write("d.jsonl", bad_row(GOOD[:-5])), max_dropped=0.001)
    assert "1 of 101 rows can't be used (not_json 1)" in found.what
    assert found.where.endswith("d.jsonl:3")
    assert "--max-dropped" in (found.fix or "")


def test_objects_on_one_line_are_rows(write: Write, make: Prepare) -> None:
    made = make(write("d.jsonl", GOOD + b' {"prompt":"c","completion":"d"}\n'))
    assert len(made.rows()) == 2
    assert made.ledger() == [("d.jsonl:1", "changed", "joined")] * 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_encoding_that_can_be_known_is(write: Write, make: Prepare, encoding: str, end: str) -> None:
    text = '{"prompt": "naïve 両", "completion": "ok"}' + end + end + '{"prompt": "2", "completion": "c"}'
    made = make(write("d.jsonl", text.encode(encoding)))
    assert [row["messages"][0]["content"] for row in made.rows()] == ["naïve 両", "2"]


def test_an_encoding_that_can_not_be_known_is_never_guessed(write: Write, make: Prepare, refused: Refused) -> None:
    path = write("d.csv", "prompt,completion\r\na,b\r\ncafé,ok\r\n".encode("cp1252"))
    found = refused(path)
    assert found.where == f"{path}:3"
    assert "not UTF-8: byte 0xe9" in found.what
    assert "--encoding" in (found.fix or "")
    assert make(path, encoding="cp1252").rows()[1]["messages"][0]["content"] == "café"


def test_the_wrong_encoding_is_told(write: Write, refused: Refused) -> None:
    found = refused(write("d.jsonl", GOOD + b"\n" + GOOD[:12] + "é".encode() + GOOD[12:]), encoding="ascii")
    assert "not ascii" in found.what
    assert found.where.endswith(":2")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no row"),
        (b" \n\n", "holds no row"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "Git-LFS pointer"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "HTML page"),
        (b"\n<html>", "HTML page"),
        (b"PK\x03\x04" + b"x" * 50, "zip archive"),
        (b"\x80\x04\x95" + b"x" * 50, "pickle"),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 50, "picture"),
        (b"SQLite format 3\0", "SQLite"),
        (b"ID3\x04" + b"\0" * 50, "sound or video"),
        (b"\0\0\0\x18ftypisom", "sound or video"),
        (b"\x01words\0\0\0", "binary data"),
        (b'{"one": {"file_name": "a.json"}, "two": {}}', "an object that holds only objects"),
        (b'{\n"text": "a"}\n{\n"text": "b"}', "Extra data"),
        (b'[{"prompt": "a", "completion": "b"}, {"prompt": "c", ', "the file ends here"),
        (b'[{"prompt": "a", "completion": "b"} {"prompt": "c"}]', "an array goes on with `,`"),
        (b'[{"prompt": "a", "completion": "b"}] tail', "something follows the end"),
        (b'[\n{"prompt": "a", "completion": "b"},\n{"prompt" "c"}]', "not JSON"),
        (b"[]", "holds no row"),
        (b"just words\nand more", "plain text"),
        (b'{"input_ids": [1, 2], "labels": [1, 2]}', "token ids"),
        (b'{"id": 1, "ground_truth": [1]}', "answers without their questions"),
        (b'{"red": 1, "blue": 2}', "no known format has these columns: `red`, `blue`"),
        (b'{"train": [{"text": "x"}], "test": [{"text": "y"}]}', "several keys: train, test"),
        (b'{\n"data": [{"text": "x"},\n}', "not JSON"),
    ],
)  # fmt: skip
def test_what_is_no_data_is_refused(write: Write, refused: Refused, content: bytes, words: str) -> None:
    found = refused(write("d.txt" if b"words" in content else "d.jsonl", content))
    assert words in found.what
    assert found.fix


def test_a_fault_in_an_array_has_its_line(write: Write, refused: Refused) -> None:
    rows = b",\n".join([b'{"text":\n "%d"}' % n for n in range(50)])
    path = write("d.json", b"[\n" + rows + b',\n{"text":\n oops}]')
    assert refused(path).where == f"{path}:103"


def test_a_long_line_is_passed_over_without_being_held(
    write: Write, make: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    from data_prep.readers import lines

    for module in (batch, lines):
        monkeypatch.setattr(module, "LONGEST", 2 * 2**20)
    long = b'{"prompt": "' + b"x" * (60 * 2**20) + b'", "completion": "b"}'
    path = write("d.jsonl", bad_row(long))
    del long
    tracemalloc.start()
    made = make(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made.ledger() == [("d.jsonl:3", "dropped", "too_long")]
    assert made.manifest.counts.kept == 100
    assert peak < 20 * 2**20


def test_an_array_element_that_never_ends_is_refused(
    write: Write, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    from data_prep.readers import array

    monkeypatch.setattr(array, "LONGEST", 2 * 2**20)
    assert "an element of more than" in refused(write("d.json", b'[{"text": "' + b"x" * (8 * 2**20))).what


PACK: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def zstd(data: bytes) -> bytes:
    import zstandard

    packed: bytes = zstandard.ZstdCompressor().compress(data)
    return packed


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
def test_compressed_files(write: Write, make: Prepare, refused: Refused, ending: str) -> None:
    rows = b"".join(b'{"prompt": "%d", "completion": "b"}\n' % n for n in range(40_000))
    packed = PACK.get(ending, zstd)(rows)
    assert make(write(f"d.jsonl.{ending}", packed)).manifest.counts.kept == 40_000
    found = refused(write(f"cut.jsonl.{ending}", packed[: len(packed) // 2]))
    assert "cut off" in found.what or "damaged" in found.what or "ends here" in found.what


def test_files_packed_together_are_read_to_the_last(write: Write, make: Prepare) -> None:
    other = b'\n{"prompt":"c","completion":"d"}'
    assert len(make(write("d.jsonl.gz", gzip.compress(GOOD) + gzip.compress(other))).rows()) == 2


def test_damage_within_a_compressed_file(write: Write, refused: Refused) -> None:
    packed = bytearray(gzip.compress(b"".join(b'{"text": "%d"}\n' % (n * 7919) for n in range(50_000))))
    packed[len(packed) // 2] ^= 0xFF
    assert "damaged" in refused(write("d.jsonl.gz", bytes(packed))).what


def test_a_decompression_bomb_is_refused(write: Write, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "_FREE", 4 * 2**20)
    found = refused(write("d.jsonl.gz", gzip.compress(b'{"text": "' + b"a" * (64 * 2**20) + b'"}')))
    assert "a decompression bomb" in found.what


def test_a_name_is_not_believed(write: Write, make: Prepare) -> None:
    assert len(make(write("d.jsonl.gz", GOOD)).rows()) == 1
    assert len(make(write("d.json", GOOD + b'\n{"prompt":"c","completion":"d"}'), "other").rows()) == 2


@pytest.mark.parametrize("rows", [1, 3])
def test_a_first_row_may_be_longer_than_a_block(write: Write, make: Prepare, rows: int) -> None:
    text = b"".join(b'{"prompt": "%d", "completion": "%s"}\n' % (n, b"x" * (3 * 2**20)) for n in range(rows))
    assert make(write("d.jsonl", text)).manifest.counts.kept == rows
    under = b'{"data": [' + b", ".join(text.splitlines()) + b"]}"
    assert make(write("under.json", under), "under").manifest.counts.kept == rows


def test_a_name_that_is_no_text(work: Path, make: Prepare) -> None:
    path = Path(os.fsdecode(os.fsencode(work) + b"/d\xff.jsonl"))
    path.write_bytes(GOOD + b"\n" + GOOD)
    assert make(path).ledger() == [("d\\udcff.jsonl:2", "dropped", "duplicate")]


def test_tables(write: Write, make: Prepare, refused: Refused) -> None:
    table = 'prompt,completion,\r\n"a, ""x""\nline",b,\r\nc,d,lost\r\ne\r\n'
    made = make(write("d.csv", table))
    assert made.rows()[0]["messages"][0]["content"] == 'a, "x"\nline'
    assert made.ledger() == [("d.csv:4", "changed", "unnamed_column"), ("d.csv:5", "dropped", "cells")]
    assert make(write("d.tsv", "prompt\tcompletion\na\tb\n"), "tabs").manifest.counts.kept == 1
    found = refused(write("open.csv", 'prompt,completion\na,b\n"never closed,c\nd,e\n'))
    assert found.where.endswith("open.csv:3")
    assert "two columns are called 'a'" in refused(write("twice.csv", "a,a\n1,2\n")).what


def test_parquet_and_arrow(work: Path, write: Write, make: Prepare, refused: Refused) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    table = arrow.table({"prompt": [str(n) for n in range(1000)], "completion": ["b"] * 999 + [None]})
    parquet.write_table(table, work / "d.parquet", row_group_size=100)
    made = make(work / "d.parquet")
    assert made.manifest.counts.kept == 999
    assert made.ledger() == [("d.parquet:1000", "dropped", "other_format")]
    whole = (work / "d.parquet").read_bytes()
    assert "a damaged file" in refused(write("cut.parquet", whole[:-100])).what
    (work / "saved").mkdir()
    with arrow.OSFile(str(work / "saved/data-0.arrow"), "wb") as sink, arrow.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table, max_chunksize=300)
    write("saved/state.json", json.dumps({"_data_files": [{"filename": "data-0.arrow"}]}))
    assert make(work / "saved", "from_saved").manifest.counts.kept == 999


def test_links_out_of_a_folder_are_refused(work: Path, write: Write) -> None:
    write("data/good.jsonl", GOOD)
    secret = write("secret.jsonl", GOOD)
    (work / "data/link.jsonl").symlink_to(secret)
    with pytest.raises(DataFault, match="a link that leads out of the folder"):
        inputs([work / "data"])
    (work / "dead.jsonl").symlink_to(work / "nowhere")
    with pytest.raises(DataFault, match="a link that leads nowhere"):
        inputs([work / "dead.jsonl"])


def test_what_is_no_file(work: Path) -> None:
    os.mkfifo(work / "pipe")
    (work / "empty").mkdir()
    for name, words in (("pipe", "a pipe or device"), ("empty", "no file of rows"), ("none", "no such data file")):
        with pytest.raises(DataFault, match=words):
            inputs([work / name])
