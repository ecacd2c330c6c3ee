"""Training rows. One local JSONL file in a form that we also have becomes `data.train`; all others stay native."""

from __future__ import annotations

from typing import Any

from backends.axolotl.data import TYPES
from backends.axolotl.mapping import DATA
from backends.axolotl.reading import Reading

_PATHS = ("base_model_config", "tokenizer_config", "processor_config", "lora_model_dir", "chat_template_jinja")
_NAMED = ("path", "chat_template_jinja")
_USUAL = {"field_messages": "messages", "roles_to_train": ["assistant"], "train_on_eos": "turn"}
"""What Axolotl takes for a chat dataset that doesn't say."""

Dataset = dict[str, Any]


def translate(reading: Reading) -> None:
    """Paths beside the recipe, then `data.train` where that says the same."""
    for key in (key for key in _PATHS if key in reading.given):
        reading.given[key] = reading.placed(reading.given[key], key)
    for key in (key for key in (*DATA, "test_datasets") if key in reading.given):
        reading.given[key] = _placed(reading, key, reading.given[key])
    if _ours(reading):
        _train(reading)


def _placed(reading: Reading, key: str, value: Any) -> Any:
    if isinstance(value, dict):
        placed = {k: _located(reading, key, v) if k in _NAMED else v for k, v in value.items()}
        files = _located(reading, key, value["data_files"]) if _reads_files(placed) else value.get("data_files")
        return placed | ({"data_files": files} if files else {})
    return [_placed(reading, f"{key}.{n}", item) for n, item in enumerate(value)] if isinstance(value, list) else value


def _reads_files(dataset: Dataset) -> bool:
    """Whether `data_files` are files here: beside a dataset on the hub they are files of that dataset."""
    path = str(dataset.get("path", ""))
    return "data_files" in dataset and ("/" not in path or path.startswith(("./", "../", "/")))


def _located(reading: Reading, key: str, value: Any) -> Any:
    return [reading.placed(item, key) for item in value] if isinstance(value, list) else reading.placed(value, key)


def _ours(reading: Reading) -> bool:
    """Whether the rows are one file here, read as we would have it read."""
    datasets, given = reading.given.get("datasets"), reading.given
    if not isinstance(datasets, list) or len(datasets) != 1 or not isinstance(datasets[0], dict):
        return False
    rows = _spelt(datasets[0])
    path = rows.pop("path", None)
    if not isinstance(path, str) or not path.endswith(".jsonl") or not reading.is_file(path):
        return False
    templates = {"chat_template": (None, "tokenizer_default"), "completion": (None,)}
    ours = [{"ds_type": "json", "split": "train", **TYPES[form]} for form in ("messages", "text")]
    return rows in ours and given.get("chat_template") in templates[rows["type"]] and not _further(given)


def _further(given: Dataset) -> bool:
    return any(given.get(key) for key in ("pretraining_dataset", "test_datasets"))


def _spelt(dataset: Dataset) -> Dataset:
    """A dataset with Axolotl's own defaults written out."""
    chat = _USUAL if dataset.get("type") == "chat_template" else {}
    text = {"field": "text"} if dataset.get("type") == "completion" else {}
    given = {key: value for key, value in dataset.items() if value is not None}
    return {"ds_type": "json", "split": "train", **chat, **text, **given}


def _train(reading: Reading) -> None:
    reading.put("data.train", reading.take("datasets")[0]["path"], key="datasets")
    reading.take("chat_template")
    reading.put("training.loss_on", "all" if reading.take("train_on_inputs") else "assistant", key="train_on_inputs")
    if "excess_length_strategy" not in reading.given:
        comment = "not said in the original: rows longer than max_length are dropped, not cut"
        reading.put("native.excess_length_strategy", None, comment=comment)
