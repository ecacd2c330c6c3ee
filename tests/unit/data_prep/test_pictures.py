"""Pictures: placed where the text says, found below named folders only, opened, and filed by content."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from data_prep import inline
from data_prep.check import check
from data_prep.faults import DataFault

if TYPE_CHECKING:
    from tests.conftest import Write

    from .conftest import Prepare

SAY = {"role": "assistant", "content": "b"}


def png(width: int = 2, height: int = 2, shade: int = 0) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes([shade]) * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture
def two(write: Write) -> None:
    """Two pictures in a folder."""
    write("pics/1.png", png(shade=1))
    write("pics/2.png", png(shade=2))


def shades(row: dict[str, Any], folder: Path) -> list[Any]:
    """The user's content, pictures by their shade."""
    known = {png(shade=n): n for n in range(9)}
    content = row["messages"][0]["content"]
    return [part.get("text") or known[(folder / part["path"]).read_bytes()] for part in content]


def ask(content: Any, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}, SAY], **more}


def picture(path: str) -> dict[str, str]:
    return {"type": "image", "path": path}


ONE, TWO, TEXT = "pics/1.png", "pics/2.png", {"type": "text", "text": "which?"}


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("row", "seen"),
    [
        (ask([{"type": "image", "path": ONE}, {"type": "image", "path": TWO}, TEXT]), [1, 2, "which?"]),
        (ask([TEXT, {"type": "image_url", "image_url": {"url": TWO}}]), ["which?", 2]),
        (ask([{"type": "image", "image": ONE}, TEXT]), [1, "which?"]),
        (ask([{"type": "image"}, TEXT, {"type": "image"}], images=[TWO, ONE]), [2, "which?", 1]),
        (ask("<image>which?<image>", images=[ONE, TWO]), [1, "which?", 2]),
        (ask("<image>\n<image>\nwhich?", images=[ONE, TWO]), [1, 2, "which?"]),
        (ask("which?", images=[ONE, TWO]), [1, 2, "which?"]),
        (ask("which?", image=ONE), [1, "which?"]),
        (ask([{"type": "image_url", "value": ONE}, {"type": "text", "value": "<IMG_CONTEXT>\nwhich?"}]), [1, "which?"]),
        (ask([picture(ONE), picture(TWO), {"type": "text", "text": "a<image>b<image>"}]), ["a", 1, "b", 2]),
    ],
)  # fmt: skip
def test_pictures_stand_where_they_are_seen(write: Write, make: Prepare, row: dict[str, Any], seen: list[Any]) -> None:
    made = make(write("d.jsonl", [row]))
    assert shades(made.rows()[0], made.folder) == seen


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("row", "reason", "words"),
    [
        (ask("<image><image>which?", images=[ONE]), "placeholders", "more places for pictures than the 1"),
        (ask("<image>which?", images=[ONE, TWO]), "placeholders", "have no place in the conversation"),
        (ask([{"type": "image"}, TEXT]), "placeholders", "more places"),
        (ask("<image>which?", images=[]), "placeholders", "more places for pictures than the 0"),
        (ask([picture(ONE), {"type": "text", "text": "<image><image>"}]), "placeholders", "more places"),
        (ask("<image>x", images=["pics/9.png"]), "picture_missing", "pics/9.png is not below"),
        (ask("<image>x", images=["old/pics/1.png"]), "picture_missing", "--images old="),
        (ask("<image>x", images=["pics/\0.png"]), "picture_missing", "can't be read"),
        (ask("<image>x", images=["a" * 5000]), "picture_missing", "can't be read"),
        (ask("<image>x", images=["pics/loop.png"]), "picture_missing", "can't be read"),
        (ask("<image>x", images=["../secret.png"]), "picture_outside", "leads out of"),
        (ask("<image>x", images=["/etc/passwd"]), "picture_outside", "leads out of"),
        (ask("<image>x", images=["pics/link.png"]), "picture_outside", "leads out of"),
        (ask("<image>x", images=["https://example.org/1.png"]), "picture_url", "nothing is downloaded"),
        (ask("<image>x", images=["pics/cut.png"]), "picture_broken", "does not open"),
        (ask("<image>x", images=["pics/page.png"]), "picture_broken", "an HTML page"),
        (ask("<image>x", images=["pics/huge.png"]), "picture_huge", "50000 x 50000"),
        (ask("<image>x", images=["data:image/png;base64,%%%"]), "picture_broken", "base64"),
        (ask("<image>x", images=[5]), "picture_missing", "named by text"),
    ],
)  # fmt: skip
def test_a_picture_at_fault_is_told(
    write: Write, make: Prepare, work: Path, row: dict[str, Any], reason: str, words: str
) -> None:
    (work.parent / "secret.png").write_bytes(png())
    (work / "pics/loop.png").symlink_to("loop.png")
    (work / "pics/link.png").symlink_to(work.parent / "secret.png")
    write("pics/cut.png", png(40, 40)[:-20])
    write("pics/page.png", "<html>not found</html>")
    write("pics/huge.png", png(1, 1).replace(struct.pack(">II", 1, 1), struct.pack(">II", 50000, 50000)))
    made = make(write("d.jsonl", [row, ask("<image>fine", images=[ONE])]))
    assert made.ledger() == [("d.jsonl:1", "dropped", reason)]
    assert words in (made.folder / "ledger.jsonl").read_text()
    (work.parent / "secret.png").unlink()


def test_a_picture_is_kept_once_by_its_content(write: Write, make: Prepare, work: Path) -> None:
    write("a/1.png", png(shade=1))
    write("b/other.png", png(shade=1))
    inline = "data:image/png;base64," + base64.b64encode(png(shade=1)).decode()
    rows = [ask("<image>x", images=["a/1.png"]), ask("<image>y", images=["b/other.png"]), ask("<image>z", image=inline)]
    made = make(write("d.jsonl", rows))
    assert [path.read_bytes() for path in (made.folder / "images").iterdir()] == [png(shade=1)]
    assert made.manifest.images == {"files": 1, "bytes": len(png(shade=1))}


def test_folders_may_be_named_by_the_beginning_of_names(write: Write, make: Prepare, work: Path) -> None:
    write("elsewhere/1.png", png(shade=1))
    path = write("rows/d.jsonl", [ask("<image>x", images=["resource/1.png"])])
    made = make(path, images=(("resource", work / "elsewhere"),))
    assert shades(made.rows()[0], made.folder) == [1, "x"]


@pytest.mark.usefixtures("two")
def test_what_is_worth_a_look_is_counted(write: Write, make: Prepare) -> None:
    rows = [ask("<image>which?"), ask([TEXT, picture(ONE)]), ask([picture(ONE), TEXT])]
    assert make(write("d.jsonl", rows)).manifest.counts.notes == {"picture_word": 1, "picture_late": 1}


def test_a_list_that_was_placed_is_a_change(write: Write, make: Prepare, two: None) -> None:
    made = make(write("d.jsonl", [ask("which?", images=[ONE])]))
    assert made.ledger() == [("d.jsonl:1", "changed", "listed_pictures")]


@pytest.mark.usefixtures("two")
def test_pictures_of_rows_as_they_are(write: Write, work: Path) -> None:
    row = ask([picture(ONE), TEXT, picture(TWO)], images=[ONE, TWO, ONE])
    assert [part["path"] for part in inline.pictures(row)] == [ONE, TWO]
    assert inline.unplaced(row) == 1
    assert inline.is_late(row["messages"][0])
    assert not inline.is_late({"content": [picture(ONE), TEXT]})
    assert list(inline.turns({"messages": "none", "prompt": [5, SAY]})) == [SAY]
    assert inline.fault(ONE, work) is None
    write("pics/cut.png", png(40, 40)[:-20])
    write("pics/text.png", "no picture")
    write("pics/huge.png", png(1, 1).replace(struct.pack(">II", 1, 1), struct.pack(">II", 50000, 50000)))
    wrong = {"9": "picture_missing", "cut": "picture_broken", "text": "picture_broken", "huge": "picture_huge"}
    found = {name: inline.fault(f"pics/{name}.png", work) for name in wrong}
    assert {name: fault.code if fault else None for name, fault in found.items()} == wrong


INLINE = "data:image/png;base64," + base64.b64encode(png()).decode()
CUT = base64.b64encode(png(40, 40)[:-20]).decode()


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("row", "words"),
    [
        (ask([picture("gone.png"), TEXT]), "there is no picture 'gone.png'"),
        (ask([{"type": "image", "url": "gone.png"}, TEXT]), "there is no picture"),
        (ask([{"type": "image", "image": "pics"}, TEXT]), "there is no picture"),
        (ask([{"type": "image_url", "image_url": {"url": "gone.png"}}, TEXT]), "there is no picture"),
        (ask([{"type": "image_url"}, TEXT]), "named by text, not by null"),
        (ask([{"type": "image", "image": {"bytes": "x"}}, TEXT]), "named by text, not by an object"),
        (ask([{"type": "image", "base64": CUT}, TEXT]), "cut off or damaged"),
        (ask([{"type": "image", "base64": "x" * 300}, TEXT]), "is no PNG"),
        (ask([{"type": "image", "url": "data:image/png;base64,???"}, TEXT]), "neither a path nor a picture"),
        (ask([picture("empty.png"), TEXT]), "is no PNG"),
        (ask([picture("cut.png"), TEXT]), "cut off or damaged"),
        (ask([{"type": "image"}, TEXT]), "1 places for pictures, and 0 pictures"),
        (ask([{"type": "image"}, {"type": "image"}, TEXT], images=[ONE]), "2 places for pictures, and 1 pictures"),
        (ask([TEXT], images=["gone.png"]), "there is no picture"),
        (ask([{"type": "image", "path": ONE, "url": ONE}, TEXT]), "named twice"),
        (ask([{"type": "text"}]), "has no `text`"),
    ],
)
def test_rows_whose_pictures_no_engine_can_take(write: Write, row: dict[str, Any], words: str) -> None:
    write("empty.png", b"")
    write("cut.png", png(40, 40)[:-20])
    with pytest.raises(DataFault) as caught:
        check(write("d.jsonl", [*[ask("x")] * 300, row]), "sft")
    assert words in caught.value.what
    assert caught.value.where.endswith(":301")


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("part", [picture(ONE), {"type": "image", "url": INLINE}, {"type": "image", "url": "http://x"}])
def test_rows_whose_pictures_open(write: Write, part: dict[str, Any]) -> None:
    write("big.png", png(3000, 3000) + b"\0")
    assert "pictures" in check(write("d.jsonl", [ask([part, picture("big.png"), TEXT])]), "sft").traits


def test_a_long_picture_is_judged_by_its_ends(write: Write, work: Path) -> None:
    whole = png()[:33] + b"\0" * 300_000 + png()[33:]
    write("long.png", whole)
    write("cut.png", whole[:-20])
    assert inline.fault("long.png", work) is None
    assert inline.fault("cut.png", work) is not None
