"""What a stage left: found, digested, described. A promised artifact that is absent or hollow fails the stage."""

from __future__ import annotations

from pathlib import Path

from orchestrator import sizing
from orchestrator.backend import Artifact, ArtifactFile, Expected, ModelRef
from orchestrator.cache import cache_root
from orchestrator.digest import combined, folder_files, model_digest
from orchestrator.errors import HandoffError

_NAMES = {"F32": "float32", "BF16": "bfloat16", "F16": "float16", "F64": "float64", "U8": "uint8", "I8": "int8"}
_NEEDED = {
    "adapter": ("adapter_config.json", "adapter_model.safetensors"),
    "model": ("config.json",),
    "report": ("report.json",),
}


def collect(run_dir: Path, expected: tuple[Expected, ...], model: ModelRef) -> tuple[Artifact, ...]:
    """Describe every promised artifact.

    Raises:
        HandoffError: one is missing, lacks a file, or holds no tensor.
    """
    return tuple(_artifact(run_dir, one, model) for one in expected)


def intact(run_dir: Path, artifact: Artifact) -> bool:
    """Whether the files still have the sizes and digests that were recorded."""
    folder = run_dir / artifact.path
    return folder.is_dir() and combined(folder_files(folder, cache_root() / "digests")) == artifact.digest


def _artifact(run_dir: Path, expected: Expected, model: ModelRef) -> Artifact:
    folder = run_dir / expected.path
    _whole(folder, expected)
    files = folder_files(folder)
    dtypes, tensors = _tensors(folder)
    if expected.kind != "report" and not tensors:
        raise HandoffError(
            f"the {expected.kind} holds no tensor", where=str(folder), why="a later stage would start from nothing"
        )
    base = Path(model.path)
    return Artifact(
        kind=expected.kind,
        path=expected.path,
        format="json" if expected.kind == "report" else "safetensors",
        digest=combined(files),
        files=files,
        base=model.path if expected.kind == "adapter" else None,
        base_digest=model_digest(base) if expected.kind == "adapter" and base.is_dir() else None,
        dtype="+".join(sorted(dtypes)) or None,
        facts={"tensors": tensors} if tensors else {},
    )


def _whole(folder: Path, expected: Expected) -> None:
    missing = [name for name in _NEEDED[expected.kind] if not (folder / name).is_file()]
    if missing:
        raise HandoffError(
            f"the stage ended, but left no {expected.kind}: {', '.join(missing)} not found",
            where=str(folder),
            why="an exit code of 0 is not enough; every promised artifact must be there",
        )


def _tensors(folder: Path) -> tuple[set[str], int]:
    headers = [sizing.header(shard) for shard in sorted(folder.glob("*.safetensors"))]
    entries = [entry for h in headers for name, entry in h.items() if name != "__metadata__"]
    return {_NAMES.get(str(e["dtype"]), str(e["dtype"]).lower()) for e in entries}, len(entries)


def total_size(files: tuple[ArtifactFile, ...]) -> int:
    """Bytes of all files."""
    return sum(f.size for f in files)
