"""What a format is: how its rows are told from others, and how one becomes canonical."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from data_prep import tools, turns
from data_prep.parts import Media, Take, refuse_other_media
from data_prep.row import Marks, Message, Row, RowFault, text_of

Form = Literal["messages", "chosen+rejected", "completion+label", "prompt+answer", "prompt", "text"]
"""The canonical forms, by the columns that tell them apart."""


@dataclass
class Work:
    """One row being converted: what is changed in it, and where its pictures go."""

    take: Take
    marks: Marks = field(default_factory=list)

    def media(self, row: Row) -> Media:
        """The pictures listed beside the conversation.

        Raises:
            RowFault: videos or sounds are listed.
        """
        for column in ("videos", "video", "audios", "audio"):
            if row.get(column):
                raise RowFault("media", f"the row has {column}, which no engine here trains on")
        listed = row.get("images", row.get("image")) or []
        expected = "images" in row or "image" in row
        return Media(self.take, self.marks, listed if isinstance(listed, list) else [listed], expected)

    def text(self, row: Row, column: str) -> str:
        """A column's text.

        Raises:
            RowFault: it is missing, no text, or empty.
        """
        found = text_of(row.get(column), f"`{column}`", self.marks)
        if not found.strip():
            raise RowFault("empty_turn", f"`{column}` is empty")
        return found

    def optional(self, row: Row, column: str) -> str:
        """A column's text, empty where there is none."""
        return "" if row.get(column) is None else text_of(row[column], f"`{column}`", self.marks)


Convert = Callable[[Row, Work], Row]


@dataclass(frozen=True)
class Format:
    """A layout of rows.

    Attributes:
        name: as given to `--format`.
        form: what its rows become.
        reads: its columns, for people.
        matches: whether a row is of this layout.
        convert: a row of it in canonical form; RowFault where that can't be.
        several: a row that holds several, taken apart; most hold one.
    """

    name: str
    form: Form
    reads: str
    matches: Callable[[Row], bool]
    convert: Convert
    several: Callable[[Row], list[Row]] = lambda row: [row]


def has(*columns: str) -> Callable[[Row], bool]:
    """Whether a row has all of these columns."""
    return lambda row: all(column in row for column in columns)


def first(row: Row, columns: Iterable[str]) -> str:
    """The first of these columns that a row has; the first of all for one that has none."""
    names = tuple(columns)
    return next((column for column in names if column in row), names[0])


def user(text: str) -> Message:
    """A question."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """An answer."""
    return {"role": "assistant", "content": text}


def with_system(found: list[Message], row: Row, work: Work) -> list[Message]:
    """A system prompt that stands in a column of its own, in its place.

    Raises:
        RowFault: the conversation has another one.
    """
    prompt = work.optional(row, "system" if "system" in row else "system_prompt")
    if not prompt.strip():
        return found
    if found and found[0]["role"] in ("system", "developer"):
        if found[0]["content"] != prompt:
            raise RowFault("two_systems", "the column `system` and the conversation have different system prompts")
        return found
    return [{"role": "system", "content": prompt}, *found]


def with_tools(canonical: Row, row: Row, work: Work) -> Row:
    """Tool definitions beside the conversation."""
    defined = tools.definitions(row.get("tools", row.get("functions")), work.marks)
    if defined:
        canonical["tools"] = defined
    if isinstance(row.get("chat_template_kwargs"), dict):
        canonical["chat_template_kwargs"] = row["chat_template_kwargs"]
    return canonical


def conversation(value: Any, name: str, media: Media) -> list[Message]:
    """Messages from a list of turns; text is one question, and one turn may stand without a list.

    Raises:
        RowFault: as `turns.messages`.
    """
    if isinstance(value, str) and value.lstrip()[:2] in ("[{", "[ "):
        value = tools.json_of(value, f"`{name}`")
    if isinstance(value, str):
        if not value.strip():
            raise RowFault("empty_turn", f"`{name}` is empty")
        refuse_other_media(value)
        return turns.messages([user(value)], name, media)
    return turns.messages([value] if isinstance(value, dict) else value, name, media)


def reply(value: Any, name: str, work: Work) -> list[Message]:
    """An answer, which is text, a turn, or a conversation; order is looked at as if a question stood before it.

    Raises:
        RowFault: as `conversation`.
    """
    if isinstance(value, str):
        if not value.strip():
            raise RowFault("empty_turn", f"`{name}` is empty")
        return [assistant(value)]
    several, media = value if isinstance(value, list) else [value], Media(work.take, work.marks)
    if not several or not isinstance(several[0], dict) or not _speaks(several[0]):
        return conversation(several, name, media)
    return turns.messages([user("?"), *several], name, media)[1:]


def _speaks(turn: Row) -> bool:
    said = turn.get("role", turn.get("from"))
    return isinstance(said, str) and turns.ROLES.get(said.strip().lower()) in ("assistant", "call")


def all_placed(found: list[Message], media: Media, work: Work) -> None:
    """Hold the pictures of a list against the places that the text names for them.

    Raises:
        RowFault: more pictures than places, unless there is only one question they can belong to.
    """
    left = len(media.listed) - media.placed
    if not left:
        return
    asked = [message for message in found if message["role"] == "user"]
    if media.placed or len(asked) != 1:
        raise RowFault(
            "placeholders", f"{left} of {len(media.listed)} listed pictures have no place in the conversation"
        )
    text = asked[0]["content"]
    parts = [{"type": "text", "text": text}] if isinstance(text, str) else text
    asked[0]["content"] = [*({"type": "image", "path": media.next()} for _ in range(left)), *parts]
    work.marks.append(("listed_pictures", f"{left} pictures of a list were put in front of the only question"))
