"""Experiment trackers that are also ours; the others stay Axolotl's."""

from __future__ import annotations

from backends.axolotl.reading import Reading

_IDLE = "without wandb_project or use_wandb it has no effect"


def translate(reading: Reading) -> None:
    """`tracking:`. A project name switches its tracker on, as in Axolotl."""
    _wandb(reading)
    if reading.take("use_tensorboard"):
        reading.put("tracking.tensorboard", True, key="use_tensorboard")
    project = reading.take("trackio_project_name")
    if reading.take("use_trackio") or project:
        reading.put("tracking.trackio", True, key="use_trackio")
        _project(reading, project, "trackio_project_name")


def _wandb(reading: Reading) -> None:
    project, mode = reading.take("wandb_project"), reading.take("wandb_mode")
    wanted = (reading.take("use_wandb") or project) and mode != "disabled"
    if not wanted:
        for key in [key for key in reading.given if key.startswith("wandb_")]:
            reading.leave(key, _IDLE)
        return
    reading.put("tracking.wandb", "offline" if mode == "offline" else "online", key="wandb_project")
    _project(reading, project, "wandb_project")
    if name := reading.take("wandb_name"):
        reading.put("name", str(name), key="wandb_name")


def _project(reading: Reading, project: str | None, key: str) -> None:
    if project:
        reading.put("tracking.project", project, key=key)
