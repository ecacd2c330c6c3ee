"""Preferences: two answers to one prompt in any of their layouts, and single answers with a label."""

from __future__ import annotations

from data_prep.formats import chat
from data_prep.formats.base import Format, Work, conversation, reply, with_system, with_tools
from data_prep.formats.instruct import pair
from data_prep.row import Message, Row, RowFault

_LABELS = ("label", "kto_tag")
_CHOICES = (("chosen", "rejected"), ("chosen_messages", "rejected_messages"), ("chosen_response", "rejected_response"))
_PROMPTS = ("prompt", "question", "instruction", "input", "query")


def _choices(row: Row) -> tuple[str, str] | None:
    return next((names for names in _CHOICES if all(name in row for name in names)), None)


def _preference(row: Row, work: Work) -> Row:
    names = _choices(row) or _CHOICES[0]
    prompt = _prompt(row, work)
    chosen, rejected = (reply(row.get(name), name, work) for name in names)
    if prompt is None:
        prompt, chosen, rejected = _shared(chosen, rejected)
    else:
        chosen, rejected = (
            _after(prompt, answer, name) for answer, name in zip((chosen, rejected), names, strict=True)
        )
    prompt = with_system(prompt, row, work)
    if chosen == rejected:
        raise RowFault("same", f"`{names[0]}` and `{names[1]}` are the same, so there is no preference")
    for name, answer in zip(names, (chosen, rejected), strict=True):
        if not answer or answer[-1]["role"] != "assistant":
            raise RowFault("no_answer", f"`{name}` does not end on a turn of the assistant")
    return with_tools({"prompt": prompt, "chosen": chosen, "rejected": rejected}, row, work)


def _prompt(row: Row, work: Work) -> list[Message] | None:
    """The question where it has a column of its own."""
    name = next((n for n in (*chat.COLUMNS, *_PROMPTS) if row.get(n)), None)
    return None if name is None else conversation(row[name], name, work.media(row))


def _shared(chosen: list[Message], rejected: list[Message]) -> tuple[list[Message], list[Message], list[Message]]:
    """The turns that both conversations begin with, and how each goes on."""
    same = 0
    while same < min(len(chosen), len(rejected)) and chosen[same] == rejected[same]:
        same += 1
    while same and chosen[:same][-1]["role"] == "assistant":
        same -= 1
    if not same:
        raise RowFault("no_prompt", "the two answers share no question, and no column holds one")
    return chosen[:same], chosen[same:], rejected[same:]


def _after(prompt: list[Message], answer: list[Message], name: str) -> list[Message]:
    """An answer without the prompt that it repeats."""
    if answer[: len(prompt)] == prompt and len(answer) > len(prompt):
        return answer[len(prompt) :]
    if answer[0]["role"] != "assistant":
        raise RowFault("no_prompt", f"`{name}` begins with another question than the prompt")
    return answer


def _is_labelled(row: Row) -> bool:
    return any(name in row for name in _LABELS) and (chat.column(row) is not None or pair(row) is not None)


def _labelled(row: Row, work: Work) -> Row:
    label = row[next(name for name in _LABELS if name in row)]
    if label not in (True, False) and label not in ("true", "false", "True", "False"):
        raise RowFault("label", f"the label is {label!r}, not true or false")
    column, names = chat.column(row), pair(row)
    if column:
        found = conversation(row[column], column, work.media(row))
    else:
        assert names
        found = [*conversation(row[names[0]], names[0], work.media(row)), *reply(row[names[1]], names[1], work)]
    found = with_system(found, row, work)
    if found[-1]["role"] != "assistant" or len(found) < 2:
        raise RowFault("no_answer", "the labelled conversation does not end on a turn of the assistant")
    liked = label in (True, "true", "True")
    return with_tools({"prompt": found[:-1], "completion": found[-1:], "label": liked}, row, work)


PREFERENCE = Format(
    "preference",
    "chosen+rejected",
    "`prompt`, `chosen` and `rejected`",
    lambda row: _choices(row) is not None,
    _preference,
)
KTO = Format(
    "kto", "completion+label", "`messages` (or `prompt` and `completion`) and `label`", _is_labelled, _labelled
)
