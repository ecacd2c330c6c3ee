"""The data part of the configuration: which rows, how they become tokens, and which tokens get loss."""

from __future__ import annotations

from typing import Any

from orchestrator.backend import Job
from orchestrator.spec import RunSpec

Config = dict[str, Any]


def section(spec: RunSpec, job: Job) -> Config:
    """Datasets, template and loss. Nothing where the recipe names Axolotl's own datasets."""
    if spec.data.train is None:
        return {}
    rows = spec.data.max_rows
    split = "train" if rows is None else f"train[:{rows}]"
    evaluation = {"test_datasets": [_dataset(spec.data.eval, job)]} if spec.data.eval else {}
    return {
        "datasets": [_dataset(spec.data.train, job, split)],
        **evaluation,
        **({"chat_template": "tokenizer_default"} if _form(job) == "messages" else {}),
        "train_on_inputs": spec.training.loss_on == "all",
        # rows that are too long lose their end, as everywhere; the engine's own default is to leave them out
        "excess_length_strategy": "truncate",
        **({"eval_sample_packing": False} if spec.training.packing and spec.data.eval else {}),
        # each further process imports the engine anew, which takes longer than the rows of a run without a GPU
        **({} if job.machine.gpus else {"dataset_num_proc": 1}),
    }


def _form(job: Job) -> str:
    return job.form or "messages"


def _dataset(path: str, job: Job, split: str = "train") -> Config:
    return {"path": path, "ds_type": "json", "split": split, **TYPES[_form(job)]}


TYPES: dict[str, Config] = {
    "messages": {
        "type": "chat_template",
        "field_messages": "messages",
        "roles_to_train": ["assistant"],
        "train_on_eos": "turn",
    },
    "prompt+completion": {
        "type": {
            "system_prompt": "",
            "field_instruction": "prompt",
            "field_output": "completion",
            "format": "{instruction}",
            "no_input_format": "{instruction}",
        }
    },
    "text": {"type": "completion", "field": "text"},
}
"""Form of the rows -> how Axolotl reads them."""
