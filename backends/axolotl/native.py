"""The YAML file, the command that trains with it, and the artifact it promises. Pure."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import yaml

from backends.axolotl.choices import Choices, choose
from backends.axolotl.config import configuration
from orchestrator.backend import Expected, Job, LaunchSpec, Native, NativeFile
from orchestrator.spec import RunSpec

FILE = "native/sft.yml"
_HEADER = """\
# Axolotl configuration of {name}. With Axolotl's environment active:
#   {variables} axolotl {command}
# The last plugin reports to post-train; where it can't be imported, Axolotl says so and trains the same.
"""


def materialize(spec: RunSpec, job: Job) -> Native:
    """Everything that Axolotl needs for a run."""
    chosen = choose(spec, job)
    environment = _environment(spec, job, chosen)
    command = arguments(job.run_dir / FILE, spec.hardware.processes)
    kind = "model" if spec.method == "full" else "adapter"
    return Native(
        files=(NativeFile(path=FILE, content=_header(spec, environment, command) + _yaml(spec, job, chosen)),),
        launch=LaunchSpec(module="axolotl.cli.main", args=command, env=environment),
        expected=(Expected(kind="model" if kind == "model" else "adapter", path=f"artifacts/{kind}"),),
    )


def arguments(file: Path, processes: int) -> tuple[str, ...]:
    """`train FILE --launcher ...`. What follows `--` is torchrun's: before it, only one worker would start."""
    if processes == 1:
        return ("train", str(file), "--launcher", "python")
    ranks = ("--standalone", "--nnodes=1", f"--nproc_per_node={processes}")
    return ("train", str(file), "--launcher", "torchrun", "--", *ranks)


def _yaml(spec: RunSpec, job: Job, chosen: Choices) -> str:
    written: dict[str, Any] = configuration(spec, job, chosen)
    return yaml.dump(written, Dumper=_Plain, sort_keys=False, allow_unicode=True)


class _Plain(yaml.SafeDumper):
    """Writes a list that stands twice in full both times."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _header(spec: RunSpec, environment: dict[str, str], command: tuple[str, ...]) -> str:
    """By hand it is run from where the rows lie, so that paths of images in them hold."""
    variables = " ".join(f"{key}={shlex.quote(value)}" for key, value in environment.items())
    rows = spec.data.train if spec.native.get("processor_type") else None
    place = f"cd {shlex.quote(str(Path(rows).parent))} && " if rows else ""
    return _HEADER.format(name=spec.name, variables=place + variables, command=shlex.join(command))


def _environment(spec: RunSpec, job: Job, chosen: Choices) -> dict[str, str]:
    threads = spec.hardware.threads or max(1, job.machine.cores // spec.hardware.processes)
    local = Path(job.model.path).is_absolute() and not any(key in spec.native for key in _HUB)
    wandb = spec.tracking.wandb != "off"
    return {
        "OMP_NUM_THREADS": str(threads),
        "POST_TRAIN_RANKS": str(spec.hardware.processes),
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TQDM_DISABLE": "1",
        "AXOLOTL_DO_NOT_TRACK": "1",
        # without it the engine asks the hub who is logged in, even for a model in a folder
        **({"HF_HUB_OFFLINE": "1"} if local else {}),
        # without it two ranks on a CPU are two trainings that write into one folder
        **({} if chosen.gpu else {"ACCELERATE_USE_CPU": "true"}),
        # without it ranks call their device cpu:0, and no optimizer state can be read back onto that: no run resumes
        **({} if chosen.gpu else {"ACCELERATE_TORCH_DEVICE": "cpu"}),
        **({"WANDB_DIR": str(job.run_dir)} if wandb else {}),
    }


_HUB = ("datasets", "pretraining_dataset", "test_datasets")
"""Native keys that may name something on the hub."""
