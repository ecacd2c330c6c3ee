"""All but weights of what was just written, read back: will the next stage find the configuration that trained?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.trainer import behaviour, lexicon
from backends.trainer.probe import Measured, template_digest
from backends.trainer.tensors import wrong

_CIRCUMSTANCES = {
    *("base_model_name_or_path", "revision", "inference_mode", "peft_version", "runtime_config", "auto_mapping"),
    *("task_type", "init_lora_weights"),
}
"""Keys of an adapter's configuration that don't say what it computes."""


def require_tokenizer(folder: Path, measured: Measured) -> None:
    """Compare the tokenizer on disk with the one that was measured.

    Raises:
        WorkError: a part of it, or its chat template, is another one.
    """
    from transformers import AutoTokenizer

    written = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    other = lexicon.difference(measured["tokenizer"], lexicon.digests(written))
    if other or template_digest(written) != measured["template"]:
        raise wrong(folder, f"read back, {other or 'the chat template is another one'}")


def require_adapter(folder: Path, trained: Any) -> None:
    """Compare an adapter's configuration on disk with the one that trained.

    Raises:
        WorkError: a key that says what it computes has another value.
    """
    before, after = trained.to_dict(), type(trained).from_pretrained(folder).to_dict()
    other = [k for k in before if k not in _CIRCUMSTANCES and _plain(before[k]) != _plain(after.get(k))]
    if other:
        shown = ", ".join(f"{key} trained as {before[key]!r}, written as {after.get(key)!r}" for key in other)
        raise wrong(folder / "adapter_config.json", shown)


def require_config(folder: Path, trained: Any) -> None:
    """Compare a model's configuration on disk with the one that trained.

    Raises:
        WorkError: a key that changes answers has another value.
    """
    written = type(trained).from_pretrained(folder, local_files_only=True)
    if other := behaviour.difference(behaviour.of(trained), behaviour.of(written)):
        raise wrong(folder / "config.json", f"read back, {other}")


def _plain(value: Any) -> Any:
    """Sets come back as lists, in any order."""
    if isinstance(value, set | list | tuple):
        return sorted(map(str, value))
    return value or None
