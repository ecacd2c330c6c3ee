"""Defaults that depend on stage and method, and the ranges outside of which a value gets advice.

Source: the hyperparameter guidance for Muse Glimmer (SFT: LoRA, QLoRA, full; RL: DPO, GRPO).
"""

from __future__ import annotations

from typing import Any

from orchestrator.spec import Method, Stage

Values = dict[str, Any]

_SFT: dict[Method, Values] = {
    "lora": {"training.learning_rate": 2e-4, "training.batch_size": 4, "training.gradient_accumulation": 4},
    "qlora": {"training.learning_rate": 2e-4, "training.batch_size": 1, "training.gradient_accumulation": 16},
    "full": {"training.learning_rate": 1e-5, "training.batch_size": 1, "training.gradient_accumulation": 16},
}
_STAGE: dict[Stage, Values] = {
    "sft": {"training.epochs": 3.0, "rl.beta": 0.0, "rl.loss_type": "none"},
    "dpo": {
        "training.learning_rate": 5e-7,
        "training.epochs": 1.0,
        "training.batch_size": 2,
        "training.gradient_accumulation": 8,
        "rl.beta": 0.1,
        "rl.loss_type": "sigmoid",
    },
    "grpo": {
        "training.learning_rate": 1e-6,
        "training.epochs": 1.0,
        "training.batch_size": 1,
        "training.gradient_accumulation": 8,
        "rl.beta": 0.04,
        "rl.loss_type": "dapo",
    },
}
_BACKEND: dict[Stage, str] = {
    **{"sft": "trl", "dpo": "trl", "grpo": "trl"},
    **{"merge": "hf", "eval": "hf", "verify": "hf"},
}


def for_stage(stage: Stage, method: Method) -> Values:
    """Dotted setting -> default for this stage and method. Other stages train nothing: they carry SFT's, unused."""
    base = _STAGE.get(stage, _STAGE["sft"])
    sft = {} if stage in ("dpo", "grpo") else _SFT[method]
    return {"backend": _BACKEND[stage], "method": method, **sft, **base}


Range = tuple[float, float]

_LORA_RATE: Range = (1e-4, 3e-4)
RATES: dict[tuple[Stage, Method | None], tuple[Range, str]] = {
    ("sft", "lora"): (_LORA_RATE, "adapters learn well at 1e-4 to 3e-4; lower for larger datasets"),
    ("sft", "qlora"): (_LORA_RATE, "adapters learn well at 1e-4 to 3e-4; lower for larger datasets"),
    ("sft", "full"): ((5e-6, 2e-5), "full fine-tuning wants about 1e-5; more overwrites what the model knows"),
    ("dpo", None): ((1e-7, 1e-6), "DPO is far more sensitive to the learning rate than SFT"),
    ("grpo", None): ((1e-6, 3e-6), "GRPO is far more sensitive to the learning rate than SFT"),
}
BETAS: dict[Stage, tuple[Range, str]] = {
    "dpo": ((0.1, 0.5), "higher keeps the policy closer to the reference"),
    "grpo": ((0.01, 0.1), "a KL penalty to the reference keeps the policy from gaming the reward"),
}
EPOCHS: dict[Stage, tuple[Range, str]] = {
    "sft": ((2, 5), "watch for overfitting on small datasets"),
    "dpo": ((1, 2), "preference training overfits fast; watch a held-out evaluation"),
}
RANK: Range = (8, 32)
EFFECTIVE_BATCH: Range = (4, 16)
GROUP: Range = (4, 16)
FEW_ROWS = 500
