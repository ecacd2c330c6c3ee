"""What goes wrong between two runs. The stand-in engine trains here: these checks are the core's, whatever trained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.faults.fault import Fault, Words
from benchmarks.faults.lab import CHATS, HELD_OUT, Lab

Damage = Callable[[Path, Path, Path], None]
"""(run folder, model, data)"""


def _next(damage: Damage, *words: str) -> Words:
    """A finished run, damaged, and the command that takes it up."""

    def made(lab: Lab, faulty: bool) -> list[str]:
        model, data = lab.model(), Path(lab.rows(CHATS))
        run = lab.made("sft", "--backend", "fake", "--model", str(model), "--data", str(data))
        if faulty:
            damage(run, model, data)
        return [*words, str(run)]

    return made


def _merge(damage: Damage) -> Words:
    return _next(damage, "merge", "--backend", "fake", "--from")


def _adapter(run: Path) -> Path:
    return next((run / "artifacts" / "adapter").glob("*.safetensors"))


def _other_adapter(run: Path, _: Path, __: Path) -> None:
    path = _adapter(run)
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")


def _lost_adapter(run: Path, _: Path, __: Path) -> None:
    _adapter(run).unlink()


def _other_base(_: Path, model: Path, __: Path) -> None:
    path = next(model.glob("*.safetensors"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


def _damaged_manifest(run: Path, _: Path, __: Path) -> None:
    (run / "manifest.json").write_text('{"id": "x"')


def _unknown(lab: Lab, faulty: bool) -> list[str]:
    run = lab.made("sft", "--backend", "fake", "--model", str(lab.model()), "--data", lab.rows(CHATS))
    return ["merge", "--backend", "fake", "--from", f"{run}x" if faulty else str(run)]


def _failed_parent(lab: Lab, faulty: bool) -> list[str]:
    words = ["sft", "--backend", "fake", "--model", str(lab.model()), "--data", lab.rows(CHATS)]
    output = lab.folder() / "run"
    lab.run([*words, "--output", str(output), *(["--set", "native.fail=1"] if faulty else [])])
    return ["merge", "--backend", "fake", "--from", str(output)]


def _output(lab: Lab, faulty: bool) -> list[str]:
    words = ["sft", "--backend", "fake", "--model", str(lab.model()), "--data", lab.rows(CHATS), "--output"]
    folder = lab.folder() / "out"
    if faulty:
        (folder / "artifacts").mkdir(parents=True)
    return [*words, str(folder)]


def _hollow(lab: Lab, faulty: bool) -> list[str]:
    words = ["sft", "--backend", "fake", "--model", str(lab.model()), "--data", lab.rows(CHATS)]
    return [*words, *(["--set", "native.hollow=true"] if faulty else [])]


def _silent(lab: Lab, faulty: bool) -> list[str]:
    words = ["sft", "--backend", "fake", "--model", str(lab.model()), "--data", lab.rows(CHATS)]
    return [*words, *(["--set", "native.silent=true"] if faulty else [])]


def _against_itself(lab: Lab, faulty: bool) -> list[str]:
    run = lab.made("sft", "--backend", "fake", "--model", str(lab.model()), "--data", lab.rows(CHATS))
    items = lab.rows(HELD_OUT, "items.jsonl")
    return ["eval", str(run), "--data", items, "--against", "sft" if faulty else "base", "--dry-run"]


FAULTS = (
    Fault(
        "A8", "the adapter's file is another one than the run made", _merge(_other_adapter), "not those its manifest"
    ),
    Fault("C2", "the adapter is gone", _merge(_lost_adapter), "not those its manifest|no such|gone|missing"),
    Fault("A8", "the base model changed since the adapter was trained", _merge(_other_base), "not the model that"),
    Fault("C2", "the manifest of the parent is cut off", _merge(_damaged_manifest), "manifest"),
    Fault("C2", "the parent does not exist", _unknown, "no run"),
    Fault("C2", "the parent failed", _failed_parent, "FAILED|nothing can start"),
    Fault("M1", "the output folder holds an older model", _output, "exists"),
    Fault("C7", "the engine exits with 0 and leaves nothing", _hollow, "artifact|left|promised"),
    Fault("C7", "the engine exits with 0 before it is done", _silent, "done|finish|end"),
    Fault("E2", "a model compared with itself", _against_itself, "compared with itself"),
)
