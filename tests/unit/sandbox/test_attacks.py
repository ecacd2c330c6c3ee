"""What a model's commands might try, run for real: each must be contained, and must end soon."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from orchestrator.errors import EnvironmentMissing
from orchestrator.sandbox import Bounds, Box, NotPlain, Outcome, enclosure
from orchestrator.sandbox.probe import require

MEGA = 2**20
TIGHT = Bounds(seconds=8, memory=200 * MEGA, disk=8 * MEGA, entries=100, scratch=4 * MEGA, processes=24, output=10_000)


@pytest.fixture(autouse=True, scope="module")
def holding() -> None:
    try:
        require()
    except EnvironmentMissing as error:
        pytest.skip(str(error))


def in_box(act: Callable[[Box], Awaitable[Outcome]], bounds: Bounds = TIGHT, **files: bytes) -> Outcome:
    async def story() -> Outcome:
        box = Box(enclosure("bubblewrap"), files, bounds)
        try:
            return await act(box)
        finally:
            await box.close()

    return asyncio.run(story())


def attack(command: str, bounds: Bounds = TIGHT, **files: bytes) -> Outcome:
    return in_box(lambda box: box.run(command), bounds, **files)


def test_an_honest_command_works_and_sees_its_files() -> None:
    done = attack("echo $((6*7)) > answer && cat answer data && pwd && id -u", data=b"7\n")
    assert done.ok
    assert done.output.split()[:3] == ["42", "7", "/task"]
    assert done.output.split()[3] != "0"


def test_the_folder_lives_through_an_episode_and_nothing_else_does() -> None:
    async def twice(box: Box) -> Outcome:
        await box.run("echo kept > note; cd /tmp; echo lost > /tmp/note")
        return await box.run("cat note; cat /tmp/note")

    assert in_box(twice).output.startswith("kept\ncat: /tmp/note: No such file")


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/shadow",
        "cat /etc/passwd",
        "ls /home /root /work",
        "touch /usr/x",
        "touch /x",
        "touch /dev/x",
        "echo 1 > /proc/sys/kernel/core_pattern",
        "mount -t tmpfs none /tmp",
        "unshare -U true",
        "getent hosts localhost.example",
        "exec 3<>/dev/tcp/1.1.1.1/53",
        "ls /sys/class",
        "kill -9 1 && false",
        "mknod disk b 8 0",
        "chroot / true",
    ],
)
def test_nothing_outside_is_within_reach(command: str) -> None:
    done = attack(command)
    assert done.ending == "exit"
    assert done.code != 0


def test_the_hosts_loopback_is_not_the_sandboxs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert attack(f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}").code != 0


def test_no_secret_of_the_environment_gets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_verysecret")
    done = attack("env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' ' '")
    assert "verysecret" not in done.output
    assert "post-train-task" not in done.output


def test_links_lead_nowhere_in_either_direction(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")

    async def out_and_in(box: Box) -> Outcome:
        done = await box.run(f"ln -s {secret} answer.json; ln -s / root; cat answer.json root{secret}")
        with pytest.raises(NotPlain):
            box.read("answer.json")
        with pytest.raises(ValueError, match="a path"):
            box.read("root/etc/hostname")
        return done

    assert "secret" not in in_box(out_and_in).output.replace(str(secret), "")


@pytest.mark.parametrize(
    "command",
    [
        "mkfifo answer.json",
        "mkdir answer.json",
        "head -c 100000 /dev/zero > answer.json",
        "ln -s /dev/zero answer.json",
    ],
)
def test_what_the_grader_reads_is_a_small_plain_file_or_nothing(command: str) -> None:
    async def leave(box: Box) -> Outcome:
        done = await box.run(command)
        began = time.monotonic()
        with pytest.raises(NotPlain):
            box.read("answer.json", 4096)
        assert time.monotonic() - began < 1
        return done

    assert in_box(leave).ok


def test_a_missing_file_is_told_apart_from_a_bad_one() -> None:
    async def nothing(box: Box) -> Outcome:
        with pytest.raises(FileNotFoundError):
            box.read("answer.json")
        return await box.run("true")

    assert in_box(nothing).ok


def test_a_fork_bomb_meets_the_limit() -> None:
    done = attack("f() { f | f & }; f; for i in $(seq 60); do sleep 5 & done; wait", Bounds(seconds=3, processes=24))
    assert "Resource temporarily unavailable" in done.output
    assert attack("echo still here").ok


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("yes", "output"),
        ("sleep 60", "time"),
        ("trap '' TERM INT HUP; while :; do :; done", "time"),
        ("python3 -c 'import time; x = bytearray(300 << 20); time.sleep(60)'", "memory"),
        ("for i in 1 2 3; do python3 -c 'import time; x = b\"x\" * (90 << 20); time.sleep(60)' & done; wait", "memory"),
        ("for i in 1 2 3; do head -c 5M /dev/zero > f$i; done; sleep 60", "disk"),
        ("for i in 3 4 5; do eval \"exec $i>f; rm f; head -c 5M /dev/zero >&$i\"; done; sleep 60", "disk"),
        ("for i in $(seq 300); do : > f$i; done; sleep 60", "disk"),
        ("d=.; while mkdir d; do cd d; done", "disk"),
    ],
)  # fmt: skip
def test_what_takes_too_much_is_ended(command: str, ending: str) -> None:
    began = time.monotonic()
    done = attack(command, Bounds(**{**vars(TIGHT), "seconds": 1.5} if ending == "time" else vars(TIGHT)))
    assert done.ending == ending
    assert not done.ok
    assert time.monotonic() - began < 8


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'bytearray(2 << 30)'",
        "head -c 20M /dev/zero > big",
        "head -c 20M /dev/zero > /tmp/big",
        "head -c 20M /dev/zero > /dev/shm/big",
        "python3 -c 'import ctypes; exit(ctypes.CDLL(None).shmget(0, 1 << 20, 0o1600) == -1)'",
    ],
)
def test_what_is_too_big_is_refused_by_the_kernel(command: str) -> None:
    assert attack(command).code != 0


def test_nothing_goes_on_in_the_background() -> None:
    mark = f"7{os.getpid()}"
    assert attack(f"setsid nohup sleep {mark} > /dev/null 2>&1 & echo gone").output == "gone\n"
    until = time.monotonic() + 2
    while (still := running(mark)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not still


def running(mark: str) -> list[int]:
    return [p.pid for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or [])]


@pytest.mark.parametrize("command", ["echo \0", "echo " + "x" * 200_000])
def test_what_is_no_command_is_answered_and_not_run(command: str) -> None:
    assert attack(command).ending == "refused"


def test_bytes_that_are_no_text_and_lone_surrogates_do_no_harm() -> None:
    assert attack("printf '\\377\\376ok'; echo '\ud800'").output.startswith("\ufffd\ufffdok?")


def test_folders_that_resist_are_removed() -> None:
    seen: list[Path] = []

    async def resist(box: Box) -> Outcome:
        seen.append(box._room.path)
        return await box.run("mkdir -p a/b; touch a/b/c; chmod 000 a/b a")

    in_box(resist)
    assert not seen[0].exists()
