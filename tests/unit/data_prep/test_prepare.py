"""What preparing promises: stable splits, told losses, the same bytes by one process or many, true manifests."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from data_prep import fresh, index, manifest, pictures, prepare
from data_prep.faults import DataFault
from data_prep.inputs import inputs
from data_prep.options import Options
from data_prep.splits import SPLITS, Shares

if TYPE_CHECKING:
    from tests.conftest import Write

    from .conftest import Made, Prepare, Refused

THIRDS = Shares(0.3, 0.3)


def pairs(count: int, start: int = 0) -> list[dict[str, str]]:
    return [{"prompt": f"question {n}", "completion": f"answer {n}"} for n in range(start, start + count)]


def places(made: Made) -> dict[str, str]:
    """Question -> split."""
    found: dict[str, str] = {}
    for split in SPLITS:
        if (made.folder / f"{split}.jsonl").exists():
            found |= {row["messages"][0]["content"]: split for row in made.rows(split)}
    return found


def test_a_row_stays_in_its_split_when_others_come(write: Write, make: Prepare) -> None:
    few = places(make(write("few.jsonl", pairs(300)), "few", shares=THIRDS))
    rows = pairs(900)
    random.Random(1).shuffle(rows)
    many = places(make(write("many.jsonl", rows), "many", shares=THIRDS))
    assert {question: many[question] for question in few} == few
    assert 200 < sum(split == "test" for split in many.values()) < 340
    other = places(make(write("few.jsonl", pairs(300)), "other", shares=Shares(0.3, 0.3, seed=7)))
    assert other != few


def test_answers_to_one_question_stay_together(write: Write, make: Prepare) -> None:
    rows = [{"prompt": f"question {n % 50}", "completion": f"answer {n}"} for n in range(500)]
    made = make(write("d.jsonl", rows), shares=THIRDS)
    asked = [{row["messages"][0]["content"] for row in made.rows(split)} for split in SPLITS]
    assert sum(map(len, asked)) == 50
    assert all(asked)


def test_repeated_rows_are_left_out_and_told(write: Write, make: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_AT_ONCE", 10)  # several passes
    rows = [*pairs(40), *pairs(20), *pairs(5)]
    made = make(write("d.jsonl", rows), shares=THIRDS)
    assert made.manifest.counts.dropped == {"duplicate": 25}
    assert made.manifest.counts.kept == 40 == sum(each.rows for each in made.manifest.splits.values())
    assert made.manifest.roles == {"user": 40, "assistant": 40}
    assert sorted(places(made)) == sorted(row["prompt"] for row in pairs(40))
    lines = [json.loads(line) for line in (made.folder / "ledger.jsonl").read_text().splitlines()]
    told = {line["where"]: line["what"] for line in lines}
    assert told["d.jsonl:41"] == "the same as d.jsonl:1"
    assert told["d.jsonl:65"] == "the same as d.jsonl:5"
    kept = make(write("d.jsonl", rows), "all", dedup=False)
    assert kept.manifest.counts.kept == 65


def test_the_manifest_tells_the_truth_of_its_files(write: Write, make: Prepare) -> None:
    path = write("d.jsonl", [*pairs(100), {"prompt": "x"}, {"prompt": "y", "completion": 7}, *pairs(3)])
    made = make(path, shares=THIRDS)
    for each in (*made.manifest.splits.values(), made.manifest.ledger):
        content = (made.folder / each.file).read_bytes()
        assert (sha256(content).hexdigest(), len(content), content.count(b"\n")) == (each.sha256, each.size, each.rows)
    counts = made.manifest.counts
    assert counts.rows == counts.kept + sum(counts.dropped.values()) == 105
    assert (counts.changed, counts.changes) == (1, {"number": 1})
    (source,) = made.manifest.sources
    assert (source.name, source.sha256) == ("d.jsonl", sha256(path.read_bytes()).hexdigest())
    assert manifest.read(made.folder) == made.manifest


def test_one_process_and_many_make_the_same_bytes(write: Write, make: Prepare) -> None:
    rows: list[Any] = [{"conversations": [{"from": "human", "value": f"{n} " * 200}, {"from": "gpt", "value": n % 9 or None}]} for n in range(9000)]  # fmt: skip  # noqa: E501
    path = write("d.jsonl", rows)
    one, many = make(path, "one", processes=1), make(path, "many", processes=3)
    for file in ("train.jsonl", "ledger.jsonl", "manifest.json"):
        assert (one.folder / file).read_bytes() == (many.folder / file).read_bytes()
    assert one.manifest.counts.dropped == {"not_text": 1000}


def test_a_fault_in_another_process_comes_back_whole(write: Write, refused: Refused) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    path = write("d.parquet", b"")
    parquet.write_table(pyarrow.table({"text": [str(n) * 50 for n in range(5000)]}), path, row_group_size=500)
    content = bytearray(path.read_bytes())
    content[4000:60000] = bytes(56000)
    path.write_bytes(content)
    assert "a damaged file" in refused(path, processes=2).what


def test_a_file_that_grows_is_prepared_again(write: Write, work: Path) -> None:
    path, options = write("d.jsonl", pairs(50)), Options()
    files = inputs([path])
    made = prepare.prepare(files, options, work / "out")
    assert fresh.fresh(work / "out", files, options) == made
    assert fresh.fresh(work / "out", files, Options(shares=Shares(0.5))) is None
    write("d.jsonl", pairs(51))
    assert fresh.fresh(work / "out", inputs([path]), options) is None
    write("d.jsonl", pairs(50))
    (work / "out/train.jsonl").write_text("")
    assert fresh.fresh(work / "out", inputs([path]), options) is None


def test_a_changed_picture_is_prepared_again(write: Write, work: Path) -> None:
    picture = write("1.gif", b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;")
    rows = [{"prompt": f"<image>{n}", "completion": "b", "image": name} for n, name in enumerate(["1.gif", "2.gif"])]
    files, options = inputs([write("d.jsonl", rows)]), Options(max_dropped=0.5, shares=Shares(0, 0))
    made = prepare.prepare(files, options, work / "out")
    fresh.remember(work / "out", files, made, options)
    assert made.counts.dropped == {"picture_missing": 1}
    assert fresh.fresh(work / "out", files, options) == made
    assert fresh.fresh(work / "out", files, replace(options, images=(("", work),))) is None
    write("2.gif", picture.read_bytes())
    assert fresh.fresh(work / "out", files, options) is None
    (work / "2.gif").unlink()
    assert fresh.fresh(work / "out", files, options) == made
    assert pictures.changed(work / "out/train.jsonl") is None
    (kept,) = (work / "out/images").iterdir()
    kept.write_bytes(b"GIF89a")
    assert pictures.changed(work / "out/train.jsonl") == f"images/{kept.name}"


def test_rows_changed_in_place_are_prepared_again(write: Write, work: Path) -> None:
    files, options = inputs([write("d.jsonl", pairs(50))]), Options()
    fresh.remember(work / "out", files, prepare.prepare(files, options, work / "out"), options)
    rows = work / "out/train.jsonl"
    rows.write_text(rows.read_text().replace("answer", "ANSWER"))
    assert fresh.fresh(work / "out", files, options) is None


def test_a_folder_of_splits_keeps_them(write: Write, make: Prepare, work: Path) -> None:
    write("set/train.jsonl", pairs(30))
    write("set/test.jsonl", pairs(10, 100))
    made = make(work / "set")
    assert {split: each.rows for split, each in made.manifest.splits.items()} == {"train": 30, "test": 10}
    write("parts/a.jsonl", pairs(30))
    write("parts/b.jsonl", pairs(10, 100))
    assert make(work / "parts", "other", shares=THIRDS).manifest.counts.kept == 40


def test_checking_counts_as_preparing_does(write: Write, make: Prepare, work: Path) -> None:
    path = write("d.jsonl", [*pairs(60), *pairs(10), {"prompt": 5, "completion": "b"}])
    made = make(path, shares=THIRDS).manifest
    checked = prepare.check(inputs([path]), Options(max_dropped=1, shares=THIRDS))
    assert checked.counts == made.counts
    assert {k: v.rows for k, v in checked.splits.items()} == {k: v.rows for k, v in made.splits.items()}


def test_a_folder_is_never_written_over(write: Write, make: Prepare) -> None:
    path = write("d.jsonl", pairs(5))
    make(path)
    with pytest.raises(FileExistsError):
        make(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [("{", "damaged"), ('{"kind": "post-train data"}', "damaged"), (None, "no prepared data")],
)
def test_a_damaged_manifest_is_told(work: Path, content: str | None, words: str) -> None:
    if content:
        (work / "manifest.json").write_text(content)
    with pytest.raises(DataFault, match=words):
        manifest.read(work)
