"""How a plan looks: for a person, and as JSON."""

from __future__ import annotations

import json
from functools import reduce
from operator import getitem
from typing import Any

import click
import yaml

from orchestrator import smoke
from orchestrator.plan import RunPlan
from orchestrator.preflight.room import size
from orchestrator.vocabulary import relevant


def show(plans: list[RunPlan], as_json: bool) -> None:
    """Print what would run."""
    if as_json:
        click.echo(json.dumps([as_dict(plan) for plan in plans], indent=2))
        return
    for plan in plans:
        click.echo("\n".join(lines(plan)))
    wrong = sum(f.level == "error" for plan in plans for f in plan.findings)
    many = f"{wrong} problems refuse" if wrong > 1 else "1 problem refuses"
    click.echo(f"{many} this; nothing was started" if wrong else "nothing was started")


def as_dict(plan: RunPlan) -> dict[str, Any]:
    """A plan with its derived command."""
    dump = plan.model_dump(mode="json", by_alias=True)
    return {**dump, "argv": list(plan.argv), "environment": plan.environment, "command": plan.command}


def lines(plan: RunPlan) -> list[str]:
    """Facts, native files, command and findings."""
    title = f"{plan.spec.stage}  {plan.run_id}" + (f"  (reused: {plan.reuses})" if plan.reuses else "")
    facts = {
        "folder": str(plan.run_dir),
        "from": ", ".join(p.run for p in plan.parents) or plan.model.path or "nothing",
        "compares": ", ".join(m.label for m in plan.compare),
        "backend": f"{plan.spec.backend}, {plan.env.python}" + ("" if plan.env.ready else " (not installed yet)"),
        "smoke": _bounds(plan),
        "fingerprint": plan.fingerprint[:16],
        "at least": _estimate(plan),
        "leaves": ", ".join(f"{e.kind} in {e.path}" for e in plan.native.expected) if plan.native else "",
    }
    shown = ["", click.style(title, bold=True), *(f"  {k:<12}{v}" for k, v in facts.items() if v)]
    for file in plan.native.files if plan.native else ():
        shown += [click.style(f"  --- {file.path}", dim=True), *(f"  {line}" for line in file.content.splitlines())]
    if plan.native:
        shown += [click.style("  --- command", dim=True), f"  {plan.command}"]
    return shown + [line for finding in plan.findings for line in _finding(finding.model_dump())]


def _bounds(plan: RunPlan) -> str:
    """What `--smoke` decided, setting by setting."""
    names = [name for name, origin in plan.origins.items() if origin == smoke.FLAG and name not in ("name", "accept")]
    tree = plan.spec.model_dump(by_alias=True)
    return ", ".join(f"{name} {_written(reduce(getitem, name.split('.'), tree))}" for name in names)


def _written(value: Any) -> str:
    return "unset" if value is None else str(value)


def _estimate(plan: RunPlan) -> str:
    e = plan.estimate
    if e is None:
        return "memory and disk unknown: the weights are not on this machine, and the model's name tells no size"
    known = " by its name" if e.named else ""
    count = f"{e.parameters / 1e9:,.1f}B" if e.parameters >= 10**9 else f"{e.parameters / 1e6:,.1f}M"
    return f"{count} parameters{known}, {size(e.memory)} memory a rank, {size(e.disk)} disk"


def _finding(finding: dict[str, Any]) -> list[str]:
    level = "accepted" if finding["accepted"] else finding["level"]
    where = f"{finding['where']}: " if finding["where"] else ""
    fix = [f"      fix: {finding['fix']}"] if finding["fix"] and level in ("error", "advice") else []
    colour = {"error": "red", "advice": "yellow"}.get(level)
    return [click.style(f"  {level} [{finding['code']}] {where}{finding['message']}", fg=colour), *fix]


def resolved(plan_spec: Any, origins: dict[str, str]) -> str:
    """A spec as YAML, each value with where it came from."""
    tree = relevant(plan_spec.model_dump(mode="json", by_alias=True), plan_spec.stage, plan_spec.method)
    return "\n".join(_yaml(tree, origins, ""))


def _yaml(tree: dict[str, Any], origins: dict[str, str], prefix: str) -> list[str]:
    lines: list[str] = []
    depth = "  " * prefix.count(".")
    for key, value in tree.items():
        dotted = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            lines += [f"{depth}{key}:", *_yaml(value, origins, f"{dotted}.")]
        else:
            text = yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("\n...\n").strip()
            lines.append(f"{depth}{key}: {text}".ljust(56) + f"  # {origins.get(dotted, 'default')}")
    return lines
