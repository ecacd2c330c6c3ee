"""Atomic writes: old or new, never a part; refusals of the file system in words."""

from __future__ import annotations

import errno
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import atomic
from orchestrator.errors import StorageError

if TYPE_CHECKING:
    from tests.conftest import Write

ROOT = Path(__file__).parents[2]
HEAD = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pathlib import Path; from orchestrator import atomic\n"
FOREVER = (
    HEAD + "n = 0\nwhile True:\n    n += 1\n    atomic.write_json(Path('f.json'), {'n': n, 'fill': str(n) * 200_000})\n"
)
ONCE = (
    HEAD
    + """
from orchestrator.errors import StorageError
try:
    atomic.write_text(Path(sys.argv[1]), 'x' * int(sys.argv[2]))
except StorageError as error:
    print(error)
"""
)


def test_a_file_is_replaced_and_nothing_lies_beside_it(work: Path) -> None:
    path = work / "deep" / "f.json"
    atomic.write_json(path, {"a": "ä"})
    atomic.write_json(path, {"a": 2})
    assert json.loads(path.read_text()) == {"a": 2}
    assert [p.name for p in path.parent.iterdir()] == ["f.json"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_name_that_is_no_unicode_is_still_json(work: Path) -> None:
    atomic.write_json(work / "f.json", {"argv": "data-\udcff.jsonl"})
    assert json.loads((work / "f.json").read_bytes())["argv"] == "data-\udcff.jsonl"


@pytest.mark.parametrize("delay", [0.05, 0.11, 0.23])
def test_a_kill_in_the_middle_leaves_a_whole_file(work: Path, delay: float) -> None:
    writer = subprocess.Popen([sys.executable, "-c", FOREVER])
    try:
        while not (work / "f.json").exists():
            time.sleep(0.01)
        time.sleep(delay)
    finally:
        writer.kill()
        writer.wait()
    found = json.loads((work / "f.json").read_text())
    assert found["fill"] == str(found["n"]) * 200_000


def test_a_read_only_folder_is_told_with_the_way_out(work: Path, obey: Callable[[], None]) -> None:
    (work / "locked").mkdir(mode=0o500)
    argv = [sys.executable, "-c", ONCE, "locked/f", "10"]
    said = subprocess.run(argv, preexec_fn=obey, capture_output=True, text=True, check=True).stdout
    assert "can't write: Permission denied" in said
    assert "fix: name a writable folder with --runs" in said
    assert list((work / "locked").iterdir()) == []


def test_a_file_that_grows_past_its_limit_leaves_the_old_one(write: Write, work: Path) -> None:
    write("f", "old")
    limited = subprocess.run(
        [sys.executable, "-c", ONCE, "f", "100000"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "can't write: File too large" in limited.stdout
    assert (work / "f").read_text() == "old"
    assert [p.name for p in work.iterdir()] == ["f"]


def test_a_full_disk_leaves_the_old_file(work: Path) -> None:
    fill = f'{sys.executable} -c "$0" d/f 1000000'
    program = f"mkdir d && mount -t tmpfs -o size=64k none d && echo old > d/f && {fill} && cat d/f && ls -A d"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", program, ONCE], capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no small disk can be made here: {done.stderr.strip()}")
    assert "can't write: No space left on device" in done.stdout
    assert "fix: free some space" in done.stdout
    assert done.stdout.endswith("old\nf\n")


def test_other_refusals_keep_their_own_words(work: Path) -> None:
    with pytest.raises(StorageError, match="Not a directory") as caught, atomic.storage(work):
        raise OSError(errno.ENOTDIR, "Not a directory", "some/file")
    assert caught.value.where == "some/file"
