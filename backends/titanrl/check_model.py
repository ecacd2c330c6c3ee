"""The model that a run starts from: whether TitanRL has it, and whether its folder is whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.titanrl import generation, models
from backends.titanrl.settings import Titan
from backends.titanrl.told import advice, error
from orchestrator.backend import Job
from orchestrator.findings import Finding

_ASSETS = ("config.json", "tokenizer.json", "tokenizer_config.json")


def findings(titan: Titan, job: Job) -> Iterator[Finding]:
    """Kind, attention heads, files."""
    model = models.telling(job.model)
    yield from _kind(titan, job, models.kind(model))
    yield from _heads(titan, model, bool(job.machine.gpus))
    yield from _assets(model, given=job.model.origin is None)


def _kind(titan: Titan, job: Job, kind: str) -> Iterator[Finding]:
    found = generation.of(titan, job)
    if not kind or found is None:
        return
    if kind not in found.models:
        yield _absent(found, kind)
        return
    if kind == "muse_spark":
        message = (
            f"TitanRL {found.name} has muse_spark by its publishers' word; the module is named here as others are, "
            "and its mixture-of-experts layers need the package dist-moe"
        )
        yield advice("muse_spark", message, "compare `system()` with TorchTitan's own Muse Spark recipe first")
    if titan.flavor is None and (kind != "qwen3" or found.name != generation.RELEASE):
        message = f"the sizes of {kind} can't be read from config.json for TitanRL {found.name}"
        yield error("flavor", message, "name it in TorchTitan's registry: native: {flavor: 30B}")


def _absent(found: generation.Generation, kind: str) -> Finding:
    having = generation.having(kind)
    if having:
        message = f"TitanRL {found.name} has no {kind}; TitanRL {', '.join(having)} has it"
        return error("model", message, f"an environment with that one (--env), and native: {{api: {having[-1]}}}")
    message = f"TitanRL {found.name} is set up here for {_listed(found.models)}, not for {kind}"
    return error("model", message, "--backend trl")


def _heads(titan: Titan, model: Path, gpu: bool) -> Iterator[Finding]:
    heads, tensor = models.heads(model), titan.generator.tensor
    if heads is not None and tensor > heads:
        message = f"native.generator.tensor {tensor} is more than the model's {heads} key-value heads"
        yield error("heads", message, f"native.generator.tensor: {heads}")
    size = models.text(model).get("head_dim")
    if not gpu and isinstance(size, int) and size % 32:
        message = f"the model's attention heads have {size} dimensions; vLLM on a CPU takes multiples of 32"
        yield error("head_dim", message, "a model with another head_dim, a GPU, or --backend trl")


def _assets(model: Path, *, given: bool) -> Iterator[Finding]:
    if not model.is_dir():
        if given and models.kind(model):
            message = (
                f"{model} is no folder here: TitanRL reads weights, tokenizer and template from one, and downloads none"
            )
            yield advice(
                "assets", message, f"hf download {model} --local-dir ./{model.name}, then --model ./{model.name}"
            )
        return
    missing = [name for name in _ASSETS if not (model / name).is_file()]
    if missing:
        message = f"{model} lacks {', '.join(missing)}, which TitanRL reads"
        yield error("assets", message, "carry them over from where the model was made, or download the whole model")
    if not _template(model):
        message = f"{model} has no chat template: prompts would be rendered by guess, and answers come out empty"
        yield error("template", message, "carry chat_template.jinja over from where the model was made")


def _template(model: Path) -> bool:
    if any((model / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return True
    try:
        return '"chat_template"' in (model / "tokenizer_config.json").read_text(encoding="utf-8")
    except OSError:
        return False


def _listed(names: frozenset[str]) -> str:
    return " and ".join(sorted(names))
