"""A model folder's tokenizer and chat template: rows as token ids, and which of them get loss."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_prep.faults import DataFault
from data_prep.needs import needed
from data_prep.rendering.piece import Spans
from data_prep.row import Row, RowFault
from data_prep.template import ChatTemplate

_NAMES = ("bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token")

_SPECIAL = re.compile(r"<\|[^|<>{}\s]{1,40}\|>|<(?:start|end)_of_turn>")


@dataclass(frozen=True)
class Rendered:
    """A row as the model sees it.

    Attributes:
        text: all of it.
        spans: ranges of the text that get loss; None where nothing tells.
        ids: its tokens.
        offsets: the range of the text that each token stands for.
    """

    text: str
    spans: Spans | None
    ids: list[int]
    offsets: list[tuple[int, int]]

    def learned(self) -> int | None:
        """How many tokens get loss."""
        return self.learned_within(len(self.ids))

    def learned_within(self, limit: int) -> int | None:
        """How many of the first tokens get loss; None where nothing tells."""
        spans = self.spans
        if spans is None:
            return None
        return sum(any(a <= start < b for a, b in spans) for start, end in self.offsets[:limit] if end > start)


class ModelTokenizer:
    """Loaded when it is first used; travels to another process as the name of its folder.

    Raises (at first use):
        DataFault: no tokenizer there, a damaged one, or the library that reads it is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._loaded = folder, False

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "_loaded": False}

    def load(self) -> None:
        """Read the files. Before processes are forked: then they share the memory."""
        if self._loaded:
            return
        library = needed("tokenizers", f"the tokenizer in {self.folder} is used")
        config, file = _json(self.folder / "tokenizer_config.json"), self.folder / "tokenizer.json"
        if not file.is_file():
            fix = "name the folder of a model, with tokenizer.json and tokenizer_config.json"
            raise DataFault("no tokenizer.json there", where=str(self.folder), fix=fix)
        try:
            self._tokenizer: Any = library.Tokenizer.from_file(str(file))
        except Exception as error:  # noqa: BLE001  (the library raises this very class)
            raise DataFault(f"a tokenizer that does not load: {error}", where=str(file)) from None
        self.names = {name: _token(config[name]) for name in _NAMES if config.get(name)}
        source = self._source(config)
        self.template = ChatTemplate(source, self.names) if source else None
        self.digest = hashlib.sha256(file.read_bytes() + (source or "").encode()).hexdigest()
        self._loaded = True

    def _source(self, config: dict[str, Any]) -> str | None:
        file = self.folder / "chat_template.jinja"
        if file.is_file():
            return file.read_text(encoding="utf-8")
        found = config.get("chat_template")
        if isinstance(found, list):
            found = next((each["template"] for each in found if each.get("name") == "default"), None)
        return found if isinstance(found, str) else None

    def content(self) -> str:
        """sha256 of what makes the tokens: tokenizer and chat template."""
        self.load()
        return self.digest

    def rendered(self, row: Row) -> list[Rendered]:
        """A row as the model sees it: once, or once for each of two answers.

        Raises:
            RowFault: the template can't render it, or there is none for a conversation.
        """
        self.load()
        if "text" in row:
            text = row["text"] + self.names.get("eos_token", "")
            return [self._encoded(text, [(0, len(text))])]
        if self.template is None:
            raise RowFault("template", "the model has no chat template")
        options = _options(row)
        if "messages" in row:
            return [self._encoded(*self.template.learned(row["messages"], options))]
        answers = [row[name] for name in ("chosen", "rejected", "completion") if name in row]
        if not answers:
            return [self._encoded(self.template.text(row["prompt"], options, prompt=True), [])]
        return [self._encoded(*self._answer(row["prompt"], answer, options)) for answer in answers]

    def _answer(self, prompt: list[Row], answer: list[Row], options: dict[str, Any]) -> tuple[str, Spans | None]:
        """Only the answer gets loss, whatever the assistant said before."""
        assert self.template
        text, spans = self.template.learned([*prompt, *answer], options)
        turns = sum(turn["role"] == "assistant" for turn in answer)
        return text, spans[-turns:] if spans else spans

    def _encoded(self, text: str, spans: Spans | None) -> Rendered:
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        return Rendered(text, spans, encoded.ids, encoded.offsets)

    def findings(self) -> list[str]:
        """What is wrong with the tokenizer itself.

        Special tokens that split into pieces; a pad token that is the end token, so that ends may go without loss.
        """
        self.load()
        found = [f"the special token {token!r} splits into several tokens" for token in self._split()]
        if self.names.get("pad_token") and self.names.get("pad_token") == self.names.get("eos_token"):
            found.append("the pad token is the end token: where padding gets no loss, the end may get none either")
        if self.template and self.template.dated:
            found.append("the chat template can write today's date: the same rows are other tokens tomorrow")
        size = self._tokenizer.get_vocab_size(with_added_tokens=True)
        if (room := _embeddings(self.folder)) is not None and size > room:
            found.append(f"the tokenizer has {size:,} tokens, and the model {room:,} embeddings: ids past them fail")
        return found

    def _split(self) -> list[str]:
        """Special tokens, by name or written by the template, that the tokenizer takes for several."""
        written = _SPECIAL.findall(self.template.source) if self.template else []
        every = dict.fromkeys([*self.names.values(), *written])
        return [t for t in every if len(self._tokenizer.encode(t, add_special_tokens=False).ids) != 1]

    def require_template(self) -> None:
        """Refuse a tokenizer that can't render conversations.

        Raises:
            DataFault: it has no chat template.
        """
        self.load()
        if self.template is None:
            fix = "name the folder of a chat model, or put its chat_template.jinja there"
            raise DataFault(
                "the model has no chat template, so conversations can't be rendered", where=str(self.folder), fix=fix
            )


def _embeddings(folder: Path) -> int | None:
    """Rows of the model's embedding table, where its configuration is there and tells."""
    config = _json(folder / "config.json")
    text = config.get("text_config")
    found = config.get("vocab_size", text.get("vocab_size") if isinstance(text, dict) else None)
    return found if isinstance(found, int) else None


def _options(row: Row) -> dict[str, Any]:
    tools = json.loads(row["tools"]) if isinstance(row.get("tools"), str) else row.get("tools")
    return {**({"tools": tools} if tools else {}), **(row.get("chat_template_kwargs") or {})}


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DataFault(f"can't be read: {error}", where=str(path)) from None
    return found if isinstance(found, dict) else {}


def _token(value: Any) -> str:
    return str(value["content"]) if isinstance(value, dict) else str(value)
