"""A fault: what is damaged, the command that meets it, and the word that a true message must hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.engine_faults.scene import Scene

Act = Callable[[Scene], None]


def nothing(scene: Scene) -> None:
    """Leave the scene as it is."""


@dataclass(frozen=True)
class Fault:
    """One kind of fault. Its clean twin is the same command on the same scene without the damage.

    Attributes:
        key: letter of the theme and a number, e.g. `A1`.
        what: the fault in a few words.
        command: what a user types after `post-train`, in the scene's folder.
        damage: what makes the difference between fault and twin.
        named: regular expression that the refusal must match; one for another reason is no detection.
        prepare: what fault and twin have in common, beyond the stock scene.
        mends: the fault is to be named and gone round, as a damaged checkpoint beside a whole one is.
        bare: command without us that meets the same damage, run by the engine's Python; None where there is none.
    """

    key: str
    what: str
    command: tuple[str, ...]
    damage: Act
    named: str
    prepare: Act = nothing
    bare: tuple[str, ...] | None = None
    mends: bool = False
