"""Values outside the recommended ranges, with the reason."""

from __future__ import annotations

from orchestrator import defaults
from orchestrator.defaults import Range
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def check(spec: RunSpec, rows: int | None) -> list[Finding]:
    """Advice on the hyperparameters of a training stage."""
    if not spec.trains:
        return []
    return [
        f
        for f in (_rate(spec), _beta(spec), _epochs(spec), *_lora(spec), _batch(spec), _group(spec), _rows(spec, rows))
        if f
    ]


def _outside(setting: str, value: float, allowed: Range, reason: str) -> Finding | None:
    low, high = allowed
    if low <= value <= high:
        return None
    code = f"hp.{setting.rsplit('.', 1)[-1]}"
    return Finding(
        code=code,
        level="advice",
        message=f"{value:g} is outside {low:g} to {high:g}: {reason}",
        fix=f"set it inside, or list {code} under `accept`",
        where=setting,
    )


def _rate(spec: RunSpec) -> Finding | None:
    allowed, reason = defaults.RATES.get((spec.stage, spec.method)) or defaults.RATES[(spec.stage, None)]
    return _outside("training.learning_rate", spec.training.learning_rate, allowed, reason)


def _beta(spec: RunSpec) -> Finding | None:
    rule = defaults.BETAS.get(spec.stage)
    return _outside("rl.beta", spec.rl.beta, *rule) if rule else None


def _epochs(spec: RunSpec) -> Finding | None:
    rule = defaults.EPOCHS.get(spec.stage)
    return _outside("training.epochs", spec.training.epochs, *rule) if rule and not spec.training.max_steps else None


def _lora(spec: RunSpec) -> list[Finding | None]:
    if spec.method == "full":
        return []
    rank = _outside("lora.r", spec.lora.r, defaults.RANK, "more rank is more capacity and more memory")
    twice = 2 * spec.lora.r
    alpha = _outside("lora.alpha", spec.lora.alpha, (twice, twice), "standard scaling is alpha = 2 x rank")
    return [rank, alpha]


def effective_batch(spec: RunSpec) -> int:
    """Rows per optimizer step over all ranks."""
    return spec.training.batch_size * spec.training.gradient_accumulation * spec.hardware.processes


def _batch(spec: RunSpec) -> Finding | None:
    if spec.stage != "sft":
        return None
    reason = "an effective batch of 4 to 16 rows works; reach it with gradient accumulation"
    return _outside("training.batch_size", effective_batch(spec), defaults.EFFECTIVE_BATCH, reason)


def _group(spec: RunSpec) -> Finding | None:
    if spec.stage != "grpo":
        return None
    reason = "larger groups give a lower-variance advantage, smaller ones give almost none"
    return _outside("rl.num_generations", spec.rl.num_generations, defaults.GROUP, reason)


def _rows(spec: RunSpec, rows: int | None) -> Finding | None:
    if spec.stage != "sft" or rows is None or rows >= defaults.FEW_ROWS:
        return None
    message = f"{rows} rows; meaningful adaptation wants about {defaults.FEW_ROWS} or more good ones"
    return Finding(code="data.few_rows", level="advice", message=message, where="data.train")
