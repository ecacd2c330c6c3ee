"""What Axolotl saved becomes an artifact: moved beside its place, proved, then given its name. Rank 0 does it alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.axolotl.worker_probe import Probe
from backends.trainer.probe import write
from backends.trainer.readback import require_tokenizer
from orchestrator.harness import WorkError

ADAPTER_CONFIG = "adapter_config.json"
_KEPT = {".safetensors", ".json", ".jinja", ".txt", ".model", ".tiktoken", ".py"}
"""Weights, configurations, chat templates, vocabularies in every form, a model's own code."""

_FOLDER = "additional_chat_templates"
_NOT_OURS = {"trainer_state.json", "tokens_state.json"}


@dataclass(frozen=True)
class Artifact:
    """One artifact to come.

    Attributes:
        run: the run's folder.
        cfg: Axolotl's configuration, as validated.
        probe: what the trained model answered.
        measured: its behavioural checksum; None where none is wanted.
        metrics: the training's own numbers.
    """

    run: Path
    cfg: Any
    probe: Probe
    measured: dict[str, Any] | None
    metrics: dict[str, float]

    def finish(self) -> dict[str, float]:
        """Move, prove, rename.

        Returns:
            The training's numbers, and facts about the artifact.

        Raises:
            WorkError: what was saved is not what was trained.
        """
        from backends.axolotl.worker_proof import prove

        final = place(self.run, adapter=bool(self.cfg.adapter))
        partial = final.with_name(f".partial-{final.name}")
        collect(Path(self.cfg.output_dir), partial, adapter=bool(self.cfg.adapter))
        facts = prove(partial, self.cfg, self.probe)
        if self.measured is not None:
            require_tokenizer(partial, self.measured)
            write(self.run, self.measured)
        partial.rename(final)
        return {**self.metrics, **facts}


def place(run: Path, *, adapter: bool) -> Path:
    """Where a run's artifact belongs."""
    return run / "artifacts" / ("adapter" if adapter else "model")


def refuse_existing(run: Path, *, adapter: bool) -> None:
    """An artifact is never overwritten.

    Raises:
        WorkError: its folder exists.
    """
    folder = place(run, adapter=adapter)
    if folder.exists():
        raise WorkError("output.exists", f"{folder} exists", why="it would be overwritten", fix="start a new run")


def collect(source: Path, target: Path, *, adapter: bool) -> None:
    """Move what belongs to the model out of the engine's output folder; logs, cards and checkpoints stay.

    Raises:
        WorkError: nothing was saved.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    others = _NOT_OURS | ({"config.json"} if adapter else set())
    for path in sorted(source.iterdir()):
        if path.name == _FOLDER or (path.is_file() and path.suffix in _KEPT and path.name not in others):
            path.rename(target / path.name)
    _refuse_lacking(source, target, ADAPTER_CONFIG if adapter else "config.json")


def adapter_config(folder: Path) -> dict[str, Any]:
    """The adapter's configuration as stored."""
    return dict(json.loads((folder / ADAPTER_CONFIG).read_text(encoding="utf-8")))


def _refuse_lacking(source: Path, target: Path, config: str) -> None:
    if not (target / config).is_file() or not any(target.glob("*.safetensors")):
        raise WorkError(
            "artifact.missing",
            f"{source} holds no {config} with weights in safetensors after training",
            why="Axolotl ends without an error when saving did nothing",
            fix="look at the end of stderr.log, and at native keys that change how the model is saved",
        )
