"""The backend environment, as far as it can be judged before it is made."""

from __future__ import annotations

from orchestrator.envs import EnvRef
from orchestrator.findings import Finding, Level


def check(env: EnvRef) -> list[Finding]:
    """Problems of a named environment; one from a lock that is not there yet will simply be installed."""
    if not env.ready and not env.problems:
        message = f"the {env.name} environment is not installed yet; it will be, from its lock, before the run starts"
        return [
            Finding(code="env.install", level="note", message=message, fix=f"post-train backends install {env.name}")
        ]
    return [
        *(_finding(env, "env.unusable", "error", text) for text in env.problems),
        *(_finding(env, "env.differs", "advice", text) for text in env.differences),
    ]


def _finding(env: EnvRef, code: str, level: Level, message: str) -> Finding:
    fix = f"post-train backends doctor {env.name} --env {env.python}"
    return Finding(code=code, level=level, message=message, fix=fix, where="--env")
