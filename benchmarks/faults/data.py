"""Data that is none, of another form, or seen before."""

from __future__ import annotations

import json

from benchmarks.faults.fault import Fault, Words
from benchmarks.faults.lab import CHATS, HELD_OUT, PAIRS, PROMPTS, QUICKSTART, Lab, Row, chat

_SFT = ["sft", "--model", str(QUICKSTART / "model"), "--dry-run"]
_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
_PAGE = "<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n"
_CLEAN = "".join(json.dumps(row) + "\n" for row in CHATS)


def _file(content: str | bytes) -> Words:
    """Training rows replaced by these bytes."""
    return lambda lab, faulty: [*_SFT, "--data", lab.file("rows.jsonl", content if faulty else _CLEAN)]


def _row(row: Row) -> Words:
    """One row among good ones."""
    return lambda lab, faulty: [*_SFT, "--data", lab.rows([*CHATS, row if faulty else chat("And 9 + 9?", "18")])]


def _missing(lab: Lab, faulty: bool) -> list[str]:
    path = lab.rows(CHATS)
    return [*_SFT, "--data", path.replace("rows.", "row.") if faulty else path]


def _other_form(lab: Lab, faulty: bool) -> list[str]:
    sharegpt = [{"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}]}]
    return [*_SFT, "--data", lab.rows(sharegpt * 40 if faulty else CHATS)]


def _pairs(lab: Lab, faulty: bool) -> list[str]:
    rows = [{k: v for k, v in row.items() if not (faulty and k == "rejected")} for row in PAIRS]
    return ["rl", "--algorithm", "dpo", "--model", str(QUICKSTART / "model"), "--data", lab.rows(rows), "--dry-run"]


def _chats_for_grpo(lab: Lab, faulty: bool) -> list[str]:
    reward = f"{lab.file('reward.py', 'def score(completions, **_): return [0.0] * len(completions)')}:score"
    rows = lab.rows(CHATS if faulty else PROMPTS)
    return ["rl", "--model", str(QUICKSTART / "model"), "--data", rows, "--reward", reward, "--dry-run"]


def _validation(lab: Lab, faulty: bool) -> list[str]:
    train = lab.rows(CHATS)
    return [*_SFT, "--data", train, "--eval-data", train if faulty else lab.rows([chat("And 9 + 9?", "18")])]


def _prepared(lab: Lab, faulty: bool) -> list[str]:
    folder = lab.folder() / "prepared"
    lab.run(["data", "prepare", lab.rows(CHATS), "--use", "sft", "--output", str(folder)])
    if faulty:
        with (folder / "train.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(chat("one more", "row")) + "\n")
    return [*_SFT, "--data", str(folder)]


_IMAGE = {"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is this?"}]}]}
_IMAGE["messages"].append({"role": "assistant", "content": [{"type": "text", "text": "A cat."}]})
_DEAF = {"messages": [{"role": "user", "content": "only a question"}]}

FAULTS = (
    Fault("D5", "a Git-LFS pointer instead of the data", _file(_POINTER), "Git-LFS pointer"),
    Fault("D5", "an HTML error page instead of the data", _file(_PAGE), "HTML page"),
    Fault("D5", "a Parquet file under the name of JSON lines", _file(b"PAR1" + bytes(60)), "Parquet"),
    Fault("D5", "a compressed file under the name of JSON lines", _file(b"\x1f\x8b\x08" + bytes(60)), "compressed"),
    Fault("D5", "the last line cut off by a broken download", _file(_CLEAN[:-20]), "not JSON"),
    Fault("D5", "Latin-1 text in a UTF-8 file", _file(_CLEAN.encode() + b'{"messages": "\xe9"}\n'), "not UTF-8"),
    Fault("D5", "an empty file", _file(""), "holds no row"),
    Fault("D5", "a JSON array instead of JSON lines", _file(json.dumps(CHATS)), "JSON array"),
    Fault("D5", "a path with a typing error", _missing, "no such data file|no such file"),
    Fault("D3", "ShareGPT columns where chat rows are wanted", _other_form, "sft wants rows with"),
    Fault("D3", "preference rows without the rejected answer", _pairs, "dpo wants rows with"),
    Fault("D3", "chat rows where GRPO wants prompts", _chats_for_grpo, "grpo wants rows with"),
    Fault("D3", "one row of 41 whose content is a number", _row({"messages": [{"role": "user", "content": 7}]}), ":41"),
    Fault("T2", "a row without any assistant turn", _row(_DEAF), "no assistant turn"),
    Fault("D3", "half of a surrogate pair in one row", _file(_CLEAN + '{"messages": "\\ud83d"}\n'), "surrogate"),
    Fault("D4", "a picture placeholder without a picture", _row(_IMAGE), "image|picture"),
    Fault("D2", "validation rows that are the training rows", _validation, "same content"),
    Fault("D2", "prepared data that was edited afterwards", _prepared, "changed after it was prepared"),
)


def _eval(lab: Lab, items: list[Row], *more: str) -> list[str]:
    run = lab.made("sft", "--backend", "fake", "--model", str(QUICKSTART / "model"), "--data", lab.rows(CHATS))
    return ["eval", str(run), "--data", lab.rows(items, "items.jsonl"), *more, "--dry-run"]


def _seen(lab: Lab, faulty: bool) -> list[str]:
    return _eval(lab, [*HELD_OUT, *(PROMPTS[:5] if faulty else [])])


LEAKS = (Fault("E1", "5 of 45 eval items were trained on", _seen, "items stand in data"),)
