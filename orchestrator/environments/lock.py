"""Makes the lock files of a backend: `python -m orchestrator.environments.lock trl hf`.

One resolution for every platform and Python from 3.11 on, with the hash of every file. `cuda.lock` holds everything;
`cpu.lock` leaves out torch and what only its CUDA build needs, because the CPU build of torch comes from other places
under other hashes; `torch.txt` pins its version. `cpu.in` and `cuda.in`, where there are any, go into one lock alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import click

from orchestrator import process, registry
from orchestrator.atomic import write_text
from orchestrator.environments import pins, tools
from orchestrator.errors import EnvironmentMissing, PostTrainError, UsageError

OLDEST_PYTHON = "3.11"
_CUDA_ONLY = re.compile(r"cuda-.*|nvidia-(?!ml-py$).*|torch(vision)?")
"""Torch, what is compiled against it, and its CUDA libraries; the bindings that only ask the driver run without one."""
_TRITON = "triton"
"""A compiler for GPUs, which some packages import without one."""
_HEADER = "# Made by `python -m orchestrator.environments.lock`; edit the .in files, not this one.\n"


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--upgrade", is_flag=True, help="Take the newest versions that the .in files allow.")
def command(names: tuple[str, ...], upgrade: bool) -> None:
    """Resolve the .in files of each backend NAMES into its locks."""
    try:
        for path in (path for name in names for path in write(_folder(name), upgrade=upgrade)):
            click.echo(str(path))
    except PostTrainError as error:
        raise click.ClickException(str(error)) from error


def write(folder: Path, *, upgrade: bool = False) -> list[Path]:
    """Write `cuda.lock`, `cpu.lock` and `torch.txt` of one folder from its `.in` files."""
    cuda, cpu, torch = (folder / name for name in ("cuda.lock", "cpu.lock", "torch.txt"))
    _compile(folder, cuda, (), upgrade)
    # a CPU wheel that lies about, 2.13.0+cpu, satisfies == as well and would be taken for the locked file; not ===
    write_text(cuda, re.sub(r"^torch==", "torch===", cuda.read_text(encoding="utf-8"), flags=re.MULTILINE))
    everything = pins.read(cuda)
    _compile(folder, cpu, cuda_only(pins.wanted_by(cuda)), upgrade)
    write_text(torch, "".join(f"torch=={p.version}\n" for p in everything if p.name == "torch"))
    return [cuda, cpu, torch]


def cuda_only(wanted_by: Mapping[str, Collection[str]]) -> list[str]:
    """Those of these packages that a CPU environment gets from elsewhere, or not at all.

    Args:
        wanted_by: package -> who requires it.
    """
    found = [name for name in wanted_by if _CUDA_ONLY.fullmatch(name)]
    return [*found, _TRITON] if set(wanted_by.get(_TRITON, ("?",))) <= set(found) else found


def _folder(name: str) -> Path:
    found = registry.load(name).lock()
    if found is None:
        raise UsageError(f"{name} has no environment of its own, so nothing to lock")
    return found.folder


def _compile(folder: Path, output: Path, omitted: list[str] | tuple[str, ...], upgrade: bool) -> None:
    uv = tools.find("uv")
    skip = [word for name in sorted(set(omitted)) for word in ("--no-emit-package", name)]
    inputs = sorted(
        path.name for path in folder.glob("*.in") if path.stem == output.stem or path.stem not in pins.VARIANTS
    )
    overrides = ("--override", "overrides.txt") if (folder / "overrides.txt").exists() else ()
    asked = ("--universal", "--generate-hashes", "--no-header", "--quiet", "--python-version", OLDEST_PYTHON)
    argv = (
        *uv.program,
        "pip",
        "compile",
        *inputs,
        *asked,
        *overrides,
        *skip,
        *(("--upgrade",) if upgrade else ()),
        "-o",
        output.name,
    )
    outcome = process.run(argv, timeout=600, cwd=folder)
    if outcome.code != 0:
        raise EnvironmentMissing(
            "the .in files can't be resolved together", where=str(folder), details=outcome.err.splitlines()
        )
    write_text(output, _HEADER + output.read_text(encoding="utf-8").removeprefix(_HEADER))


if __name__ == "__main__":
    command()
