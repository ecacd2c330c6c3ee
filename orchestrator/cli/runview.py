"""How runs look: for a person, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator import proof, smoke
from orchestrator.artifacts import total_size
from orchestrator.cli.rowview import headline
from orchestrator.preflight.room import size
from orchestrator.report import evaluation, steps
from orchestrator.report.curves import DRAWN
from orchestrator.store import Run

_MANY = 40
_OURS = ("rewards/", "held_out/", "eval_", "rollout_reward/component/")


def as_dict(run: Run) -> dict[str, Any]:
    """A run's manifest, with its folder, the absolute paths of its artifacts, and what a smoke run proved."""
    dump = run.manifest.model_dump(mode="json", by_alias=True)
    outputs = {a.kind: str(run.path / a.path) for a in run.manifest.artifacts}
    proved = {"smoke": proof.read(run).model_dump(mode="json")} if proof.is_smoke(run) else {}
    found = evaluation.read(run) if run.manifest.spec.stage == "eval" else None
    judged: dict[str, Any] = {"evaluation": found.model_dump(mode="json")} if found else {}
    looks = steps.looks(steps.read(run.path)) if run.manifest.spec.stage == "grpo" else []
    judged |= {"held_out": [{"step": s, **dict(zip(steps.WATCHED, v, strict=True))} for s, v in looks]} if looks else {}
    return {**dump, "folder": str(run.path), "outputs": outputs, **proved, **judged}


def made(run: Run) -> str:
    """What a finished run left, in a few lines."""
    m = run.manifest
    seconds = sum((a.ended or a.started) - a.started for a in m.attempts)
    lines = [f"{m.spec.stage} {m.id}: {m.state} in {seconds:.0f} s  {headline(m.metrics)}".rstrip()]
    lines += [f"  {a.kind:<9}{run.path / a.path}  ({size(total_size(a.files))})" for a in m.artifacts]
    return "\n".join([*lines, *handed_over(run), *proved(run), *comparison(run)])


def handed_over(run: Run) -> list[str]:
    """Each model that was taken up, compared with what it answered where it was made."""
    off = [] if run.manifest.spec.proof else ["  unproved its model was neither measured nor compared: --no-proof"]
    return off + [
        f"  proved   {h['place']}: log-probabilities as where it was made, within {h['difference']:.2g} nats "
        f"(allowed {h['tolerance']:.2g}), {h['mean']:.2g} on average (allowed {h['mean_tolerance']:.2g})"
        for h in run.manifest.handoffs
    ]


def proved(run: Run) -> list[str]:
    """What a smoke run showed; nothing for any other run."""
    if not proof.is_smoke(run):
        return []
    found = proof.read(run)
    facts = [f"{found.steps} optimizer steps done"]
    if found.checkpoint:
        facts.append(f"checkpoint written at step {smoke.STEPS} ({size(found.bytes)})")
    if found.peak_memory is not None:
        facts.append(f"peak memory {size(found.peak_memory)}")
    if found.seconds is not None:
        facts.append(f"{found.seconds:.3g} s a step")
    if found.unchanged:
        facts.append("nothing learned: no reward differed within a group")
    return [f"  smoke    {', '.join(facts)}"]


def gates(run: Run) -> Sequence[evaluation.Gate]:
    """Every gate of an eval."""
    found = evaluation.read(run) if run.manifest.spec.stage == "eval" else None
    return found.gates if found else ()


def comparison(run: Run) -> list[str]:
    """The table of an eval, as the report has it."""
    artifact = run.manifest.artifact("report")
    summary = run.path / artifact.path / "summary.md" if artifact else None
    return ["", *summary.read_text(encoding="utf-8").splitlines()] if summary and summary.exists() else []


def details(run: Run) -> list[str]:
    """Everything about one run that fits a screen."""
    m = run.manifest
    lines = [
        f"{m.id}  {m.state}",
        f"  stage        {m.spec.stage} {m.spec.method if m.spec.trains else ''}".rstrip(),
        f"  backend      {m.spec.backend}  ({m.provenance.get('environment', {}).get('key', '')})",
        f"  folder       {run.path}",
        f"  from         {', '.join(p.run for p in m.parents) or m.start.path}",
        *(f"  data         {each.folder}  (manifest {each.digest[:23]})" for each in m.data),
        f"  fingerprint  {m.fingerprint}",
        f"  revision     {m.provenance.get('git') or m.provenance.get('post_train')}",
    ]
    lines += handed_over(run)
    for attempt in m.attempts:
        how = "resumed" if attempt.resumed else "started"
        lines.append(f"  attempt {attempt.number}    {how}, {attempt.state}, exit code {attempt.exit_code}")
    lines += [f"  {a.kind:<12} {run.path / a.path}  {a.digest[:16]}" for a in m.artifacts]
    lines += _metrics(m.metrics, engine=m.spec.trains)
    lines += [f"  warning      {text}" for text in m.warnings]
    if m.failure:
        lines += [
            f"  failure      [{m.failure.code}] {m.failure.message}",
            *([f"  fix          {m.failure.fix}"] if m.failure.fix else []),
        ]
    return lines + proved(run) + watched(run) + comparison(run)


def watched(run: Run) -> list[str]:
    """Reward beside held-out quality, length and KL, at each step where held-out items were answered."""
    found = steps.looks(steps.read(run.path))
    if not found:
        return []
    head = f"\n  {'step':>6}" + "".join(f"{name:>12}" for name in steps.WATCHED)
    rows = [f"  {step:>6}" + "".join(f"{_figure(value):>12}" for value in values) for step, values in found]
    return [head, *rows]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _metrics(every: Mapping[str, Any], *, engine: bool) -> list[str]:
    """Numbers of the run, without those of an engine's inner parts where there are many: timings, queues, buffers."""
    told = sorted(every.items())
    many = engine and len(told) > _MANY
    shown = [(k, v) for k, v in told if not many or "/" not in k or k in DRAWN or k.startswith(_OURS)]
    lines = [f"  {k:<12} {v:.6g}" if isinstance(v, float) else f"  {k:<12} {v}" for k, v in shown]
    hidden = len(told) - len(shown)
    return [*lines, *([f"  {hidden} further numbers of the engine: --json"] if hidden else [])]
