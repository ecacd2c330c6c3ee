"""Each rule: one spec that fires it, and the clean twin that does not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.fake.adapter import FakeBackend
from orchestrator import findings, registry
from orchestrator.backend import Capabilities
from orchestrator.envs import EnvRef
from orchestrator.hardware import Gpu, Machine
from orchestrator.preflight import combinations, data, environment, hyperparameters, lengths, room, weights
from orchestrator.sizing import Estimate

if TYPE_CHECKING:
    from tests.conftest import MakeSpec, Write

SFT = {"model__path": "m", "data__train": "d"}
DPO = SFT | {"stage": "dpo"}
GRPO = SFT | {"stage": "grpo"}
FULL = SFT | {"method": "full"}


TWO = SFT | {"hardware__processes": 2}
DDP = TWO | {"hardware__sharding": "ddp"}


class Narrow(FakeBackend):
    """An engine that can do little."""

    def capabilities(self) -> Capabilities:
        return Capabilities(methods={"sft": ("lora",)}, sharding=("none", "ddp"))


@pytest.mark.parametrize(
    ("code", "wrong", "clean"),
    [
        ("combination.stage", DPO, SFT),
        ("combination.method", FULL, SFT),
        ("combination.sharding", TWO | {"hardware__sharding": "fsdp2"}, DDP),
        ("combination.processes", SFT | {"hardware__sharding": "ddp"}, DDP),
        ("combination.processes", TWO, DDP),
        ("model.missing", {"data__train": "d"}, {"data__train": "d", "from": "x"}),
        ("model.ambiguous", SFT | {"from": "x"}, SFT),
        ("data.missing", {"model__path": "m"}, SFT),
        ("data.missing", SFT | {"training__eval_steps": 5}, SFT | {"training__eval_steps": 5, "data__eval": "e"}),
    ],
)  # fmt: skip
def test_combinations(make_spec: MakeSpec, code: str, wrong: dict[str, Any], clean: dict[str, Any]) -> None:
    found = combinations.check(make_spec(**wrong), Narrow())
    assert [(f.code, f.level) for f in found] == [(code, "error")]
    assert found[0].fix
    assert combinations.check(make_spec(**clean), Narrow()) == []


def test_weights_that_were_cut_off(base: Path) -> None:
    assert list(weights.check(base)) == []
    assert list(weights.check(base / "planned")) == []
    shard = base / "model.safetensors"
    whole = shard.read_bytes()
    for damaged in (whole[:-1], whole + b"0", whole[:20], whole[:5], b"", b"\xff" * 100):
        shard.write_bytes(damaged)
        (found,) = weights.check(base)
        assert (found.code, found.level, found.where) == ("model.damaged", "error", str(shard))


def test_an_eval_wants_items(make_spec: MakeSpec) -> None:
    fake = registry.load("fake")
    assert [f.code for f in combinations.check(make_spec("eval", model__path="m"), fake)] == ["data.missing"]
    assert combinations.check(make_spec("eval", model__path="m", data__eval="e"), fake) == []


@pytest.mark.parametrize(
    ("code", "wrong", "clean"),
    [
        ("hp.learning_rate", SFT | {"training__learning_rate": 1e-2}, SFT | {"training__learning_rate": 1e-4}),
        ("hp.learning_rate", FULL | {"training__learning_rate": 2e-4}, FULL | {"training__learning_rate": 1e-5}),
        ("hp.learning_rate", DPO | {"training__learning_rate": 1e-5}, DPO | {"training__learning_rate": 5e-7}),
        ("hp.learning_rate", GRPO | {"training__learning_rate": 1e-7}, GRPO | {"training__learning_rate": 3e-6}),
        ("hp.beta", DPO | {"rl__beta": 0.01}, DPO | {"rl__beta": 0.5}),
        ("hp.beta", GRPO | {"rl__beta": 0.0}, GRPO | {"rl__beta": 0.04}),
        ("hp.epochs", SFT | {"training__epochs": 1}, SFT | {"training__epochs": 5}),
        ("hp.epochs", DPO | {"training__epochs": 3}, DPO | {"training__epochs": 3, "training__max_steps": 9}),
        ("hp.r", SFT | {"lora__r": 64, "lora__alpha": 128}, SFT | {"lora__r": 32, "lora__alpha": 64}),
        ("hp.alpha", SFT | {"lora__alpha": 16}, SFT | {"lora__alpha": 32}),
        ("hp.batch_size", SFT | {"training__batch_size": 16}, SFT | {"training__batch_size": 1}),
        ("hp.num_generations", GRPO | {"rl__num_generations": 2}, GRPO | {"rl__num_generations": 4}),
    ],
)
def test_hyperparameters(make_spec: MakeSpec, code: str, wrong: dict[str, Any], clean: dict[str, Any]) -> None:
    found = hyperparameters.check(make_spec(**wrong), 1000)
    assert [(f.code, f.level) for f in found] == [(code, "advice")]
    assert hyperparameters.check(make_spec(**clean), 1000) == []


@pytest.mark.parametrize(
    ("stage", "method"), [("sft", "lora"), ("sft", "qlora"), ("sft", "full"), ("dpo", "lora"), ("grpo", "full")]
)
def test_our_own_defaults_need_no_advice(make_spec: MakeSpec, stage: str, method: str) -> None:
    assert hyperparameters.check(make_spec(stage, method=method), 1000) == []


def test_few_rows(make_spec: MakeSpec) -> None:
    assert [f.code for f in hyperparameters.check(make_spec(**SFT), 499)] == ["data.few_rows"]
    assert hyperparameters.check(make_spec(**SFT), 500) == []
    assert hyperparameters.check(make_spec("merge"), 1) == []


def test_advice_can_be_accepted_and_errors_can_not(make_spec: MakeSpec) -> None:
    found = [*hyperparameters.check(make_spec(training__epochs=1), 1000), *combinations.check(make_spec(), Narrow())]
    marked = findings.accept(found, ["hp.epochs", "model.missing"])
    assert {f.code: f.accepted for f in marked} == {"hp.epochs": True, "model.missing": False, "data.missing": False}
    assert {f.code for f in findings.errors(marked)} == {"model.missing", "data.missing"}


def test_room(work: Path) -> None:
    free, machine = shutil.disk_usage(work).free, Machine(cores=1, memory=1000)
    gpu = Machine(cores=1, memory=1000, gpus=(Gpu(name="a", memory=10, capability=9),))

    def codes(memory: int, disk: int, on: Machine = machine) -> list[tuple[str, str]]:
        estimate = Estimate(parameters=1, stored=1, memory=memory, disk=disk)
        return [(f.code, f.level) for f in room.check(estimate, work / "runs" / "not" / "there", on)]

    assert codes(1000, 1) == []
    assert codes(1001, 1) == [("memory.room", "advice")]
    assert codes(11, 1, gpu) == [("memory.room", "advice")]
    assert codes(1, free * 2) == [("disk.room", "error")]
    assert room.check(None, work / "free", machine) == []
    guessed = Estimate(parameters=1, stored=1, memory=1, disk=free * 2, named=True)
    assert [(f.code, f.level) for f in room.check(guessed, work / "free", machine)] == [("disk.room", "advice")]
    assert [f.code for f in room.check(None, work, machine)] == ["output.exists"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 KB"), (2_000_000, "2.0 MB"), (5 * 10**15, "5000.0 TB")]
)
def test_sizes_for_a_person(count: int, text: str) -> None:
    assert room.size(count) == text


def test_environment(work: Path) -> None:
    ready = EnvRef(name="trl", variant="cpu", key="k", folder=work, python=work / "python", ready=True)
    assert environment.check(ready) == []
    absent = environment.check(ready.model_copy(update={"ready": False}))
    assert [(f.code, f.level) for f in absent] == [("env.install", "note")]
    broken = environment.check(ready.model_copy(update={"ready": False, "problems": ("torch is missing",)}))
    assert [(f.code, f.level, f.message) for f in broken] == [("env.unusable", "error", "torch is missing")]


def test_data_faults_are_findings_with_their_lines(make_spec: MakeSpec, write: Write) -> None:
    bad = write("bad.jsonl", [{"prompt": "a", "completion": "b"}, {"prompt": "", "completion": "b"}, {"prompt": "a"}])
    look = data.look(make_spec(data__train=str(bad), data__eval=str(bad.parent / "none.jsonl")), lambda _: None)
    assert look.facts == {}
    assert [(f.where, f.level) for f in look.findings] == [
        (f"{bad}:2", "error"),
        (f"{bad}:3", "error"),
        (str(bad.parent / "none.jsonl"), "error"),
    ]


def test_held_out_rows_that_are_trained_on(make_spec: MakeSpec, write: Write) -> None:
    one = write("one.jsonl", [{"prompt": "a", "completion": "b"}])
    same = write("same.jsonl", one.read_text())
    other = write("other.jsonl", [{"prompt": "c", "completion": "d"}])
    look = data.look(make_spec(data__train=str(one), data__eval=str(same)), lambda _: None)
    assert [f.code for f in look.findings] == ["data.leak"]
    clean = data.look(make_spec(data__train=str(one), data__eval=str(other)), lambda _: None)
    assert clean.findings == ()
    assert {k: (f.rows, f.form) for k, f in clean.facts.items()} == {
        "data.train": (1, "prompt+completion"),
        "data.eval": (1, "prompt+completion"),
    }


@pytest.mark.parametrize("key", ["hub_token", "wandb_api_key", "password", "secret"])
def test_a_credential_in_native_is_refused(make_spec: MakeSpec, key: str) -> None:
    found = combinations.check(make_spec(**SFT, native__config={key: "x"}), FakeBackend())
    assert [(f.code, f.where) for f in found] == [("native.secret", f"native.config.{key}")]
    harmless = make_spec(**SFT, native__config={key: None, "max_new_tokens": 4, "eos_token": "</s>"})
    assert combinations.check(harmless, FakeBackend()) == []


@pytest.mark.parametrize(("answer", "codes"), [(512, ["rl.lengths"]), (511, [])])
def test_an_answer_leaves_room_for_its_prompt(make_spec: MakeSpec, answer: int, codes: list[str]) -> None:
    spec = make_spec(**GRPO | {"training__max_length": 512, "rl__max_completion_length": answer})
    assert [found.code for found in lengths.check(spec)] == codes
