"""What TitanRL needs beside the common vocabulary: the `native:` keys of a recipe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, ValidationError

from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec, Setting


class Trainer(Setting):
    """How the policy is spread over the trainer's ranks, one rank a GPU."""

    replicate: int = Field(1, gt=0, description="Copies of the sharded model (HSDP).")
    shard: int = Field(1, gt=0, description="Ways that FSDP2 shards parameters.")
    tensor: int = Field(1, gt=0, description="Tensor parallel degree.")
    expert: int = Field(1, gt=0, description="Expert parallel degree; lies within the others.")

    @property
    def ranks(self) -> int:
        """Processes of the trainer."""
        return self.replicate * self.shard * self.tensor


class Generator(Setting):
    """How the vLLM engines that write the completions are spread."""

    count: int = Field(1, gt=0, description="Engines.")
    data: int = Field(1, gt=0, description="Data parallel degree of each.")
    tensor: int = Field(1, gt=0, description="Tensor parallel degree of each.")
    expert: int = Field(1, gt=0, description="Expert parallel degree; lies within the others.")
    memory: float = Field(0.9, gt=0, le=1, description="Share of a GPU's memory that vLLM may take.")
    dtype: str = Field("auto", description="Dtype of the generator's weights; auto follows training.precision.")

    @property
    def ranks(self) -> int:
        """Processes of all engines."""
        return self.count * self.data * self.tensor


class Titan(Setting):
    """The `native:` section."""

    api: Literal["auto", "0.3.0", "2026-09", "2026-10"] = Field(
        "auto", description="Generation of TitanRL's API; auto: the one in the environment."
    )
    flavor: str | None = Field(None, description="Name in TorchTitan's registry; unset: read from config.json.")
    trainer: Trainer = Trainer()
    generator: Generator = Generator()
    offpolicy_steps: int = Field(0, ge=0, description="Steps that generation may run ahead; 0 is on-policy.")
    drop_equal_groups: bool = Field(True, description="Drop groups whose rewards are all equal.")
    validation_samples: int = Field(16, ge=0, description="Held-out samples before and after training; 0: none.")
    truncation_reward: float | None = Field(None, description="Fixed reward of a truncated episode; unset: judge it.")
    clip_high: float = Field(0.28, gt=0, description="Upper clip of the DAPO loss; the lower is 0.2.")
    moments: Literal["float32", "bfloat16"] = Field("float32", description="Dtype of Adam's moments.")
    normalize_advantages: bool = Field(False, description="Divide advantages by the group's standard deviation.")
    step_timeout: float = Field(1800.0, gt=0, description="Seconds that an environment may take for one turn.")
    sessions: int | None = Field(None, gt=0, description="Sessions that the environment's server admits at once.")
    renderer: str = Field("auto", description="Renderer by name; auto: the model's own where there is one.")
    thinking: bool = Field(False, description="Let the model reason before it answers, where the renderer can.")
    reasoning_strength: str | None = Field(None, description="Muse Glimmer: low, medium, high; unset: its template's.")
    current_date: str | None = Field(None, description="Muse Glimmer: date of its system block; unset: each day's own.")
    retain_reasoning: bool = Field(True, description="Muse Glimmer: earlier turns keep their reasoning.")
    answer_from_reasoning: bool = Field(
        False, description="Muse Glimmer: the last line thought is the answer if none is."
    )
    stall_minutes: float = Field(30.0, gt=0, description="A run without a finished step for so long is ended.")


def read(spec: RunSpec) -> Titan:
    """The section; pydantic's error where something is wrong, which `faults` tells before."""
    return Titan.model_validate(spec.native)


def faults(spec: RunSpec) -> Iterator[Finding]:
    """What is wrong with the section, key by key."""
    try:
        read(spec)
    except ValidationError as error:
        for one in error.errors():
            key = ".".join(map(str, one["loc"]))
            known = nearest(key, Titan.model_fields) if one["type"] == "extra_forbidden" else ""
            message = f"native.{key}: {one['msg']}{known}"
            yield Finding(code="titanrl.native", level="error", message=message, fix="docs/titanrl.md lists the keys")
