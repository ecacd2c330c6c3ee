"""What TitanRL needs beside the common vocabulary: the `native:` keys of a recipe."""

from __future__ import annotations

from collections.abc import Iterator

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

    flavor: str | None = Field(None, description="Name in TorchTitan's registry; unset: read from config.json.")
    trainer: Trainer = Trainer()
    generator: Generator = Generator()
    offpolicy_steps: int = Field(0, ge=0, description="Steps that generation may run ahead; 0 is on-policy.")
    drop_equal_groups: bool = Field(True, description="Drop groups whose rewards are all equal.")
    validation_samples: int = Field(16, ge=0, description="Held-out samples before and after training; 0: none.")
    truncation_reward: float | None = Field(None, description="Fixed reward of a truncated episode; unset: judge it.")
    clip_high: float = Field(0.28, gt=0, description="Upper clip of the DAPO loss; the lower is 0.2.")
    renderer: str = Field("auto", description="Renderer by name; auto: qwen3 where the template is, else default.")
    thinking: bool = Field(False, description="Let the model reason before it answers, where the renderer can.")
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
