"""Questions whose answers can be checked: GSM8K, MATH, verl, any question with an answer, bare prompts."""

from __future__ import annotations

import re
from typing import Any

from data_prep.formats.base import Format, Work, all_placed, conversation, first, has, user, with_system, with_tools
from data_prep.row import Row, RowFault, text_of

_FINAL = "####"
_COMMAS = re.compile(r"^-?\$?\d{1,3}(,\d{3})+(\.\d+)?$")
_QUESTIONS = ("question", "problem", "prompt", "query")
_WITH = ("answer", "final_answer", "ground_truth", "expected")


def _is_gsm8k(row: Row) -> bool:
    return isinstance(row.get("question"), str) and isinstance(row.get("answer"), str) and _FINAL in row["answer"]


def _gsm8k(row: Row, work: Work) -> Row:
    question, worked = work.text(row, "question"), work.text(row, "answer")
    _, mark, final = worked.rpartition(_FINAL)
    if not mark or not final.strip():
        raise RowFault("no_final", f"`answer` has no final answer after {_FINAL}")
    return {"prompt": [user(question)], "answer": _number(final.strip(), work), "solution": worked.strip()}


def _number(final: str, work: Work) -> str:
    """A number without thousands commas: a checker that compares texts would call the right answer wrong."""
    if not _COMMAS.match(final):
        return final
    work.marks.append(("thousands", f"the final answer {final} is {final.replace(',', '')} now"))
    return final.replace(",", "")


def _is_math(row: Row) -> bool:
    return "problem" in row and "solution" in row


def _math(row: Row, work: Work) -> Row:
    solution = work.text(row, "solution")
    final = work.optional(row, "answer") or boxed(solution)
    if not final:
        raise RowFault("no_final", "`solution` has no final answer in \\boxed{...}")
    return {"prompt": [user(work.text(row, "problem"))], "answer": final, "solution": solution}


def boxed(text: str) -> str | None:
    r"""What the last `\boxed{...}` of a text holds; its braces may hold others."""
    at = text.rfind("\\boxed{")
    if at < 0:
        return None
    start, depth = at + len("\\boxed{"), 1
    for place in range(start, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return text[start:place]
    return None


def _is_verl(row: Row) -> bool:
    return "prompt" in row and isinstance(row.get("reward_model"), dict)


def _verl(row: Row, work: Work) -> Row:
    truth: Any = row["reward_model"].get("ground_truth")
    if truth is None:
        raise RowFault("no_final", "`reward_model` has no `ground_truth`")
    media = work.media(row)
    prompt = conversation(row["prompt"], "prompt", media)
    all_placed(prompt, media, work)
    answer = text_of(truth, "`reward_model.ground_truth`", work.marks)
    more = row["extra_info"].get("answer") if isinstance(row.get("extra_info"), dict) else None
    return {"prompt": prompt, "answer": answer, **({"solution": more} if isinstance(more, str) else {})}


def _is_question(row: Row) -> bool:
    return any(name in row for name in _QUESTIONS) and any(name in row for name in _WITH)


def _question(row: Row, work: Work) -> Row:
    name, media = first(row, _QUESTIONS), work.media(row)
    prompt = with_system(conversation(row.get(name), name, media), row, work)
    all_placed(prompt, media, work)
    return with_tools({"prompt": prompt, "answer": work.text(row, first(row, _WITH))}, row, work)


def _prompt(row: Row, work: Work) -> Row:
    media = work.media(row)
    prompt = with_system(conversation(row.get("prompt"), "prompt", media), row, work)
    all_placed(prompt, media, work)
    return with_tools({"prompt": prompt}, row, work)


GSM8K = Format("gsm8k", "prompt+answer", "`question` and `answer` with #### before the final one", _is_gsm8k, _gsm8k)
MATH = Format("math", "prompt+answer", "`problem` and `solution`", _is_math, _math)
VERL = Format("verl", "prompt+answer", "`prompt` and `reward_model.ground_truth`", _is_verl, _verl)
QUESTION = Format("question_answer", "prompt+answer", "`question` and `answer`", _is_question, _question)
PROMPT = Format("prompt", "prompt", "`prompt`", has("prompt"), _prompt)
