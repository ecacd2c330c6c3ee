"""Step and evaluation events, and the stop on request, out of the Trainer's own loop."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from backends.trainer import memory, saved
from orchestrator.events import EventWriter
from orchestrator.harness import Harness, WorkError

FINAL = "train_runtime"
"""In the logs of the end, and in no other."""


class Finished(Exception):
    """The checkpoint resumed from is the last one: its weights are loaded, no step is left.

    Raised out of the engine's loop, which would take one more step before it looks (transformers 5.24).
    """


class Progress(TrainerCallback):  # type: ignore[misc]
    """Step, evaluation and checkpoint events; stops a run whose loss is no number."""

    def __init__(self, events: EventWriter) -> None:
        self._events = events

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._events.emit("state", state="training", total=state.max_steps)
        if state.global_step >= state.max_steps:
            raise Finished

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if not logs or FINAL in logs:
            return
        metrics = {k: v for k, v in logs.items() if isinstance(v, int | float)}
        step = {"step": state.global_step, "total": state.max_steps, "metrics": metrics}
        self._events.emit("step", **step, peak_memory=memory.peak())
        for name in ("loss", "grad_norm"):
            if not math.isfinite(metrics.get(name, 0.0)):
                raise WorkError(
                    "training.nan",
                    f"{name} is {metrics[name]} at step {state.global_step}",
                    why="weights are damaged from here on",
                    fix="lower training.learning_rate, add training.warmup_steps, or use training.precision: bf16",
                )

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        path = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        _wait(args)
        if args.process_index == 0:
            told = {"step": state.global_step, "path": str(path), "files": saved.files(path)}
            self._events.emit("checkpoint", **told, peak_memory=memory.peak())


def _wait(args: Any) -> None:
    """Until every rank has written its part of a checkpoint."""
    if args.world_size > 1:
        import torch

        torch.distributed.barrier()


class Stop(TrainerCallback):  # type: ignore[misc]
    """Saves and ends when a stop is wanted. All ranks decide together, or one would wait for the others forever.

    Attributes:
        stopped: whether training ended for that reason.
    """

    def __init__(self, harness: Harness) -> None:
        self._leash = harness.leash
        self.stopped, self._trainer = False, None

    def watch(self, trainer: Any) -> None:
        """The trainer whose generation boundaries count; a checkpoint between two of them can't be resumed exactly."""
        self._trainer = trainer

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._agreed(args) and self._at_boundary(args) and state.global_step < state.max_steps:
            control.should_save = control.should_training_stop = self.stopped = True

    def _agreed(self, args: Any) -> bool:
        wanted = self._leash is not None and self._leash.wanted
        if args.world_size == 1:
            return wanted
        import torch

        flag = torch.tensor(int(wanted), device=args.device)
        torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
        return bool(flag.item())

    def _at_boundary(self, args: Any) -> bool:
        every = getattr(args, "steps_per_generation", None)
        return every is None or self._trainer is None or self._trainer._step % (every * args.num_iterations) == 0


def require_end(state: Any) -> None:
    """The engine returns normally from a training that ended early.

    Raises:
        WorkError: steps are left.
    """
    if state.global_step < state.max_steps:
        raise WorkError(
            "training.short",
            f"training ended at step {state.global_step} of {state.max_steps}",
            why="the engine reports success all the same",
            fix="resume the run",
        )
