"""The training itself, framed: looked at before the first step, stopped on request, judged at its end."""

from __future__ import annotations

from typing import Any

from backends.axolotl.worker_artifact import Artifact
from backends.axolotl.worker_parameters import count_trainable, refuse_untouched
from backends.axolotl.worker_probe import Probe
from backends.axolotl.worker_resume import clear_broken
from backends.axolotl.worker_rows import RowCheck
from backends.trainer.callbacks import FINAL, Finished, Progress, Stop, require_end
from backends.trainer.probe import measure, mixed_precision, wanted
from backends.trainer.ranks import leave
from orchestrator.harness import Harness, Stopped


class Training:
    """Holds the trainer until training has ended; whoever holds this holds the model."""

    def __init__(self, cfg: Any, trainer: Any, harness: Harness) -> None:
        self._cfg, self._trainer, self._harness = cfg, trainer, harness
        self._stop, self._trainable = Stop(harness), 0
        for callback in (Progress(harness.events), self._stop):
            trainer.add_callback(callback)
        self._train = trainer.train
        trainer.train = self._framed

    def end(self) -> Artifact:
        """After the last step, while all ranks are alive.

        Returns:
            What to do with what Axolotl saves next.

        Raises:
            SystemExit: 75, the training was stopped on request.
            WorkError: it ended before its last step, and nothing was configured to end it early.
        """
        trainer = self._trainer
        if self._stop.stopped:
            leave()
            raise SystemExit(self._harness.report(Stopped()))
        if not self._cfg.early_stopping_patience:
            require_end(trainer.state)
        self._harness.events.emit("state", state="saving")
        self._name_revision()
        metrics = self._metrics() | {"steps": trainer.state.global_step, "trainable_parameters": self._trainable}
        assert self._harness.run is not None
        return Artifact(self._harness.run, self._cfg, Probe.of(trainer), self._measured(), metrics)

    def _measured(self) -> dict[str, Any] | None:
        """The behavioural checksum that the next stage is held to; all ranks ask."""
        if not wanted():
            return None
        trainer, given = self._trainer, self._trainer.processing_class
        model = trainer.accelerator.unwrap_model(trainer.model, keep_torch_compile=False)
        stored = None if self._cfg.adapter else str(self._cfg.torch_dtype).removeprefix("torch.")
        options = {"mixed": mixed_precision(trainer.args), "stored": stored}
        return measure(model, getattr(given, "tokenizer", given), **options)

    def _framed(self, *args: Any, **kwargs: Any) -> Any:
        """In place of the trainer's own `train`."""
        self._look()
        if self._harness.leash:
            self._harness.leash.take_signals()
            self._harness.leash.defer()
        try:
            return self._train(*args, **kwargs)
        except Finished:
            self._take_best()
            return None

    def _look(self) -> None:
        trainer = self._trainer
        self._trainable = count_trainable(trainer.model)
        refuse_untouched(trainer.model)
        clear_broken(self._cfg, self._harness)
        RowCheck(self._cfg, trainer, self._harness.events).watch()

    def _take_best(self) -> None:
        """Nothing is left to train, but the engine would still end with its best checkpoint."""
        trainer = self._trainer
        if trainer.args.load_best_model_at_end and trainer.state.best_model_checkpoint is not None:
            trainer._load_best_model()

    def _name_revision(self) -> None:
        """PEFT notes which base, and not at which revision."""
        for config in getattr(self._trainer.model, "peft_config", {}).values():
            config.revision = self._cfg.revision_of_model

    def _metrics(self) -> dict[str, float]:
        ends = [entry for entry in self._trainer.state.log_history if FINAL in entry]
        return {k: v for k, v in (ends[-1] if ends else {}).items() if isinstance(v, int | float) and k != "step"}
