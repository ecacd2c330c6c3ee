"""Several ranks on this machine, through torch's elastic launcher."""

from __future__ import annotations

import re
from pathlib import Path

from orchestrator.backend import LaunchSpec


def argv(python: Path, launch: LaunchSpec) -> tuple[str, ...]:
    """`--standalone` picks a free port on the loopback interface, so two runs on one machine never meet."""
    ranks = ("--standalone", "--nnodes=1", f"--nproc-per-node={launch.processes}")
    return (str(python), "-m", "torch.distributed.run", *ranks, "-m", launch.module, *launch.args)


_FIRST = re.compile(r"Root Cause.*?\brank *: (\d+).*?exitcode *: -\d+ \(pid: (\d+)\) +\((SIG\w+)\)", re.DOTALL)


def killed(log: str) -> str | None:
    """Which rank a signal ended first, by the last lines of torchrun: `rank 1 (pid 7) was killed by SIGSEGV`."""
    found = _FIRST.search(log)
    return f"rank {found[1]} (pid {found[2]}) was killed by {found[3]}" if found else None
