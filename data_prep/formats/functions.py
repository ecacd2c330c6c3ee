"""Function-calling sets whose rows are no conversations: BFCL and xLAM."""

from __future__ import annotations

from data_prep import tools
from data_prep.formats.base import Format, Work, conversation, has, user
from data_prep.parts import Media
from data_prep.row import Row, RowFault


def _is_bfcl(row: Row) -> bool:
    return isinstance(row.get("question"), list) and "function" in row


def _bfcl(row: Row, work: Work) -> Row:
    turns = row["question"]
    if len(turns) != 1 or not isinstance(turns[0], list):
        raise RowFault(
            "several_turns", f"`question` holds {len(turns)} turns, and nothing says what is answered between"
        )
    defined = tools.definitions(row["function"], work.marks)
    if defined is None:
        raise RowFault("bad_tools", "`function` holds no definition")
    return {"prompt": conversation(turns[0], "question[0]", Media(work.take, work.marks)), "tools": defined}


def _xlam(row: Row, work: Work) -> Row:
    defined = tools.definitions(row["tools"], work.marks)
    called = {"role": "assistant", "content": "", "tool_calls": tools.calls(row["answers"], "`answers`")}
    canonical: Row = {"messages": [user(work.text(row, "query")), called]}
    return {**canonical, "tools": defined} if defined else canonical


BFCL = Format("bfcl", "prompt", "`question` and `function`", _is_bfcl, _bfcl)
XLAM = Format("xlam", "messages", "`query`, `tools` and `answers`", has("query", "tools", "answers"), _xlam)
