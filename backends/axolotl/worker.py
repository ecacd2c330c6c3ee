"""Our frame inside Axolotl: `plugins: [backends.axolotl.worker.PostTrain]`.

Axolotl calls a plugin's hooks at fixed places of its own main function. It asks for no base class, only for the hooks;
without the variables that the runner sets, the same file trains the same and nothing is reported.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from backends.axolotl.worker_place import enter_rows_folder, require_ranks
from backends.axolotl.worker_refusal import refusal
from backends.axolotl.worker_resume import choose_checkpoint
from backends.trainer import memory
from orchestrator.harness import Harness

if TYPE_CHECKING:
    from backends.axolotl.worker_artifact import Artifact
    from backends.axolotl.worker_training import Training


class PostTrain:
    """Events, the leash, resume, stop, and the proof of what was saved. Hooks that it has no use for answer None."""

    def __init__(self) -> None:
        self._harness = Harness()
        self._training: Training | None = None
        self._artifact: Artifact | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _nothing

    def get_adapter_capabilities(self) -> list[Any]:
        """Axolotl iterates over the answer."""
        return []

    def register(self, cfg: Any) -> None:
        """The configuration as written, before Axolotl validates it."""
        if self._harness.run is None:
            return
        from backends.axolotl.worker_artifact import refuse_existing

        self._harness.attach()
        self._harness.events.emit("state", state="loading")
        require_ranks()
        enter_rows_folder(cfg)
        refuse_existing(self._harness.run, adapter=bool(cfg.get("adapter")))
        choose_checkpoint(cfg, self._harness)

    def on_config_validation_error(self, cfg: Any) -> None:
        """Called while the refusal is being handled; ours takes its place.

        Raises:
            WorkError: the refusal, key by key, with our setting beside each.
        """
        error = sys.exception()
        if self._harness.run is not None and error is not None:
            raise refusal(error) from error

    def load_datasets(self, cfg: Any, preprocess: bool = False) -> None:
        """Axolotl does it itself when no plugin answers."""
        self._doing("reading the rows and turning them into tokens")

    def pre_model_load(self, cfg: Any) -> None:
        """Rows are ready."""
        self._doing("loading the model")

    def post_model_build(self, cfg: Any, model: Any) -> None:
        """The model to start from, as loaded: the one that an earlier stage made?

        Raises:
            WorkError: it is another one.
        """
        if self._harness.run is None or any(parameter.is_meta for parameter in model.parameters()):
            return  # under FSDP2 all ranks but the first load no weights
        from transformers import AutoTokenizer

        from backends.trainer.handoff import require_same

        trusted = bool(cfg.trust_remote_code)
        tokenizer = AutoTokenizer.from_pretrained(cfg.tokenizer_config or cfg.base_model, trust_remote_code=trusted)
        require_same(model, tokenizer, self._harness.events, "the model to start from")

    def pre_lora_load(self, cfg: Any, model: Any) -> None:
        """Axolotl seeds only later, so that two runs would start from two adapters (0.19.0)."""
        from transformers import set_seed

        if cfg.seed is not None:
            set_seed(cfg.seed)

    def get_training_args(self, cfg: Any) -> dict[str, Any]:
        """What Axolotl has no key for: the CPU where there is nothing else, and NaN as it is."""
        import torch

        alone = {} if torch.accelerator.is_available() else {"use_cpu": True, "dataloader_pin_memory": False}
        return {"logging_nan_inf_filter": False, **alone}

    def post_trainer_create(self, cfg: Any, trainer: Any) -> None:
        """Take the trainer's training into our frame."""
        from backends.axolotl.worker_training import Training

        self._training = Training(cfg, trainer, self._harness)

    def post_train(self, cfg: Any, model: Any) -> None:
        """Called after training with all ranks alive, and once more after saving, when there is nothing left to do."""
        training, self._training = self._training, None
        if training is not None and self._harness.run is not None:
            self._artifact = training.end()

    def post_train_unload(self, cfg: Any) -> None:
        """Everything is saved and the trained model is gone."""
        if self._artifact is None or self._harness.rank != 0:
            return
        self._doing("reading back what was saved")
        facts = self._artifact.finish()
        self._harness.events.emit("result", metrics=facts, peak_memory=memory.peak())
        self._harness.events.emit("state", state="done")

    def _doing(self, what: str) -> None:
        self._harness.events.emit("doing", what=what)


def _nothing(*_: Any, **__: Any) -> None:
    """A hook that we have no use for."""
