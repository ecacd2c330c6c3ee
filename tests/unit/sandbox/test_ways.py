"""Choosing an enclosure: bubblewrap or nothing, unless a weaker one is asked for by name."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

import pytest

from orchestrator.errors import EnvironmentMissing, UsageError
from orchestrator.sandbox import Bounds, Box, enclosure, filter, probe
from orchestrator.sandbox.bubblewrap import Bubblewrap


@pytest.fixture
def forgotten() -> None:
    probe.require.cache_clear()


def test_without_bwrap_nothing_is_enclosed_silently(monkeypatch: pytest.MonkeyPatch, forgotten: None) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EnvironmentMissing, match="apt install bubblewrap"):
        enclosure("bubblewrap")


def test_a_bwrap_that_lets_things_through_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgotten: None
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text('#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done\nshift\ncd /tmp\nexec "$@"\n')
    fake.chmod(0o755)
    tmp_path.chmod(0o755)
    monkeypatch.setattr("orchestrator.sandbox.bubblewrap.found", lambda: str(fake))
    with pytest.raises(EnvironmentMissing, match="does not hold"):
        enclosure("bubblewrap")
    probe.require.cache_clear()


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'unconfined'"):
        enclosure("unconfind")


def test_the_weaker_way_keeps_time_and_environment_and_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_verysecret")

    async def story() -> None:
        box = Box(enclosure("unconfined"), {"data": b"1\n"}, Bounds(seconds=1))
        done = await box.run("cat data; env; pwd")
        assert done.ok
        assert done.output.startswith("1\n")
        assert done.output.endswith(f"{box.place}\n")
        assert "verysecret" not in done.output
        assert (await box.run("sleep 30 & sleep 31")).ending == "time"
        await box.close()
        assert not Path(box.place).exists()

    asyncio.run(story())


def test_commands_of_a_batch_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.sandbox.slots.COMMANDS", 2)
    count = "mkdir at.$$; echo at.* | wc -w; sleep 0.2; rmdir at.$$"

    async def story() -> list[str]:
        box = Box(enclosure("unconfined"), {}, Bounds(seconds=5))
        done = await asyncio.gather(*(box.run(f"cd {box.place}; {count}") for _ in range(6)))
        await box.close()
        return [one.output.strip() for one in done]

    assert max(int(seen) for seen in asyncio.run(story())) == 2


def verdict(machine: str, architecture: int, number: int) -> int:
    """What the filter's program says to a call, run as the kernel would."""
    program = [line for (*line,) in struct.iter_unpack("HBBI", filter.program(machine))]
    words, at, value = {0: number, 4: architecture}, 0, 0
    while True:
        code, yes, no, operand = program[at]
        at += 1
        if code == 0x06:
            return int(operand)
        if code == 0x20:
            value = words[operand]
        else:
            at += yes if (value == operand if code == 0x15 else value >= operand) else no


@pytest.mark.parametrize(("machine", "architecture"), [("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)])
def test_the_filter_denies_what_it_names_and_nothing_else(machine: str, architecture: int) -> None:
    denied = set(filter._CALLS[machine].values())
    assert {n for n in range(460) if verdict(machine, architecture, n) == filter._DENY} == denied
    assert {verdict(machine, architecture, n) for n in set(range(460)) - denied} == {filter._ALLOW}
    assert verdict(machine, architecture, 0x40000000 + 1) == filter._DENY
    assert verdict(machine, 0x40000003, 1) == filter._KILL


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(EnvironmentMissing, match="riscv64"):
        filter.program("riscv64")


def test_bwraps_command_line_shows_no_folder_of_ours() -> None:
    box = Box(enclosure("unconfined"), {}, Bounds())
    launch = Bubblewrap("/usr/bin/bwrap").launch(box._room, Bounds())
    assert not any(str(box._room.path) in word for word in launch.argv)
    assert launch.env == {}
    asyncio.run(box.close())
