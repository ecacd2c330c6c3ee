"""A model's own processor run over prepared rows. Runs in an engine's environment: transformers, Pillow, and no more.

Called with a file of JSON that holds `folder`, `files`, `model`, `limit` and `every`; writes one JSON object a line to
`out`: a `step` now and then, a `warning` for a row at fault, and a `result` or an `error` at the end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from data_prep import inline
from data_prep.row import Message, Row, RowFault

_ANSWERS = ("chosen", "rejected", "completion")
Say = Callable[[dict[str, Any]], None]


class Seen:
    """Rows as the processor made them.

    Attributes:
        lengths: tokens of each, pictures included.
        pictures: how many were looked at.
        places: tokens that they take.
        unknown: rows of a processor that does not say how many tokens its pictures take.
    """

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.pictures = self.places = self.unknown = 0


def main() -> None:
    """Do what the file says that the command line names."""
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with Path(request["out"]).open("a", encoding="utf-8") as out:

        def say(event: dict[str, Any]) -> None:
            out.write(json.dumps(event) + "\n")
            out.flush()

        try:
            _look(request, _processor(request["model"]), say)
        except (ImportError, OSError, ValueError) as error:
            say({"type": "error", "where": request["model"], "message": " ".join(str(error).split())[:500]})


def _processor(model: str) -> Any:
    from transformers import AutoProcessor

    return AutoProcessor.from_pretrained(model, trust_remote_code=False, local_files_only=True)


def _look(request: dict[str, Any], processor: Any, say: Say) -> None:
    seen, folder = Seen(), Path(request["folder"])
    for number, (place, row) in enumerate(_rows(folder, request["files"], request["every"]), start=1):
        try:
            _row(processor, row, folder, request["limit"], seen)
        except RowFault as fault:
            say({"type": "warning", "where": place, "code": fault.code, "message": fault.what})
        if number % 20 == 0:
            say({"type": "step", "step": number})
    totals = {"pictures": seen.pictures, "places": seen.places, "unknown": seen.unknown}
    say({"type": "result", "processor": type(processor).__name__, "lengths": seen.lengths, **totals})


def _rows(folder: Path, files: list[str], every: int) -> Iterator[tuple[str, Row]]:
    """Every so manieth row, with its place."""
    count = 0
    for name in files:
        with (folder / name).open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                if count % every == 0:
                    yield f"{folder / name}:{number}", json.loads(line)
                count += 1


def _row(processor: Any, row: Row, folder: Path, limit: int | None, seen: Seen) -> None:
    """Hold what the processor makes of a row against its pictures.

    Raises:
        RowFault: it refuses the row, writes more or fewer places than pictures, or makes too long a row.
    """
    if "text" in row:
        return
    tools = json.loads(row["tools"]) if isinstance(row.get("tools"), str) else row.get("tools")
    options = {**({"tools": tools} if tools else {}), **(row.get("chat_template_kwargs") or {})}
    for talk in _talks(row):
        opened = [_opened(part, folder) for part in inline.pictures({"messages": talk})]
        shown = _shown(talk, opened) if hasattr(processor, "image_processor") else talk
        _hold_places(processor, _applied(processor, shown, tokenize=False, **options), len(opened))
        made = _applied(processor, shown, tokenize=True, return_dict=True, **options)
        ids = _flat(made["input_ids"])
        seen.lengths.append(len(ids))
        seen.pictures += len(opened)
        _hold_patches(processor, made, ids, opened, seen)
        if limit and len(ids) > limit:
            raise RowFault("max_tokens", f"{len(ids):,} tokens with its pictures, more than the {limit:,} allowed")


def _applied(processor: Any, talk: list[Message], **options: Any) -> Any:
    try:
        return processor.apply_chat_template(talk, **options)
    except Exception as error:  # noqa: BLE001  (a processor raises whatever it likes; the row is what is at fault)
        raise RowFault("processor", f"the processor refuses it: {' '.join(str(error).split())[:300]}") from None


def _hold_places(processor: Any, written: str, pictures: int) -> None:
    names = ("image_token", "boi_token", "image_start_token")
    marks = [mark for name in names if isinstance(mark := getattr(processor, name, None), str)]
    places = {mark: written.count(mark) for mark in marks}
    if places and pictures not in places.values():
        mark, count = next(iter(places.items()))
        raise RowFault("placeholders", f"{pictures} pictures, and the rendered text names {mark} {count} times")


def _hold_patches(processor: Any, made: Any, ids: list[int], opened: list[Any], seen: Seen) -> None:
    token = getattr(processor, "image_token_id", None)
    wanted = _wanted(processor, made, opened)
    if not isinstance(token, int) or wanted is None:
        seen.unknown += bool(opened)
        return
    seen.places += (found := ids.count(token))
    if found != wanted:
        raise RowFault("patches", f"the text has {found:,} places for patches, and the pictures make {wanted:,}")


def _wanted(processor: Any, made: Any, opened: list[Any]) -> int | None:
    """Tokens that the pictures take, counted from the pictures themselves; None where the processor does not say."""
    grid = made.get("image_grid_thw")
    if grid is not None:
        merge = int(getattr(processor.image_processor, "merge_size", 1))
        return sum(int(t) * int(h) * int(w) // merge**2 for t, h, w in grid)
    count = getattr(processor, "_get_num_multimodal_tokens", None)
    if not opened or count is None:
        return None if opened else 0
    return int(sum(count(image_sizes=[(one.height, one.width) for one in opened])["num_image_tokens"]))


def _talks(row: Row) -> list[list[Message]]:
    """The conversations of a row: one, or one for each answer."""
    if "messages" in row:
        return [row["messages"]]
    answers = [row[name] for name in _ANSWERS if name in row]
    return [[*row["prompt"], *answer] for answer in answers] or [row["prompt"]]


def _opened(part: Message, folder: Path) -> Any:
    from PIL import Image

    try:
        with Image.open(folder / part["path"]) as picture:
            return picture.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise RowFault("picture_broken", f"{part['path']} does not open: {error}") from None


def _shown(talk: list[Message], opened: list[Any]) -> list[Message]:
    """A conversation as processors take it: typed parts everywhere, opened pictures in place of their paths."""
    pictures = iter(opened)

    def part(given: Message) -> Message:
        return {"type": "image", "image": next(pictures)} if given["type"] == "image" else given

    def parts(content: Any) -> list[Message]:
        return [{"type": "text", "text": content}] if isinstance(content, str) else [part(each) for each in content]

    return [{**turn, "content": parts(turn["content"])} for turn in talk]


def _flat(ids: Any) -> list[int]:
    """Token ids of one row, from a list, a list of one list, or a tensor."""
    found = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    return found[0] if found and isinstance(found[0], list) else found


if __name__ == "__main__":
    main()
