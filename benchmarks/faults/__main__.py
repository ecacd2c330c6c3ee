"""Runs every fault and its clean twin, and prints the table: python -m benchmarks.faults [WORD]"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from benchmarks.faults import chain, configuration, data, evaluation, table, weights
from benchmarks.faults.fault import Fault, Outcome
from benchmarks.faults.lab import QUICKSTART, Lab

ROOT = QUICKSTART.parents[1]

FAULTS: tuple[Fault, ...] = (
    *data.FAULTS,
    *configuration.FAULTS,
    *weights.FAULTS,
    *chain.FAULTS,
    *evaluation.FAULTS,
)


def tried(lab: Lab, fault: Fault) -> Outcome:
    """A fault and its twin."""
    sys.stderr.write(f"{fault.kind:<3} {fault.name}\n")
    found = Outcome(fault, lab.run(fault.words(lab, True)), lab.run(fault.words(lab, False)))
    if found.verdict == "missed" or found.false_alarm:
        sys.stderr.write(f"    {found.verdict}: {found.faulty.text.strip()[-600:]}\n    twin {found.twin.code}\n")
        sys.stderr.write(f"    {found.twin.text.strip()[-600:] if found.false_alarm else ''}\n")
    return found


def main() -> None:
    """Try those whose name matches; the exit code is 1 where one was missed or a clean twin was refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="only faults whose kind or name matches")
    given = parser.parse_args()
    chosen = [one for one in FAULTS if re.search(given.pattern, f"{one.kind} {one.name}")]
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        lab = Lab(Path(folder).resolve())
        found = [tried(lab, one) for one in chosen]
    print("\n".join(table.lines(found, [str(lab.root), str(ROOT)])))
    sys.exit(any(one.verdict == "missed" or one.false_alarm for one in found))


if __name__ == "__main__":
    main()
