"""Trains: reads a native file, checks what it can before the first step, trains, saves, and looks at what it saved.

Runs in the engine's environment: `python -m backends.trl.worker FILE`, or the same through torch.distributed.run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from backends.trl.worker_file import Arguments, read
from orchestrator.harness import Harness, Stopped


def work(harness: Harness, native_file: Path) -> None:
    """One training stage, from the native file to the artifact."""
    from backends.trainer import memory
    from backends.trainer.callbacks import require_end
    from backends.trainer.ranks import leave
    from backends.trl.worker_save import save

    harness.events.emit("state", state="loading")
    arguments = read(native_file)
    trainer, stop, dtype = _prepare(harness, arguments)
    checkpoint = _resume_point(harness, trainer.args) if harness.resume else None
    if harness.leash:
        harness.leash.defer()
    metrics = _train(trainer, checkpoint)
    if stop.stopped:
        leave()
        raise Stopped
    require_end(trainer.state)
    harness.events.emit("state", state="saving")
    facts = save(trainer, arguments, dtype)
    metrics |= {"steps": trainer.state.global_step, **facts}
    harness.events.emit("result", metrics=metrics, peak_memory=memory.peak())
    leave()


def _prepare(harness: Harness, arguments: Arguments) -> tuple[Any, Any, Any]:
    """The trainer with its callbacks, the one that stops it, and the dtype of the weights as loaded."""
    from backends.trainer.handoff import require_same
    from backends.trl import worker_device, worker_fsdp, worker_lora, worker_model, worker_save, worker_trainer

    worker_save.refuse_existing(arguments)
    judges = worker_trainer.judges(arguments, harness.events)
    given = worker_trainer.Given(worker_trainer.rows(arguments, judges), harness.events)
    worker_device.settle(use_cpu=bool(arguments.config.get("use_cpu")))
    if arguments.sharded:
        worker_fsdp.allow_on_cpu()
        worker_fsdp.group_head()
    args = worker_trainer.configuration(arguments)
    harness.events.emit("doing", what="loading the model")
    tokenizer, model = worker_model.load_tokenizer(arguments), worker_model.load_model(arguments)
    worker_model.refuse_outside(model, tokenizer)
    require_same(model, tokenizer, harness.events, "the model to start from")
    dtype = model.dtype
    stop, callbacks = _callbacks(harness, judges)
    if arguments.held_out:
        from backends.trl.worker_held_out import watch

        callbacks.append(watch(harness, arguments, tokenizer))
    more = {"callbacks": callbacks, **worker_trainer.judging(judges, args)}
    harness.events.emit("doing", what="turning the rows into tokens")
    trainer = worker_trainer.build(arguments, args, model, tokenizer, given, **more)
    if getattr(trainer, "ref_model", None) is not None:
        require_same(trainer.ref_model, tokenizer, harness.events, "the reference")
    stop.watch(trainer)
    worker_lora.keep_dtype(trainer.model)
    if arguments.sharded:
        worker_fsdp.require_sharding(trainer)
        worker_fsdp.require_whole_head(trainer.model)
    return trainer, stop, dtype


def _callbacks(harness: Harness, judges: Any) -> tuple[Any, list[Any]]:
    from backends.trainer.callbacks import Progress, Stop
    from backends.trl.worker_signal import Signal

    stop = Stop(harness)
    return stop, [Progress(harness.events), stop, *([Signal(judges, harness.events)] if judges else [])]


def _resume_point(harness: Harness, args: Any) -> Path | None:
    """Rank 0 looks and tells the others: all must go on from the same step."""
    from accelerate.utils import broadcast_object_list

    from backends.trainer.checkpoint import newest_complete

    folder, first = Path(args.output_dir), harness.rank == 0
    found = [newest_complete(folder, args.world_size, harness.events, harness.run) if first else None]
    if args.world_size > 1:
        broadcast_object_list(found)
    if found[0] is None:
        harness.events.emit(
            "warning", code="checkpoint.none", message="no whole checkpoint to resume from: starting over"
        )
    return found[0]


def _train(trainer: Any, checkpoint: Path | None) -> dict[str, float]:
    """Train to the end, or to a stop.

    Returns:
        The engine's final numbers; none when the checkpoint was the last one already.
    """
    from backends.trainer.callbacks import Finished

    try:
        outcome = trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except Finished:
        return {}
    return {key: value for key, value in outcome.metrics.items() if isinstance(value, int | float)}


if __name__ == "__main__":
    sys.exit(Harness().main(work))
