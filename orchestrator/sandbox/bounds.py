"""What one command may use at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """Limits of one command and of the folder it works in.

    Attributes:
        seconds: wall clock.
        memory: bytes that all its processes hold together; each may map twice as much.
        disk: bytes of the folder, of files that were removed but are still open, and of each single file.
        entries: files and folders in the folder.
        scratch: bytes of /tmp, and of /dev/shm.
        processes: processes and threads at a time.
        files: open files of one process.
        output: bytes printed; more ends the command.
    """

    seconds: float = 10.0
    memory: int = 512 * 2**20
    disk: int = 32 * 2**20
    entries: int = 400
    scratch: int = 16 * 2**20
    processes: int = 64
    files: int = 64
    output: int = 2**20

    def limits(self) -> list[str]:
        """The part that the kernel keeps, for prlimit. To be set inside: outside, others' processes would count."""
        return [
            f"--nproc={self.processes}",
            f"--nofile={self.files}",
            f"--fsize={self.disk}",
            f"--as={2 * self.memory}",
            "--core=0",
            "--memlock=0",
        ]
