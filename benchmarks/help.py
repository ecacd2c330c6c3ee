"""`post-train --help` against a bare click program: python -m benchmarks.help"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.clock import compare, interleaved, program

BARE = str(Path(__file__).with_name("bare.py"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=30)
    repetitions = parser.parse_args().repetitions
    ours, bare = (program("post-train"), "--help"), (sys.executable, BARE, "--help")
    times = interleaved({"post-train --help": lambda: ours, "bare click --help": lambda: bare}, repetitions)
    print(f"{repetitions} repetitions, interleaved\n{compare(times)}")


if __name__ == "__main__":
    main()
