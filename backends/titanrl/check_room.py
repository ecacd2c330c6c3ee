"""GPUs and their memory: how trainer and generators share them, and whether it can hold.

A trainer rank holds, for each parameter of its shard, an fp32 weight, an fp32 gradient, two moments, and the bf16 copy
that is pushed to the generators: 18 bytes, or 14 with moments in bf16. What comes on top was fitted to two public runs
of Muse Glimmer 30B on six trainer GPUs: 10 GiB at 4,096 tokens of context, 22 GiB at 12,288.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.titanrl import models
from backends.titanrl.settings import Titan
from backends.titanrl.told import advice, error
from backends.titanrl.values import GLIMMER
from orchestrator import sizing
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

GIB = 2**30
LARGE = 20e9
"""Parameters from which on recomputation and the whole of a generator's memory are no matter of taste."""
_STATE = {"float32": 18, "bfloat16": 14}


def findings(spec: RunSpec, titan: Titan, job: Job) -> Iterator[Finding]:
    """Ranks against GPUs, then bytes against memory."""
    yield from _split(titan, len(job.machine.gpus))
    yield from _experts(titan)
    model = models.telling(job.model)
    size = sizing.estimate(spec, model, bool(job.machine.gpus))
    if size is None:
        return
    if size.parameters >= LARGE and spec.training.gradient_checkpointing is False:
        message = "without recomputed activations the second step runs out of memory, when Adam's moments are there"
        yield error("checkpointing", message, "training.gradient_checkpointing: true")
    if job.machine.gpus:
        memory = min(gpu.memory for gpu in job.machine.gpus)
        yield from _trainer(spec, titan, model, size.parameters, memory)
        yield from _generator(titan, size.parameters, memory)


def _split(titan: Titan, there: int) -> Iterator[Finding]:
    """One rank a GPU, trainer and engines apart."""
    trainer, engines = titan.trainer.ranks, titan.generator.ranks
    if there and trainer + engines > there:
        message = f"trainer and generators take {trainer} + {engines} GPUs; here are {there}"
        yield error("gpus", message, "lower native.trainer and native.generator")
    if there and trainer + engines < there:
        message = f"trainer and generators take {trainer} + {engines} of {there} GPUs; the others stay idle"
        yield advice("idle", message, "raise native.trainer.shard or native.generator.count")


def _experts(titan: Titan) -> Iterator[Finding]:
    """Experts are spread over ranks that there are."""
    trainer, generator = titan.trainer, titan.generator
    for key, expert, ranks in (
        ("trainer", trainer.expert, trainer.shard * trainer.tensor),
        ("generator", generator.expert, generator.data * generator.tensor),
    ):
        if ranks % expert:
            message = f"native.{key}.expert {expert} does not divide the {ranks} ranks that experts are spread over"
            yield error("expert", message, f"native.{key}.expert: a divisor of {ranks}")


def _trainer(spec: RunSpec, titan: Titan, model: Path, parameters: int, memory: int) -> Iterator[Finding]:
    state = parameters * _STATE[titan.moments] / (titan.trainer.shard * titan.trainer.tensor)
    wanted = state + (4 + 1.5 * spec.training.max_length / 1024) * GIB
    fix = "native.moments: bfloat16, " if titan.moments == "float32" else ""
    told = f"a trainer GPU holds {state / GIB:.0f} GiB of weights, gradients, moments and the copy for the generators"
    if state > memory:
        yield error("memory", f"{told}; it has {memory / GIB:.0f} GiB", f"{fix}or more native.trainer.shard")
    elif wanted > memory and models.kind(model) == GLIMMER:
        message = f"{told}, and about {wanted / GIB:.0f} GiB in all at this context; it has {memory / GIB:.0f} GiB"
        yield advice("memory", message, f"{fix}more native.trainer.shard, or a shorter training.max_length")


def _generator(titan: Titan, parameters: int, memory: int) -> Iterator[Finding]:
    weights = 2 * parameters / max(titan.generator.tensor, titan.generator.expert)
    share = titan.generator.memory * memory
    if weights >= share:
        message = (
            f"the weights of a generator rank take {weights / GIB:.0f} GiB of the {share / GIB:.0f} that it may use"
        )
        yield error("generator_memory", message, "raise native.generator.tensor or native.generator.memory")
    elif parameters >= LARGE and titan.generator.memory < 0.9:
        message = (
            f"native.generator.memory {titan.generator.memory:g}: a public run of a 30B model at 0.6 queued requests "
            "until NCCL's watchdog ended it; those at 0.9 did not"
        )
        yield advice("generator_memory", message, "native.generator.memory: 0.9")
