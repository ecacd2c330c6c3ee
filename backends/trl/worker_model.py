"""Loads the model and its tokenizer, and refuses weights that are not all there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from backends.trainer import absent
from backends.trl.worker_file import Arguments, Section
from orchestrator.harness import WorkError

_MARK = re.compile(r"<\|[^|<>\s]+\|>")


def load_model(arguments: Arguments) -> Any:
    """The model a stage starts from, every weight read from safetensors.

    Raises:
        WorkError: an architecture that generates no text, or weights that would be random.
    """
    from transformers import AutoConfig

    path, options = _split(arguments.model)
    config = AutoConfig.from_pretrained(path, **_identity(options))
    kind = _kind(config, path)
    quantization = {"quantization_config": _quantization(arguments.quantization)} if arguments.quantization else {}
    told = {"use_safetensors": True, "output_loading_info": True, "ignore_mismatched_sizes": True}  # to name them all
    model, info = kind.from_pretrained(path, **told, **options, **quantization)
    absent.refuse(path, info)
    return model


def load_tokenizer(arguments: Arguments) -> Any:
    """The tokenizer beside the model, with the template of `chat_template_path` when one is given.

    Raises:
        WorkError: no end token, or a special token that is not one token.
    """
    from transformers import AutoTokenizer

    path, options = _split(arguments.model)
    tokenizer = AutoTokenizer.from_pretrained(path, **_identity(options))
    if template := arguments.config.get("chat_template_path"):
        tokenizer.chat_template = Path(template).read_text(encoding="utf-8")
    if tokenizer.eos_token_id is None:
        raise WorkError(
            "tokenizer.no_end",
            f"{path}: the tokenizer names no end token",
            why="nothing would teach the model where an answer ends",
            fix="set eos_token in its tokenizer_config.json",
        )
    _refuse_split_tokens(path, tokenizer)
    return tokenizer


def refuse_outside(model: Any, tokenizer: Any) -> None:
    """Every special token must have a row in the embedding table.

    Raises:
        WorkError: a token id at or past the number of rows.
    """
    rows = model.get_input_embeddings().weight.shape[0]
    special = zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True)
    beyond = {token: number for token, number in special if number >= rows}
    if beyond:
        raise WorkError(
            "tokenizer.outside",
            f"the embedding table has {rows} rows, but the tokenizer gives these tokens higher ids: {beyond}",
            why="training would read past the table",
            fix="use the tokenizer that belongs to the model, or resize the embeddings first",
        )


def _split(model: Section) -> tuple[str, Section]:
    return str(model["path"]), {key: value for key, value in model.items() if key != "path"}


def _identity(options: Section) -> Section:
    """What tells which files are meant, as far as configs and tokenizers know it."""
    return {
        key: options[key]
        for key in ("revision", "trust_remote_code", "local_files_only", "subfolder")
        if key in options
    }


def _kind(config: Any, path: str) -> Any:
    """Language models first; several multimodal models are registered as image-text-to-text only."""
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    for kind in (AutoModelForCausalLM, AutoModelForImageTextToText):
        remote = kind.__name__ in (getattr(config, "auto_map", None) or {})
        if remote or type(config) in kind._model_mapping:
            return kind
    raise WorkError(
        "model.kind",
        f"{path}: model type {config.model_type!r} generates no text",
        fix="name a causal language model, or a multimodal model that answers in text",
    )


def _quantization(section: Section) -> Any:
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(**section)


def _refuse_split_tokens(path: str, tokenizer: Any) -> None:
    marks = dict.fromkeys([*tokenizer.all_special_tokens, *_turn_marks(tokenizer)])
    split = [t for t in marks if len(tokenizer.encode(t, add_special_tokens=False)) != 1]
    if split:
        raise WorkError(
            "tokenizer.split",
            f"{path}: these special tokens fall into several pieces: {split}",
            why="turns would begin and end with text that the model has never seen",
            fix="add them to the tokenizer, or use the tokenizer that belongs to the model",
        )


def _turn_marks(tokenizer: Any) -> list[str]:
    """Marks like `<|im_start|>` that the template writes around turns; no tokenizer need call them special."""
    from jinja2 import TemplateError

    if not tokenizer.chat_template:
        return []
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
    try:
        return _MARK.findall(tokenizer.apply_chat_template(turns, tokenize=False))
    except TemplateError:
        return []  # it wants other turns; rendering the rows will say so
