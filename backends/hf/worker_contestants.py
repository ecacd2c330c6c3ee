"""The models of an eval before any is loaded: files checked, prompts rendered, differences between them told."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from backends.hf import worker_model, worker_taken
from backends.hf.worker_adapter import Adapter
from backends.trainer import prompts as prompt_files
from backends.trainer.handoff import require_same
from backends.trainer.items import Item
from backends.trainer.prompts import Ids, Reader
from orchestrator.events import EventWriter
from orchestrator.harness import Harness, WorkError


@dataclass(frozen=True)
class Contestant:
    """A model ready to be loaded: its files, its reader, its prompts, and what it answered where it was made."""

    label: str
    folder: Path
    adapter: Adapter | None
    trust: bool
    reader: Reader
    prompts: list[Ids]
    probe: str | None


class Asked(Protocol):
    """What all models are asked.

    Attributes:
        chat: it is asked through the chat template.
    """

    chat: bool

    def render(self, reader: Reader) -> list[Ids]:
        """The tokens of each prompt."""

    def require_room(self, label: str, room: int, longest: int) -> None:
        """See that a model has positions for the longest prompt and what follows.

        Raises:
            WorkError: it has not.
        """


class Questions:
    """Items, each with one answer."""

    def __init__(self, items: list[Item], options: dict[str, Any], new: int) -> None:
        self._items, self._options, self._new = items, options, new
        self.chat = not isinstance(items[0].prompt, str)

    def render(self, reader: Reader) -> list[Ids]:
        return prompt_files.render(reader, self._items, self._options)

    def require_room(self, label: str, room: int, longest: int) -> None:
        if longest + self._new > room:
            text = (
                f"{label} has {room} positions; the longest prompt has {longest} tokens, and {self._new} may be added"
            )
            raise WorkError("eval.too_long", text, fix="lower eval.max_new_tokens, or leave out the longest items")


def contestants(harness: Harness, settings: dict[str, Any], asked: Asked) -> list[Contestant]:
    """Every model of the comparison, in its order.

    Raises:
        WorkError: a folder, an adapter or a template that can't be used.
    """
    options = settings["chat_template_kwargs"]
    files = [worker_taken.files(harness, model) for model in settings["models"]]
    readers = [_reader(*pair, model, options) for pair, model in zip(files, settings["models"], strict=True)]
    template = next((r.tokenizer.chat_template for r in reversed(readers) if r.tokenizer.chat_template), None)
    found = list[Contestant]()
    for (folder, adapter), reader, model in zip(files, readers, settings["models"], strict=True):
        if template and not reader.tokenizer.chat_template and asked.chat:
            text = f"{model['label']} has no chat template of its own; it gets the one of the other models"
            harness.events.emit("warning", code="eval.template_lent", message=text)
            reader = _reader(folder, adapter, model, options, template)  # noqa: PLW2901
        prompts = asked.render(reader)
        _check_room(folder, model, prompts, asked)
        trust, probe = bool(model["trust_remote_code"]), model.get("probe")
        found.append(Contestant(model["label"], folder, adapter, trust, reader, prompts, probe))
    _warn(harness, found, options, chat=asked.chat)
    return found


def loaded(one: Contestant, settings: dict[str, Any], events: EventWriter) -> Any:
    """The model, compared with where it was made. Let go of it before the next one comes."""
    gc.collect()
    torch.cuda.empty_cache()
    where = worker_model.device()
    dtype = worker_model.dtype_of(settings["dtype"], where)
    model: Any = worker_model.load(
        one.folder, trust=one.trust, dtype=dtype, where=where, attention=settings["attention"]
    )
    worker_model.check_vocabulary(one.reader.tokenizer, model.get_input_embeddings().weight.shape[0], one.reader.folder)
    if one.adapter:
        model = worker_model.attach(model, one.adapter)
    if one.probe:
        require_same(model, one.reader.tokenizer, events, one.label, one.probe)
    return model


def _reader(
    folder: Path, adapter: Adapter | None, model: dict[str, Any], options: dict[str, Any], template: str | None = None
) -> Reader:
    own = adapter.folder if adapter else None
    return prompt_files.reader(folder, own, trust=bool(model["trust_remote_code"]), options=options, template=template)


def _check_room(folder: Path, model: dict[str, Any], prompts: list[Ids], asked: Asked) -> None:
    config = worker_model.config_of(folder, bool(model["trust_remote_code"])).get_text_config()
    if (room := getattr(config, "max_position_embeddings", None)) is not None:
        asked.require_room(model["label"], room, max(map(len, prompts)))


def _warn(harness: Harness, found: list[Contestant], options: dict[str, Any], *, chat: bool) -> None:
    last = found[-1]
    odd = [one.label for one in found if prompt_files.digest(one.prompts) != prompt_files.digest(last.prompts)]
    if odd:
        text = f"{', '.join(odd)} saw other prompt tokens than {last.label}: chat templates or tokenizers differ"
        harness.events.emit("warning", code="eval.prompts_differ", message=text)
    if chat and any(prompt_files.dated(one.reader, options) for one in found):
        text = "the chat template writes today's date into every prompt, so scores can change from day to day"
        text = f"{text}; set native.chat_template_kwargs.current_date"
        harness.events.emit("warning", code="eval.dated_template", message=text)
