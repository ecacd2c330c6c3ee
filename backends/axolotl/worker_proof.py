"""Proof of an artifact: read back from disk by transformers and PEFT alone, it answers as the trained model did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.axolotl.worker_artifact import adapter_config
from backends.axolotl.worker_names import refuse_names
from backends.axolotl.worker_probe import Probe, answer
from backends.axolotl.worker_reload import Reload
from backends.trainer.tensors import verify
from orchestrator.harness import WorkError

TOLERANCE = {"float32": 1e-4, "float16": 2e-3, "bfloat16": 1e-2}
"""Dtype of the run -> largest logit difference allowed, as a share of the largest logit (at least 1).

On a CPU the difference was 0.0 in every run measured: LoRA, DoRA, QLoRA and full weights in float32 and in bfloat16,
with the quickstart's model. The tolerance leaves room for a few roundings of kernels that add up in another order.
"""

ELSEWHERE = 5
"""Times the tolerance, for a model that was trained in parts on accelerators and is read back on the CPU."""


def prove(folder: Path, cfg: Any, probe: Probe) -> dict[str, float]:
    """Look at every tensor and every name, then compare answers.

    Returns:
        Tensor and parameter counts, `max_abs_logit_difference` to the trained model, `logit_tolerance`, and
        `training_logit_effect`, the largest difference to the model that training began with; in logits.

    Raises:
        WorkError: a damaged or misnamed tensor, a wrong base, other answers, or the answers of the base.
    """
    reload = Reload(cfg, probe)
    if cfg.adapter:
        _refuse_base(adapter_config(folder), cfg)
    facts = verify(folder, adapter=bool(cfg.adapter), tied=not cfg.adapter and reload.tied(folder))
    got, before = _adapter(folder, reload, probe) if cfg.adapter else _model(folder, reload, probe)
    tolerance = _share(cfg, probe) * max(1.0, probe.logits.abs().max().item())
    difference, effect = _largest(got, probe.logits), _largest(got, before)
    _judge(folder, difference, tolerance, effect)
    return {
        **facts,
        "max_abs_logit_difference": difference,
        "logit_tolerance": tolerance,
        "training_logit_effect": effect,
    }


def _adapter(folder: Path, reload: Reload, probe: Probe) -> tuple[Any, Any]:
    """Answers with the adapter and without."""
    model = reload.attach(reload.base(), folder)
    refuse_names(folder, model)
    got = answer(model, probe.rows, probe.autocast)
    with model.disable_adapter():
        return got, answer(model, probe.rows, probe.autocast)


def _model(folder: Path, reload: Reload, probe: Probe) -> tuple[Any, Any]:
    """Answers of the saved model and of its base; one of them is in memory at a time."""
    got = answer(reload.model(folder), probe.rows, probe.autocast)
    return got, answer(reload.base(), probe.rows, probe.autocast)


def _refuse_base(config: dict[str, Any], cfg: Any) -> None:
    named = (config.get("base_model_name_or_path"), config.get("revision"))
    if named != (cfg.base_model, cfg.revision_of_model):
        raise WorkError(
            "artifact.base",
            f"adapter_config.json names {named[0]} (revision {named[1]}) as its base, but it was trained on "
            f"{cfg.base_model} (revision {cfg.revision_of_model})",
            why="the next stage would put it on another model",
            fix="report this with the run's native file",
        )


def _share(cfg: Any, probe: Probe) -> float:
    return TOLERANCE[str(cfg.torch_dtype).removeprefix("torch.")] * (ELSEWHERE if probe.sharded else 1)


def _largest(one: Any, other: Any) -> float:
    """Where the base has another number of rows in its vocabulary, what both know is compared."""
    shared = min(one.shape[1], other.shape[1])
    return float((one[:, :shared] - other[:, :shared]).abs().max().item())


def _judge(folder: Path, difference: float, tolerance: float, effect: float) -> None:
    if not difference <= tolerance:
        raise WorkError(
            "artifact.other",
            f"{folder}, read back, answers otherwise than the trained model: {difference:.3g} logits, "
            f"allowed are {tolerance:.3g}",
            why="what was saved is not what was trained",
            fix="report this with the run's native file",
        )
    if effect == 0:
        raise WorkError(
            "artifact.no_effect",
            f"{folder}, read back, answers exactly as the model did before training",
            fix="raise training.learning_rate or train longer",
        )
