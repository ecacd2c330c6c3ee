"""A conversation in any of its layouts -> canonical messages, each fault named by its turn."""

from __future__ import annotations

from typing import Any

from data_prep import tools
from data_prep.parts import Content, Media, of_parts, of_text
from data_prep.row import Marks, Message, RowFault, kind, text_of

ROLES = {
    "human": "user",
    "user": "user",
    "prompter": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "bard": "assistant",
    "bing": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
    "ipython": "tool",
    "observation": "tool",
    "function": "tool",
    "function_response": "tool",
    "tool_response": "tool",
    "function_call": "call",
    "tool_call": "call",
    "function-call": "call",
}
_FIRST = ("system", "developer")


def messages(value: Any, name: str, media: Media) -> list[Message]:
    """Canonical messages in an order that a chat template takes.

    Raises:
        RowFault: no list of turns, a turn of unknown role or content, an empty turn, or an order no template takes.
    """
    if not isinstance(value, list) or not value:
        raise RowFault("not_turns", f"`{name}` is {kind(value) if value else 'empty'}, not a list of turns")
    found: list[Message] = []
    before, pictured = "", media.expected
    for number, turn in enumerate(value):
        message = None if pictured else _plain(turn, before)
        if message:
            found.append(message)
        elif message := _message(turn, f"`{name}[{number}]`", media):
            _append(found, message, f"`{name}[{number}]`")
        before = found[-1]["role"] if found else ""
    return found


def _plain(turn: Any, before: str) -> Message | None:
    """What nearly every turn is: two keys, text, and its speaker's turn. None for all else, which is looked at closely.

    Most of the time of reading text goes by here.
    """
    if type(turn) is not dict or len(turn) != 2:
        return None
    said, content = turn.get("role") or turn.get("from"), turn.get("content") or turn.get("value")
    role = ROLES.get(said) if type(said) is str else None
    if type(content) is not str or not content or content.isspace():
        return None
    if (role == "user" and before != "user") or (role == "assistant" and before in ("user", "tool")):
        return {"role": role, "content": content}
    return None


def _message(turn: Any, name: str, media: Media) -> Message | None:
    """One turn; None for a system turn without a word."""
    if not isinstance(turn, dict):
        raise RowFault("not_turns", f"{name} is {kind(turn)}, not a turn")
    said = turn.get("role", turn.get("from"))
    role = ROLES.get(said.strip().lower()) if isinstance(said, str) else None
    if role is None:
        raise RowFault("role", f"{name} has no role" if said is None else f"{name} has the role {said!r}")
    _refuse_weight(turn, role, name)
    content = turn.get("content", turn.get("value", turn.get("text")))
    if role == "call":
        return {"role": "assistant", "content": "", "tool_calls": tools.calls(content, name)}
    if role == "tool":
        content = content if isinstance(content, list) else tools.as_text(content)
    message = _filled(role, content, turn, name, media)
    if role in _FIRST and not str(message["content"]).strip():
        media.marks.append(("empty_system", f"{name}, a system turn without a word, was taken out"))
        return None
    return message


def _filled(role: str, content: Any, turn: Message, name: str, media: Media) -> Message:
    calls = turn.get("tool_calls") or []
    if isinstance(content, str):
        message: Message = {"role": role, "content": of_text(content, media) if media.expected else content}
    elif content is None and calls:
        message = {"role": role, "content": ""}
    elif isinstance(content, list):
        message = _of_parts(role, of_parts(content, name, media))
    else:
        message = {"role": role, "content": text_of(content, name, media.marks)}
    if calls:
        message["tool_calls"] = tools.calls(calls, f"{name}.tool_calls")
    for key in ("reasoning_content", "name", "tool_call_id"):
        if isinstance(turn.get(key), str) and turn[key]:
            message[key] = turn[key]
    if not message["content"] or (isinstance(message["content"], str) and message["content"].isspace()):
        _refuse_empty(message, name)
    return message


def _of_parts(role: str, content: Content) -> Message:
    message: Message = {"role": role, "content": content.value()}
    if content.reasoning:
        message["reasoning_content"] = content.reasoning
    if content.calls:
        message["tool_calls"] = content.calls
    return message


def _refuse_empty(message: Message, name: str) -> None:
    if message["role"] in ("user", "assistant") and not message.get("tool_calls"):
        raise RowFault("empty_turn", f"{name} ({message['role']}) is empty")


def _refuse_weight(turn: Message, role: str, name: str) -> None:
    """Learning is by role here: a weight that says otherwise can't be kept."""
    for key in ("weight", "loss_weight", "train"):
        weight = turn.get(key)
        if weight is not None and role == "assistant" and not weight:
            raise RowFault("weight", f"{name}.{key} is {weight!r}, but every turn of the assistant is learned here")


def _append(found: list[Message], message: Message, name: str) -> None:
    role, before = message["role"], found[-1]["role"] if found else None
    if role == "assistant" and before == "assistant" and message.get("tool_calls") and not message["content"]:
        found[-1]["tool_calls"] = [*found[-1].get("tool_calls", []), *message["tool_calls"]]
        return
    if role == "tool" and "name" not in message:
        message = _with_name(message, found)
    wrong = _out_of_order(role, before, found)
    if wrong:
        raise RowFault("role_order", f"{name}: {wrong}")
    found.append(message)


def _with_name(message: Message, found: list[Message]) -> Message:
    """A tool's answer under the name of the call that it answers: the first to the first, the second to the second."""
    answers = 0
    while answers < len(found) and found[-1 - answers]["role"] == "tool":
        answers += 1
    caller = found[-1 - answers] if answers < len(found) else {}
    calls = caller.get("tool_calls") or []
    return {**message, "name": calls[answers]["function"]["name"]} if answers < len(calls) else message


def _out_of_order(role: str, before: str | None, found: list[Message]) -> str | None:
    if role in _FIRST:
        return f"a {role} turn after others" if before else None
    if role == "assistant" and before in (None, *_FIRST):
        return "the assistant speaks before anybody asked"
    if role == before and role in ("user", "assistant"):
        return f"two turns of the {role} follow each other"
    if role == "tool" and before != "tool" and not (found and found[-1].get("tool_calls")):
        return "a tool answers that nobody called"
    return None


def answered(found: list[Message], name: str, marks: Marks) -> list[Message]:
    """The conversation up to its last answer.

    Raises:
        RowFault: the assistant never speaks.
    """
    last = next((n for n in range(len(found) - 1, -1, -1) if found[n]["role"] == "assistant"), None)
    if last is None:
        raise RowFault("no_answer", f"`{name}` has no turn of the assistant, so there is nothing to learn")
    if last < len(found) - 1:
        left = len(found) - 1 - last
        marks.append(("unanswered", f"the last {left} turns of `{name}`, which nobody answers, were cut off"))
    return found[: last + 1]
