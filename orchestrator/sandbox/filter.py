"""System calls that the sandbox refuses: memory that no bound sees, and doors into the kernel that no command needs.

A BPF program for bwrap's `--seccomp`, put together by hand: instructions are (code, jump if true, jump if not, value).
"""

from __future__ import annotations

import platform
import struct

from orchestrator.errors import EnvironmentMissing

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS: dict[str, dict[str, int]] = {
    "x86_64": {
        "shmget": 29,
        "semget": 64,
        "msgget": 68,
        "ptrace": 101,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "perf_event_open": 298,
        "bpf": 321,
        "userfaultfd": 323,
        "io_uring_setup": 425,
    },
    "aarch64": {
        "ptrace": 117,
        "msgget": 186,
        "semget": 190,
        "shmget": 194,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "perf_event_open": 241,
        "bpf": 280,
        "userfaultfd": 282,
        "io_uring_setup": 425,
    },
}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_KILL, _ALLOW, _DENY = 0x80000000, 0x7FFF0000, 0x00050001
"""SECCOMP_RET_KILL_PROCESS, _ALLOW, and _ERRNO with EPERM."""
_OTHER_NUMBERS = 0x40000000
"""x86-64's x32 calls begin here: the same calls under other numbers."""


def program(machine: str | None = None) -> bytes:
    """The filter for a machine, by its `uname -m` name.

    Raises:
        EnvironmentMissing: a machine whose system call numbers are not known here.
    """
    machine = machine or platform.machine()
    if machine not in _CALLS:
        raise EnvironmentMissing(f"no system call filter for {machine}", fix="run on x86_64 or aarch64")
    numbers = [*_CALLS[machine].values()]
    checks = [(_EQUAL, len(numbers) - n, 0, number) for n, number in enumerate(numbers)]
    lines = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, len(numbers) + 1, 0, _OTHER_NUMBERS),
        *checks,
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _DENY),
    ]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
