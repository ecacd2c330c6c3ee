"""What goes into a stage beside its settings, by content: models, data, code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator import prepared, regular
from orchestrator.cache import cache_root
from orchestrator.digest import file_digest, is_slow, model_digest
from orchestrator.errors import ModelError, TaskError, UsageError
from orchestrator.manifest import DataParent
from orchestrator.preflight.data import DataLook
from orchestrator.spec import RunSpec
from orchestrator.tasks.loading import find


def require_files(spec: RunSpec, model: Path) -> None:
    """Look at what is about to be read, here and by every check.

    Raises:
        ModelError: something in the model's folder is no file.
        UsageError: nor is the code of a reward.
    """
    why = "reading it would have no end"
    if found := regular.strange(model):
        raise ModelError(f"{found[1]} stands where a file should be", where=str(found[0]), why=why)
    for file in (Path(reference.rpartition(":")[0]) for reference in _references(spec)):
        if file.name and (kind := regular.other(file)):
            raise UsageError(f"{kind} is no reward file", where=str(file), why=why, fix="name a .py file")


def identify(spec: RunSpec, parents: list[str], look: DataLook, say: Callable[[str], None]) -> dict[str, Any]:
    """Role -> digest of everything that goes in.

    Args:
        parents: fingerprints of the runs that the stage starts from.
        look: the data files, as read.
        say: told before anything that takes long.
    """
    data = {name: f"sha256:{facts.digest}" for name, facts in look.facts.items()}
    data |= {f"{name}.manifest": digest for name, digest in look.manifests.items()}
    code = {f"code.{n}": _code(reference) for n, reference in enumerate(_references(spec))}
    task = {role: _content(path) for role, path in _task(spec).items()}
    return {**data, "model": [f"run:{p}" for p in parents] or _model(spec, say), **code, **task}


def changed(spec: RunSpec, recorded: dict[str, Any], say: Callable[[str], None]) -> dict[str, str]:
    """Role -> place of everything whose content is no longer what was recorded; parents are looked at elsewhere."""
    files = prepared.files(spec)
    places = {name: str(path) for name, path in files.items() if name in recorded}
    now = {name: _content(Path(path)) for name, path in places.items()}
    for name, path in files.items():
        if f"{name}.manifest" in recorded:
            places[f"{name}.manifest"], now[f"{name}.manifest"] = str(path.parent), prepared.digest(path) or "gone"
    for number, reference in enumerate(_references(spec)):
        places[f"code.{number}"], now[f"code.{number}"] = reference, _code(reference)
    for role, path in _task(spec).items():
        places[role], now[role] = str(path), _content(path)
    if isinstance(recorded.get("model"), str):
        places["model"], now["model"] = spec.model.path or "", _model(spec, say)
    return {role: places[role] for role, digest in now.items() if digest != recorded.get(role)}


def data_parents(spec: RunSpec, recorded: dict[str, Any]) -> list[DataParent]:
    """The prepared data among what goes in, each once."""
    found: dict[Path, DataParent] = {}
    for setting, path in prepared.files(spec).items():
        digest = recorded.get(f"{setting}.manifest")
        if digest and path.parent not in found:
            found[path.parent] = DataParent(setting=setting, folder=path.parent, digest=digest)
    return list(found.values())


def _task(spec: RunSpec) -> dict[str, Path]:
    """Role -> file of a task and of the options that name files."""
    if not spec.task.name:
        return {}
    try:
        code = {"task": find(spec.task.name).file}
    except TaskError:  # told as a finding; what is no file counts as gone
        code = {"task": Path(spec.task.name)}
    options = {f"task.options.{key}": Path(str(value)) for key, value in spec.task.options.items()}
    return code | {role: path for role, path in options.items() if path.is_absolute()}


def _content(path: Path) -> str:
    return f"sha256:{file_digest(path, cache_root() / 'digests')}" if path.is_file() else "gone"


def _model(spec: RunSpec, say: Callable[[str], None]) -> str:
    path = Path(spec.model.path or "")
    if path.is_dir() and not (path / "config.json").exists():  # perhaps a home folder: refused, and never read whole
        return "no model"
    if not spec.model.path or not path.is_dir():
        return f"hub:{spec.model.path}@{spec.model.revision or 'newest'}"
    if is_slow(path):
        say(f"reading {path.name} for its digest")
    return f"sha256:{model_digest(path, cache_root() / 'digests')}"


def _references(spec: RunSpec) -> list[str]:
    if spec.stage == "grpo":
        return [*spec.rl.reward, *([spec.rl.held_out_metric.removeprefix("reward:")] if spec.rl.held_out else [])]
    return [spec.eval.metric.removeprefix("reward:"), *spec.eval.benchmarks] if spec.stage == "eval" else []


def _code(reference: str) -> str:
    """Digest of the file behind `file.py:function`, with the function's name, or of a task file; a word as it is."""
    if reference.endswith((".yaml", ".yml")):
        return _content(Path(reference))
    file, _, function = reference.rpartition(":")
    path = Path(file)
    return f"sha256:{file_digest(path)}:{function}" if file.endswith(".py") and path.is_file() else reference
