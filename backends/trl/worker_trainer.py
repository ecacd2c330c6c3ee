"""Builds the trainer of a stage from the sections of the native file."""

from __future__ import annotations

from typing import Any

from backends.trl.worker_data import dataset, read_rows
from backends.trl.worker_file import Arguments
from backends.trl.worker_lora import adapter
from backends.trl.worker_pairs import judge_pairs, pairs
from backends.trl.worker_prompts import prompts
from backends.trl.worker_reward import Rewards
from backends.trl.worker_sft import sft_dataset, show
from orchestrator.events import EventWriter


def configuration(arguments: Arguments) -> Any:
    """The trainer's config; making it starts the process group and picks this rank's device."""
    import trl

    return getattr(trl, arguments.trainer.replace("Trainer", "Config"))(**arguments.config)


def build(arguments: Arguments, args: Any, model: Any, tokenizer: Any, events: EventWriter, **more: Any) -> Any:
    """The trainer, its data checked.

    Args:
        more: callbacks, and for GRPO reward_funcs.

    Raises:
        WorkError: data or an adapter that can't train.
    """
    import trl

    train, held_out = (_data(arguments, model, tokenizer, part, events) for part in ("train", "eval"))
    if arguments.trainer == "SFTTrainer":
        show(train, tokenizer, events)
    peft = {"peft_config": adapter(arguments.peft, model, events)} if arguments.peft is not None else {}
    trainer = getattr(trl, arguments.trainer)(
        model=model, args=args, train_dataset=train, eval_dataset=held_out, processing_class=tokenizer, **peft, **more
    )
    if arguments.trainer == "DPOTrainer":
        judge_pairs(trainer, len(train), arguments, events)
    return trainer


def _data(arguments: Arguments, model: Any, tokenizer: Any, part: str, events: EventWriter) -> Any:
    path = arguments.data.get(part)
    if path is None:
        return None
    limit = arguments.data.get("max_rows") if part == "train" else None
    rows = read_rows(path, arguments.trainer, limit)
    if arguments.trainer == "SFTTrainer":
        table = model.get_input_embeddings().weight.shape[0]
        return sft_dataset(arguments, tokenizer, rows, path, table=table, events=events)
    if arguments.trainer == "DPOTrainer":
        return dataset(pairs(rows, path), path)
    return dataset(prompts(rows, tokenizer, arguments, path, events), path)


def rewards(arguments: Arguments, events: EventWriter) -> Rewards | None:
    """The reward functions, loaded before the model: a wrong name should cost seconds."""
    return Rewards(arguments.rewards, events) if arguments.trainer == "GRPOTrainer" else None
