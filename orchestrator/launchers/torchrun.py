"""Several ranks on this machine, through torch's elastic launcher."""

from __future__ import annotations

from pathlib import Path

from orchestrator.backend import LaunchSpec


def argv(python: Path, launch: LaunchSpec) -> tuple[str, ...]:
    """`--standalone` picks a free port on the loopback interface, so two runs on one machine never meet."""
    ranks = ("--standalone", "--nnodes=1", f"--nproc-per-node={launch.processes}")
    return (str(python), "-m", "torch.distributed.run", *ranks, "-m", launch.module, *launch.args)
