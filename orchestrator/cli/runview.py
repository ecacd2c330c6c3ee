"""How runs look: for a person, and as JSON."""

from __future__ import annotations

from typing import Any

from orchestrator.artifacts import total_size
from orchestrator.cli.rowview import headline
from orchestrator.preflight.room import size
from orchestrator.store import Run


def as_dict(run: Run) -> dict[str, Any]:
    """A run's manifest, with its folder and the absolute paths of its artifacts."""
    dump = run.manifest.model_dump(mode="json", by_alias=True)
    outputs = {a.kind: str(run.path / a.path) for a in run.manifest.artifacts}
    return {**dump, "folder": str(run.path), "outputs": outputs}


def made(run: Run) -> str:
    """What a finished run left, in a few lines."""
    m = run.manifest
    seconds = sum((a.ended or a.started) - a.started for a in m.attempts)
    lines = [f"{m.spec.stage} {m.id}: {m.state} in {seconds:.0f} s  {headline(m.metrics)}".rstrip()]
    lines += [f"  {a.kind:<9}{run.path / a.path}  ({size(total_size(a.files))})" for a in m.artifacts]
    return "\n".join([*lines, *comparison(run)])


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
        f"  fingerprint  {m.fingerprint}",
        f"  revision     {m.provenance.get('git') or m.provenance.get('post_train')}",
    ]
    for attempt in m.attempts:
        how = "resumed" if attempt.resumed else "started"
        lines.append(f"  attempt {attempt.number}    {how}, {attempt.state}, exit code {attempt.exit_code}")
    lines += [f"  {a.kind:<12} {run.path / a.path}  {a.digest[:16]}" for a in m.artifacts]
    lines += [f"  {k:<12} {v:.6g}" if isinstance(v, float) else f"  {k:<12} {v}" for k, v in sorted(m.metrics.items())]
    lines += [f"  warning      {text}" for text in m.warnings]
    if m.failure:
        lines += [
            f"  failure      [{m.failure.code}] {m.failure.message}",
            *([f"  fix          {m.failure.fix}"] if m.failure.fix else []),
        ]
    return lines + comparison(run)
