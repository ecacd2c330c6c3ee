"""Trackers that would fail once training has begun, or record nothing."""

from __future__ import annotations

import netrc
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_VARIABLES = ("WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE")


def check(spec: RunSpec) -> Iterator[Finding]:
    """W&B online without a login: a worker can't be asked for a key."""
    if not spec.trains or spec.tracking.wandb != "online" or _logged_in():
        return
    yield Finding(
        code="tracking.wandb",
        level="error",
        message="W&B is to be online, and nobody is logged in; the run would fail, or create no W&B run",
        fix="wandb login; or tracking.wandb: offline, and `wandb sync` afterwards",
        where="tracking.wandb",
    )


def _logged_in() -> bool:
    """A key in the environment, or one that `wandb login` wrote for the server in use."""
    if any(os.environ.get(name) for name in _VARIABLES):
        return True
    host = urlsplit(os.environ.get("WANDB_BASE_URL", "")).hostname
    try:
        known = netrc.netrc(os.environ.get("NETRC") or Path.home() / ".netrc").hosts
    except (OSError, netrc.NetrcParseError):
        return False
    return host in known if host else any("wandb" in name for name in known)
