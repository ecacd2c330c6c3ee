"""What keys may hold that Axolotl's schema takes as any text, and that it or a library below then stumbles over.

Part of the dump: runs in the engine's environment, and takes names from where the engine looks them up.
"""

from __future__ import annotations

import ast
import pkgutil
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
_NOT_SFT = ("DPODataset", "KTODataset", "StepwiseSupervisedDataset")
_MODELS = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")
ROWS = ("datasets", "test_datasets")


def choices() -> dict[str, list[str]]:
    """Names that `optimizer` and `lr_scheduler` may have, and the plugins that come with Axolotl."""
    from axolotl.utils.schemas.enums import CustomSupportedOptimizers
    from transformers.trainer_utils import SchedulerType
    from transformers.training_args import OptimizerNames

    optimizers = [str(name.value) for kind in (OptimizerNames, CustomSupportedOptimizers) for name in kind]
    schedulers = [str(name.value) for name in SchedulerType]
    return {
        "optimizer": sorted(set(optimizers)),
        "lr_scheduler": [*schedulers, "one_cycle", "rex"],
        "plugins": sorted(_plugins()),
    }


def top() -> dict[str, Schema]:
    """Top-level key -> what its text may be."""
    from accelerate.utils import DynamoBackend
    from axolotl.utils.schemas.enums import CANONICAL_ATTN_IMPLS
    from axolotl.utils.schemas.validation import SUPPORTED_METRICS
    from transformers.integrations.integration_utils import WandbLogModel
    from transformers.trainer_utils import FSDPOption, IntervalStrategy, SaveStrategy

    evaluation = _one_of(_values(IntervalStrategy))
    return {
        "attn_implementation": _one_of(sorted(CANONICAL_ATTN_IMPLS), pattern="/"),
        "comet_mode": _one_of(["get", "create", "get_or_create"]),
        "eval_causal_lm_metrics": _one_of(sorted(SUPPORTED_METRICS)),
        "eval_strategy": evaluation,
        "evaluation_strategy": evaluation,
        "experts_implementation": _one_of(_experts(), pattern="^deep_ep_"),
        "fsdp": _one_of(_values(FSDPOption)),
        "lr_scheduler": _one_of(choices()["lr_scheduler"]),
        "peft_init_lora_weights": _one_of(_initialisations(), pattern=r"^pissa_niter_\d+$"),
        "processor_type": _one_of(_classes("Processor")),
        "sample_packing_mp_start_method": _one_of(["fork", "spawn", "forkserver"]),
        "save_strategy": _one_of(_values(SaveStrategy)),
        "tokenizer_type": _one_of(_classes("Tokenizer", "TokenizerFast")),
        "torch_compile_backend": _one_of([name.lower() for name in _values(DynamoBackend)]),
        "type_of_model": _one_of(["MambaLMHeadModel", *_classes(*_MODELS), *_auto()]),
        "wandb_log_model": _one_of(_values(WandbLogModel)),
        "wandb_watch": _one_of(["gradients", "parameters", "all", "false"]),
    }


def below() -> dict[str, dict[str, Schema]]:
    """Definition -> its key -> what its text may be."""
    from axolotl.utils.data.wrappers import DATASET_HANDLERS
    from datasets.packaged_modules import _PACKAGED_DATASETS_MODULES

    strategies = {*_strategies(), *DATASET_HANDLERS}
    styled = rf"^({'|'.join(sorted(strategies))}):|\."
    return {
        "FSDPConfig": {"mixed_precision_policy": _one_of(["fp16", "bf16", "fp32"])},
        "SFTDataset": {
            "chat_template": {"type": "string", "pattern": "^tokenizer_default_fallback_"},
            "ds_type": _one_of(sorted(_PACKAGED_DATASETS_MODULES)),
            "type": _one_of(sorted(strategies), pattern=styled),
        },
    }


def rows(schema: Schema) -> Schema:
    """A list of datasets without the kinds that only preference optimisation and reward models read."""
    if "$ref" in schema or "anyOf" not in schema:
        return {**schema, "items": rows(schema["items"])} if "items" in schema else schema
    kept = [one for one in schema["anyOf"] if one.get("$ref", "").rpartition("/")[2] not in _NOT_SFT]
    return {**schema, "anyOf": [rows(one) for one in kept]}


def narrow(schema: Schema, text: Schema) -> Schema:
    """A schema in which text is what `text` says, wherever any would have done."""
    if schema == {"type": "string"}:
        return text
    if "anyOf" in schema:
        return {**schema, "anyOf": [narrow(branch, text) for branch in schema["anyOf"]]}
    return {**schema, "items": narrow(schema["items"], text)} if "items" in schema else schema


def _one_of(names: list[str], pattern: str | None = None) -> Schema:
    named: Schema = {"enum": names, "type": "string"}
    return {"anyOf": [named, {"pattern": pattern, "type": "string"}]} if pattern else named


def _values(kind: Any) -> list[str]:
    return [str(member.value) for member in kind]


def _experts() -> list[str]:
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

    return sorted({"eager", "scattermoe", "sonicmoe", *ALL_EXPERTS_FUNCTIONS.keys()})


def _initialisations() -> list[str]:
    import peft

    kinds = typing.get_args(typing.get_type_hints(peft.LoraConfig)["init_lora_weights"])
    return [name for kind in kinds for name in typing.get_args(kind) if "[" not in name]


def _classes(*endings: str) -> list[str]:
    import transformers

    return sorted(name for name in dir(transformers) if name.endswith(endings))


def _auto() -> list[str]:
    import transformers

    return sorted(name for name in dir(transformers) if name.startswith("AutoModel"))


def _plugins() -> Iterator[str]:
    """Read, not imported: a plugin may want libraries of its own."""
    import axolotl

    for package in sorted(Path(axolotl.__path__[0], "integrations").iterdir()):
        for file in sorted(package.rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
            yield from (f"axolotl.integrations.{package.name}.{name}" for name in classes if name.endswith("Plugin"))


def _strategies() -> list[str]:
    import axolotl.prompt_strategies

    helpers = ("base", "jinja_template_analyzer", "user_defined", "bradley_terry", "dpo", "ebft", "kto", "orpo")
    found = [module.name for module in pkgutil.iter_modules(axolotl.prompt_strategies.__path__)]
    return [name for name in found if name not in helpers and not name.startswith("_")]
