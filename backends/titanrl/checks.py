"""Everything this engine has to say about a spec before it is run."""

from __future__ import annotations

from collections.abc import Iterator

from backends.titanrl import check_model, check_room, generation, settings, values
from backends.titanrl.settings import Titan
from backends.titanrl.told import advice, error
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """All problems at once; the native keys first, without which nothing else can be read."""
    wrong = list(settings.faults(spec))
    if wrong:
        return wrong
    titan = settings.read(spec)
    return [
        *_vocabulary(spec),
        *_groups(spec),
        *_loop(spec, titan),
        *_generation(titan, job),
        *check_model.findings(titan, job),
        *check_room.findings(spec, titan, job),
    ]


def _vocabulary(spec: RunSpec) -> Iterator[Finding]:
    if not spec.task.name:
        yield error("task", "TitanRL optimises a task, and none is named", "--task qa, or a file of your own")
    if spec.training.max_steps is None:
        yield advice("steps", "a task has no end: 10 steps are made", "training.max_steps: 100")
    if spec.rl.beta:
        yield advice("beta", f"rl.beta {spec.rl.beta} has no effect: TitanRL has no KL term", "rl.beta: 0")
    if spec.rl.loss_type not in ("dapo", "grpo"):
        yield error("loss_type", f"rl.loss_type {spec.rl.loss_type!r} is not TitanRL's", "rl.loss_type: dapo or grpo")
    if spec.hardware.processes > 1:
        message = "hardware.processes says nothing to TitanRL, whose trainer and generators have ranks of their own"
        yield error("processes", message, "native: {trainer: {shard: 2}, generator: {tensor: 1}}")


def _groups(spec: RunSpec) -> Iterator[Finding]:
    training, group = spec.training, spec.rl.num_generations
    completions = training.batch_size * training.gradient_accumulation
    if completions % group:
        yield error(
            "groups",
            f"a step takes {completions} completions (training.batch_size x gradient_accumulation), no multiple of "
            f"rl.num_generations {group}",
            f"training.gradient_accumulation: {group}",
        )


def _generation(titan: Titan, job: Job) -> Iterator[Finding]:
    found = generation.of(titan, job)
    if found is None:
        version = (job.packages or {}).get("torchtitan")
        known = ", ".join(one.name for one in generation.GENERATIONS)
        message = f"torchtitan {version} in the environment is none of the generations that are known here: {known}"
        yield error(
            "generation", message, "drop --env, so that the locked 0.3.0 runs; or name it: native: {api: 2026-10}"
        )
    elif found.name != generation.RELEASE:
        message = f"the config is that of TitanRL {found.name}: written from its public source, and never run here"
        yield advice("generation", message, "read it before hours go into it, and begin with --smoke")
        if not job.machine.gpus:
            message = f"without a GPU only TitanRL {generation.RELEASE} runs: what replaces CUDA knows no other"
            yield error("generation_cpu", message, "drop native.api")


def _loop(spec: RunSpec, titan: Titan) -> Iterator[Finding]:
    """Several turns in one context, and all episodes at once."""
    turns, tokens, context = _turns(spec), spec.rl.max_completion_length, spec.training.max_length
    if turns > 1 and turns * tokens >= context:
        message = (
            f"{turns} turns of {tokens} tokens fill training.max_length {context} without prompt and observations: "
            "such episodes are cut, and a sample longer than the context is dropped with only a warning"
        )
        yield advice("turns", message, f"raise them together: training.max_length: {2 * turns * tokens}")
    if titan.truncation_reward is not None and turns > 1:
        message = "native.truncation_reward also replaces the rewards of episodes that ran out of turns"
        yield advice("truncation_reward", message, "leave it unset, and let the task judge what was reached")
    wanted = max((titan.offpolicy_steps + 1) * values.prompts(spec) * spec.rl.num_generations, titan.validation_samples)
    if titan.sessions is not None and titan.sessions < wanted:
        message = (
            f"native.sessions {titan.sessions}: up to {wanted} episodes are open at once, and the others would fail"
        )
        yield error("sessions", message, f"let the server admit {wanted}, or lower offpolicy_steps or the groups")


def _turns(spec: RunSpec) -> int:
    """Turns of an episode, as far as options and shipped defaults tell: a plan runs no task."""
    said = spec.task.options.get("max_turns") or spec.task.options.get("turns")
    shipped = {"data_analyst": 6, "search_r1": 4, "alphabet_sort": 3}
    return said if isinstance(said, int) else shipped.get(spec.task.name or "", 1)
