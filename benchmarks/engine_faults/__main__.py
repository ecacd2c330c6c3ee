"""Who notices faults that arise in an engine: python -m benchmarks.engine_faults [--only A,M3] [--bare] [--json]

Every fault is put into a tiny chain of real runs, and the command that meets it is run as a user would. Its clean twin,
the same command without the damage, must pass. `--bare` does the same with PEFT and TRL, without us.
"""

from __future__ import annotations

import argparse
import json
import string
import sys
import tempfile
from pathlib import Path

from benchmarks.engine_faults import adapter, chain, merge, record, signal, tokens
from benchmarks.engine_faults.bench import Bench, Verdict
from benchmarks.engine_faults.fault import Fault
from benchmarks.engine_faults.scene import Scene

THEMES = (adapter, merge, tokens, chain, record, signal)
_WIDEST = 150


def main() -> None:
    """Run the bench and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="themes or faults, e.g. A,M3")
    parser.add_argument("--bare", action="store_true", help="the same damage without us, beside")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    faults = chosen(given.only)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        print("training the clean chain", file=sys.stderr)
        bench = Bench(Scene.build(Path(folder).resolve()), bare=given.bare)
        verdicts = []
        for verdict in bench.run(faults):
            print(f"{verdict.fault.key}: {verdict.place}, {verdict.seconds:.0f} s", file=sys.stderr)
            verdicts.append(verdict)
    print(json.dumps([v.as_dict() for v in verdicts], indent=2) if given.json else table(verdicts))


def chosen(only: str) -> list[Fault]:
    """The faults whose key begins with one of the names, all when there is none.

    Raises:
        SystemExit: a name fits none.
    """
    every = [fault for theme in THEMES for fault in theme.FAULTS]
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    if unknown := [name for name in wanted if not any(_fits(fault, name) for fault in every)]:
        sys.exit(f"no fault is called {', '.join(unknown)}; known: {', '.join(fault.key for fault in every)}")
    return [fault for fault in every if not wanted or any(_fits(fault, name) for name in wanted)]


def _fits(fault: Fault, name: str) -> bool:
    kind = fault.key.rstrip(string.ascii_lowercase)
    return name in (fault.key, kind, kind.rstrip(string.digits))


def table(verdicts: list[Verdict]) -> str:
    """Markdown: one row a fault, then the rates."""
    rows = ["| fault | what | caught | s | message | without us |", "|---|---|---|---|---|---|"]
    for v in verdicts:
        message = v.message.replace("|", "\\|")
        cut = message if len(message) <= _WIDEST else message[: _WIDEST - 3] + "..."
        bare = "" if v.bare is None else v.bare.replace("|", "\\|")[:_WIDEST]
        rows.append(f"| {v.fault.key} | {v.fault.what} | {v.place} | {v.seconds:.0f} | {cut} | {bare} |")
    return "\n".join([*rows, "", *summary(verdicts)])


def summary(verdicts: list[Verdict]) -> list[str]:
    """Detection rate and false alarms."""
    caught, alarms = [v for v in verdicts if v.caught], [v for v in verdicts if v.false_alarm]
    bare = [v for v in verdicts if v.bare is not None]
    lines = [f"{len(caught)} of {len(verdicts)} faults refused; {len(alarms)} of their clean twins refused."]
    if bare:
        noticed = sum(v.bare != "exit 0" for v in bare)
        lines.append(f"Without us: {noticed} of {len(bare)} end with another code than 0.")
    return lines + [f"false alarm of {v.fault.key}: {v.false_alarm}" for v in alarms]


if __name__ == "__main__":
    main()
