"""Items -> prompt token ids, rendered as the model was trained to see them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import TemplateError
from transformers import AutoTokenizer, GenerationConfig

from backends.trainer.items import Item
from orchestrator.harness import WorkError

_MARK = "(answer)"

Ids = list[int]


@dataclass(frozen=True)
class Reader:
    """A tokenizer and what follows from it and the model's generation settings.

    Attributes:
        folder: where the tokenizer came from.
        tokenizer: left-padding.
        ends: every token id at which an answer is over.
        opening: token ids that the template writes between the generation prompt and the answer's text.
    """

    folder: Path
    tokenizer: Any
    ends: frozenset[int]
    opening: tuple[int, ...]

    @property
    def pad(self) -> int:
        """What fills a shorter prompt; masked, so that any will do."""
        found = self.tokenizer.pad_token_id
        return min(self.ends) if found is None else int(found)

    def text(self, ids: Ids) -> str:
        """Ids as text, without special tokens: what GRPO gives to reward functions."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))

    def proper(self, ids: Ids) -> Ids:
        """What follows the last place where the model itself wrote the header of an answer (a channel, say)."""
        width = len(self.opening)
        starts = [n + width for n in range(len(ids) - width + 1) if width and tuple(ids[n : n + width]) == self.opening]
        return ids[starts[-1] :] if starts else ids


def reader(
    model: Path, adapter: Path | None, *, trust: bool, options: dict[str, Any], template: str | None = None
) -> Reader:
    """The tokenizer of a model: the adapter's own where it has one, since training used it.

    Args:
        template: chat template for a tokenizer that has none.
    """
    folder = tokenizer_folder(model, adapter)
    tokenizer = AutoTokenizer.from_pretrained(
        folder, trust_remote_code=trust, local_files_only=True, padding_side="left"
    )
    tokenizer.chat_template = tokenizer.chat_template or template
    return of_tokenizer(tokenizer, model, folder, options)


def tokenizer_folder(model: Path, adapter: Path | None) -> Path:
    """Where a model's tokenizer lies: with the adapter where that has one."""
    return adapter if adapter and (adapter / "tokenizer_config.json").exists() else model


def of_tokenizer(
    tokenizer: Any, model: Path, folder: Path | None = None, options: dict[str, Any] | None = None
) -> Reader:
    """A reader around a tokenizer that is loaded already.

    Args:
        model: folder whose generation settings name further end tokens.
        folder: where the tokenizer came from; the model's where it isn't named.

    Raises:
        WorkError: nothing says where an answer ends.
    """
    folder = folder or model
    before, after = _around_answer(tokenizer, options or {})
    special = [token for token in after if token in tokenizer.all_special_ids]
    ends = {
        *_configured_ends(model),
        *special[:1],
        *([] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]),
    }
    if not ends:
        text = f"neither the tokenizer in {folder} nor {model} says which token ends an answer"
        raise WorkError("eval.no_end", text, fix="set eos_token_id in generation_config.json")
    return Reader(folder, tokenizer, frozenset(ends), tuple(before))


def render(reader: Reader, items: list[Item], options: dict[str, Any]) -> list[Ids]:
    """Prompt ids of every item: chat through the template, text as the tokenizer takes it.

    Raises:
        WorkError: chat prompts without a template, or a template that refuses them.
    """
    tokenizer = reader.tokenizer
    if isinstance(items[0].prompt, str):
        return [list(tokenizer(item.prompt)["input_ids"]) for item in items]
    if not tokenizer.chat_template:
        text = f"the items are chats and the tokenizer in {reader.folder} has no chat template"
        raise WorkError(
            "eval.no_template", text, fix="write text prompts, or evaluate it together with a model that has one"
        )
    try:
        return [_chat(tokenizer, item, options) for item in items]
    except TemplateError as error:
        text = f"the chat template in {reader.folder} refuses an item: {error}"
        raise WorkError("eval.template", text, fix="change the items to what the template allows") from error


def digest(prompts: list[Ids]) -> str:
    """sha256 over all prompt ids: two models with the same digest saw the same tokens."""
    return hashlib.sha256(json.dumps(prompts).encode()).hexdigest()


def dated(reader: Reader, options: dict[str, Any]) -> bool:
    """Whether the template writes today's date into every prompt."""
    return "strftime_now" in (reader.tokenizer.chat_template or "") and "current_date" not in options


def _chat(tokenizer: Any, item: Item, options: dict[str, Any]) -> Ids:
    own = item.columns.get("chat_template_kwargs") or {}
    rendered = tokenizer.apply_chat_template(
        item.prompt, tools=item.tools, add_generation_prompt=True, tokenize=True, return_dict=True, **{**options, **own}
    )
    return list(rendered["input_ids"])


def _around_answer(tokenizer: Any, options: dict[str, Any]) -> tuple[Ids, Ids]:
    """Token ids that the template writes before and after an answer; empty where it can't be told."""
    if not tokenizer.chat_template:
        return [], []
    user = [{"role": "user", "content": "?"}]
    try:
        asked = tokenizer.apply_chat_template(user, add_generation_prompt=True, tokenize=False, **options)
        answered = tokenizer.apply_chat_template(
            [*user, {"role": "assistant", "content": _MARK}], tokenize=False, **options
        )
    except TemplateError:
        return [], []
    head, _, tail = answered.rpartition(_MARK)
    before = head.removeprefix(asked) if head.startswith(asked) else ""
    return _plain_ids(tokenizer, before), _plain_ids(tokenizer, tail)


def _plain_ids(tokenizer: Any, text: str) -> Ids:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _configured_ends(model: Path) -> list[int]:
    if not (model / "generation_config.json").exists():
        return []
    ends = GenerationConfig.from_pretrained(model).eos_token_id
    return ends if isinstance(ends, list) else [] if ends is None else [ends]
