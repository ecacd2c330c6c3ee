"""The only ways in which an imported configuration may differ from the original once Axolotl has read both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Config = dict[str, Any]
Allowed = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Difference:
    """A key with another value before and after; None stands for absent."""

    key: str
    before: Any
    after: Any


def _falsy(before: Any, after: Any) -> bool:
    return not before and not after


def _silent(value: Any) -> Allowed:
    return lambda before, after: before is None and after == value


def _anything(_: Any, __: Any) -> bool:
    return True


def _nothing(_: Any, __: Any) -> bool:
    return False


def _dropped(_: Any, after: Any) -> bool:
    return after is None


def _added(before: Any, _: Any) -> bool:
    return before is None


REASONS: dict[str, tuple[Allowed, str]] = {
    "output_dir": (_anything, "the run folder decides it"),
    "dataset_prepared_path": (_anything, "the run folder decides it"),
    "plugins": (lambda before, after: after[:-1] == (before or []), "ours is appended"),
    "bf16": (lambda before, after: _falsy(before, after) or (before, after) == ("auto", True), "auto, by the hardware"),
    "fp16": (_falsy, "only its truth is asked"),
    "sample_packing": (_falsy, "only its truth is asked"),
    "gradient_checkpointing": (_falsy, "only its truth is asked"),
    "fsdp_config.activation_checkpointing": (_falsy, "only its truth is asked"),
    "logging_steps": (_silent(1), "silent: our cadence; it changes the log alone"),
    "save_strategy": (_silent("epoch"), "silent: what Axolotl does then, written out"),
    "save_total_limit": (_silent(4), "silent: what Axolotl does then, written out"),
    "seed": (_silent(42), "silent: transformers' own seed, so that the run can be repeated"),
    "lr_scheduler": (_silent("cosine"), "null: what Axolotl does then, written out"),
    "optimizer": (_silent("adamw_torch_fused"), "null: no optimizer at all, so Axolotl's default"),
    "warmup_ratio": (_dropped, "warmup_steps goes before it"),
    "max_grad_norm": (lambda before, after: before == 1.0 and after is None, "transformers' own default"),
    "adam_beta1": (lambda before, after: (before, after) in ((0.9, None), (None, 0.9)), "transformers' own default"),
    "adam_beta2": (
        lambda before, after: (before, after) in ((0.999, None), (None, 0.999)),
        "transformers' own default",
    ),
    "use_wandb": (lambda before, after: not before and after is True, "switched on by wandb_project, as in Axolotl"),
    "wandb_mode": (_silent("online"), "wandb's own default"),
    "wandb_name": (_added, "the run's name"),
    "lora_dropout": (_falsy, "null without an adapter"),
    "lora_mlp_kernel": (_falsy, "off, said so that Axolotl leaves it off"),
    "use_trackio": (lambda before, after: not before and after is True, "switched on by its project, as in Axolotl"),
    "fsdp_config.final_state_dict_type": (_silent("FULL_STATE_DICT"), "silent: a run ends in a whole model"),
}
"""Key -> the values that it may have before and after, and why."""


def differences(before: Config, after: Config, at: str = "") -> Iterable[Difference]:
    """Every key that is not the same, dotted."""
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key), after.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from differences(one, other, f"{at}{key}.")
        elif one != other:
            yield Difference(f"{at}{key}", one, other)


def unexplained(before: Config, after: Config, left_out: Iterable[str]) -> list[Difference]:
    """Differences that are neither allowed nor of a key that the import named as left out."""
    named = set(left_out)
    return [one for one in differences(before, after) if one.key not in named and not _allowed(one)]


def _allowed(one: Difference) -> bool:
    allowed, _ = REASONS.get(one.key, (_nothing, ""))
    return allowed(one.before, one.after)
