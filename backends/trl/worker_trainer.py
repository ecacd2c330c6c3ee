"""Builds the trainer of a stage from the sections of the native file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backends.trainer.marked import show
from backends.trl.worker_data import Row, dataset, read_rows
from backends.trl.worker_file import Arguments
from backends.trl.worker_lora import adapter
from backends.trl.worker_pairs import judge_pairs, pairs
from backends.trl.worker_prompts import prompts
from backends.trl.worker_reward import Rewards
from backends.trl.worker_sft import sft_dataset
from backends.trl.worker_task import Played
from orchestrator.events import EventWriter


@dataclass(frozen=True)
class Given:
    """What a trainer is built from beside the model: rows of `train` and perhaps `eval`, and where warnings go."""

    rows: dict[str, list[Row]]
    events: EventWriter


def configuration(arguments: Arguments) -> Any:
    """The trainer's config; making it starts the process group and picks this rank's device."""
    import trl

    return getattr(trl, arguments.trainer.replace("Trainer", "Config"))(**arguments.config)


def rows(arguments: Arguments, judges: Rewards | Played | None) -> dict[str, list[Row]]:
    """Training and validation rows, read before the framework is imported: a wrong file should cost a second.

    Raises:
        WorkError: a file that can't be read, or has another form.
    """
    limits = {"train": arguments.data.get("max_rows"), "eval": None}
    if isinstance(judges, Played):
        wanted = ("train", "eval") if arguments.config.get("eval_strategy", "no") != "no" else ("train",)
        return {part: judges.rows(part, limits[part]) for part in wanted}
    files = {part: arguments.data[part] for part in limits if arguments.data.get(part)}
    return {part: read_rows(path, arguments.trainer, limits[part]) for part, path in files.items()}


def build(arguments: Arguments, args: Any, model: Any, tokenizer: Any, given: Given, **more: Any) -> Any:
    """The trainer, its data checked.

    Args:
        given: rows and the event writer.
        more: callbacks, and for GRPO what judges.

    Raises:
        WorkError: data or an adapter that can't train.
    """
    import trl

    events = given.events
    train, held_out = (_data(arguments, model, tokenizer, part, given) for part in ("train", "eval"))
    if arguments.trainer == "SFTTrainer":
        show(train[0]["input_ids"], train[0]["labels"], tokenizer, events)
    peft = {"peft_config": adapter(arguments.peft, model, events)} if arguments.peft is not None else {}
    trainer = getattr(trl, arguments.trainer)(
        model=model, args=args, train_dataset=train, eval_dataset=held_out, processing_class=tokenizer, **peft, **more
    )
    if arguments.trainer == "DPOTrainer":
        judge_pairs(trainer, len(train), arguments, events)
    return trainer


def _data(arguments: Arguments, model: Any, tokenizer: Any, part: str, given: Given) -> Any:
    if part not in given.rows:
        return None
    path, rows = arguments.data[part], given.rows[part]
    if arguments.task:
        return dataset(rows, arguments.task["name"])
    if arguments.trainer == "SFTTrainer":
        table = model.get_input_embeddings().weight.shape[0]
        return sft_dataset(arguments, tokenizer, rows, path, table=table, events=given.events)
    if arguments.trainer == "DPOTrainer":
        return dataset(pairs(rows, path), path)
    return dataset(prompts(rows, tokenizer, arguments, path, given.events), path)


def judges(arguments: Arguments, events: EventWriter) -> Rewards | Played | None:
    """The reward functions or the task, loaded before the model: a wrong name should cost seconds."""
    if arguments.task:
        return Played(arguments, events)
    return Rewards(arguments.rewards, events) if arguments.trainer == "GRPOTrainer" else None


def judging(judges: Rewards | Played | None, args: Any) -> dict[str, Any]:
    """What judges as arguments of the trainer; a task's weights go into its configuration."""
    if isinstance(judges, Played):
        args.reward_weights = judges.weights
        return {"reward_funcs": judges.functions, "rollout_func": judges.rollout}
    return {"reward_funcs": judges.functions} if judges else {}
