"""The backend environment, as far as it can be judged before it is made."""

from __future__ import annotations

from orchestrator.envs import EnvRef
from orchestrator.findings import Finding


def check(env: EnvRef) -> list[Finding]:
    """Problems of a named environment; one from a lock that is not there yet will simply be installed."""
    if env.problems:
        fix = f"post-train backends doctor {env.name}"
        return [
            Finding(code="env.unusable", level="error", message=text, fix=fix, where="--env") for text in env.problems
        ]
    if not env.ready:
        message = f"the {env.name} environment is not installed yet; it will be, from its lock, before the run starts"
        return [
            Finding(code="env.install", level="note", message=message, fix=f"post-train backends install {env.name}")
        ]
    return []
