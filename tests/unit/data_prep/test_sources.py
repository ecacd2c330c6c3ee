"""Named sources, read from mirrors that hold their layout: rows, pictures, limits, revisions, licences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from data_prep import manifest, sources
from data_prep.faults import DataFault
from data_prep.sources import SOURCES

from .test_pictures import png

if TYPE_CHECKING:
    from tests.conftest import Cli, Write


def table(path: Path, rows: list[dict[str, Any]], **more: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(arrow.Table.from_pylist(rows), path, **more)


def circuit(number: int, questions: int = 2) -> dict[str, Any]:
    """A row as CoSyn-400K has it: a picture, and questions and answers as columns."""
    asked = [f"What is R{n} of circuit {number}?" for n in range(questions)]
    told = [f"{n} ohm" for n in range(questions)]
    pairs = {"question": asked, "explanation": ["so"] * questions, "answer": told}
    return {"id": str(number), "image": {"bytes": png(shade=number), "path": None}, "qa_pairs": pairs, "code": "x"}


@pytest.fixture
def mirror(work: Path) -> Path:
    """All three sources, small, under their own paths."""
    root = work / "mirror"
    cosyn = root / SOURCES["cosyn-circuit"].repository / "circuit"
    table(cosyn / "train-00000-of-00001.parquet", [circuit(n) for n in range(40)], row_group_size=10)
    table(cosyn / "validation-00000-of-00001.parquet", [circuit(n) for n in range(50, 55)])
    talk = [{"role": "user", "content": "Write a poem"}, {"role": "assistant", "content": "Roses"}]
    personas = [{"id": str(n), "messages": [{**talk[0], "content": f"Poem {n}"}, talk[1]]} for n in range(100)]
    table(root / SOURCES["tulu"].repository / "data/train-00000-of-00001.parquet", personas)
    pages = [{"bytes": png(shade=n), "path": f"{n}.png"} for n in range(200)]
    texts = [{"user": f"Total {n}?", "assistant": f"{n}", "source": "PDF"} for n in range(200)]
    documents = [{"images": pages[n : n + 3], "texts": texts[n : n + 2]} for n in range(60)]
    for part in range(3):
        rows = documents[part * 20 : part * 20 + 20]
        table(root / SOURCES["docmatix"].repository / f"data/train-0000{part}-of-00003.parquet", rows)
    return root


def rows(folder: Path, split: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{split}.jsonl").read_text().splitlines()]


def test_circuits_one_talk_for_every_pair(cli: Cli, mirror: Path, work: Path) -> None:
    cli("data", "prepare", "cosyn-circuit", "--from-mirror", str(mirror), "--output-root", "data")
    folder = work / "data/cosyn-circuit"
    train, held = rows(folder, "train"), rows(folder, "validation")
    assert (len(train), len(held)) == (80, 10)
    picture, text = train[3]["messages"][0]["content"]
    assert (folder / picture["path"]).read_bytes() == png(shade=1)
    assert text == {"type": "text", "text": "What is R1 of circuit 1?"}
    assert train[3]["messages"][1] == {"role": "assistant", "content": "1 ohm"}
    found = manifest.read(folder)
    assert (found.origin, found.licence, found.format) == ("allenai/CoSyn-400K", "odc-by", "cosyn")
    assert found.images == {"files": 45, "bytes": sum(len(png(shade=n)) for n in [*range(40), *range(50, 55)])}
    assert [source.split for source in found.sources] == ["train", "validation"]


def test_personas_are_text(cli: Cli, mirror: Path, work: Path) -> None:
    cli("data", "prepare", "tulu", "--from-mirror", str(mirror), "-o", "out", "--validation", "0.2")
    assert sorted(
        row["messages"][0]["content"] for s in ("train", "validation") for row in rows(work / "out", s)
    ) == sorted(f"Poem {n}" for n in range(100))
    assert not (work / "out/images").exists()


def test_documents_have_many_pictures_in_order(cli: Cli, mirror: Path, work: Path) -> None:
    cli("data", "prepare", "docmatix", "--from-mirror", str(mirror), "-o", "out", "--validation", "0")
    train = rows(work / "out", "train")
    assert len(train) == 60
    parts = train[7]["messages"][0]["content"]
    assert [(work / "out" / part["path"]).read_bytes() for part in parts[:3]] == [png(shade=n) for n in (7, 8, 9)]
    assert parts[3] == {"type": "text", "text": "Total 7?"}
    assert [turn["content"] for turn in train[7]["messages"][1:]] == ["7", "Total 8?", "8"]


def test_a_limit_stops_reading_and_leaves_no_other_picture(cli: Cli, mirror: Path, work: Path) -> None:
    words = ("data", "prepare", "docmatix", "--from-mirror", str(mirror), "--max-examples-per-split", "4")
    cli(*words, "--output-root", "smoke", "--validation", "0.3")
    folder = work / "smoke/docmatix"
    found = manifest.read(folder)
    assert {name: split.rows for name, split in found.splits.items()} == {"train": 4, "validation": 4}
    assert len(found.sources) < 3
    used = {p["path"] for s in ("train", "validation") for r in rows(folder, s) for p in r["messages"][0]["content"] if "path" in p}  # fmt: skip  # noqa: E501
    assert {f"images/{path.name}" for path in (folder / "images").iterdir()} == used
    assert "unchanged" in cli(*words, "--output-root", "smoke", "--validation", "0.3").out


def test_a_mirror_of_another_revision_is_refused(work: Path, mirror: Path) -> None:
    wanted = SOURCES["tulu"]
    snapshot = work / "snapshots" / ("0" * 40)
    snapshot.parent.mkdir()
    (mirror / wanted.repository).rename(snapshot)
    with pytest.raises(DataFault, match=f"this is revision {'0' * 40}, and {wanted.revision} is wanted"):
        sources.from_mirror(wanted, snapshot, None)
    assert sources.from_mirror(wanted, snapshot, "0" * 40).revision == "0" * 40


def test_what_is_refused(cli: Cli, write: Write, mirror: Path) -> None:
    write("d.jsonl", [{"text": "a"}])
    assert "no circuit/*.parquet here" in cli("data", "check", "cosyn-circuit", "--from-mirror", ".", code=3).err
    assert "only named sources have" in cli("data", "check", "d.jsonl", "--from-mirror", ".", code=3).err
    assert "prepared by itself" in cli("data", "check", "tulu", "d.jsonl", "--from-mirror", ".", code=3).err


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [({"question": ["a?"], "answer": []}, "pairs"), ([], "pairs"), ([{"question": "a?", "answer": ""}], "empty_turn")],
)
def test_circuits_at_fault_are_told(write: Write, work: Path, cli: Cli, pairs: Any, reason: str) -> None:
    write("p.png", png())
    good = [{"question": "a?", "answer": "b"}, {"question": "c?", "answer": "d"}]
    write("d.jsonl", [{"image": "p.png", "qa_pairs": pairs}, {"image": "p.png", "qa_pairs": good}])
    found = cli("data", "check", "d.jsonl", "--max-dropped", "1", "--json").json
    assert found["counts"]["dropped"] == {reason: 1}
    assert (found["counts"]["rows"], found["counts"]["kept"]) == (3, 2)


def test_the_licence_of_a_readme(write: Write, cli: Cli) -> None:
    write("set/README.md", "---\ntask: x\nlicense: cc-by-4.0\n---\n# Set\n")
    write("set/rows.jsonl", [{"text": "a"}])
    assert cli("data", "check", "set", "--json").json["licence"] == "cc-by-4.0"
    assert cli("data", "check", "set", "--licence", "mit", "--json").json["licence"] == "mit"
