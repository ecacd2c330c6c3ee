"""An Axolotl configuration -> settings of ours; what is not in our vocabulary goes below `native:`. Pure."""

from __future__ import annotations

from backends.axolotl import (
    import_adapter,
    import_ignored,
    import_model,
    import_refusals,
    import_rows,
    import_sharding,
    import_tracking,
    import_training,
)
from backends.axolotl.mapping import KEPT
from backends.axolotl.reading import Reading
from backends.axolotl.schema import problems, properties
from orchestrator.backend import Foreign, Imported

_PARTS = (import_model, import_adapter, import_rows, import_training, import_sharding, import_tracking)


def import_config(foreign: Foreign, processes: int | None) -> Imported:
    """Every key once: ours, native, left out or refused."""
    reading = Reading(foreign, processes)
    import_refusals.check(reading)
    if reading.refused:
        return reading.done()
    nulls = _nulls(reading)
    _kept(reading)
    import_ignored.clean(reading)
    _mistyped(reading)
    for part in () if reading.refused else _PARTS:
        part.translate(reading)
    for key in list(reading.given):
        reading.put(f"native.{key}", reading.take(key), key=key)
    return reading.done(nulls)


def _nulls(reading: Reading) -> int:
    """A key without a value is as good as none, but where Axolotl's default is a value, null takes it away."""
    empty = [key for key, value in reading.given.items() if value is None]
    known = properties()
    gone = [key for key in empty if key not in known or known[key].get("default") in (None, False, 0)]
    for key in gone:
        reading.take(key)
    return len(gone)


def _kept(reading: Reading) -> None:
    for key in [key for key in reading.given if key in KEPT and key != "model_revision"]:
        reading.leave(key, KEPT[key])


def _mistyped(reading: Reading) -> None:
    """What is of another type than Axolotl takes, once texts that are numbers have become numbers."""
    for dotted, problem in problems(reading.given):
        reading.refuse(dotted, problem)
