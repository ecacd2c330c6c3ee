"""The dump of the engine's constructors fits what the backend writes and the versions it is locked to."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from backends.trl import check_native, schema
from backends.trl.adapter import BACKEND
from backends.trl.config import CONFIGS

from .conftest import EVERYTHING, HOPPER, MakeJob, MakeSpec


@pytest.mark.parametrize("stage", ["sft", "dpo", "grpo"])
@pytest.mark.parametrize("job", [{}, {"machine": HOPPER, "packages": EVERYTHING}], ids=["cpu", "gpu"])
def test_what_is_written_is_what_the_constructors_take(
    make_spec: MakeSpec, make_job: MakeJob, stage: str, job: dict[str, Any]
) -> None:
    hardware = {"processes": 2, "sharding": "fsdp2"}
    spec = make_spec(
        stage, "qlora", hardware=hardware, data={"eval": "/data/eval.jsonl"}, lora={"modules_to_save": ["norm"]}
    )
    written = yaml.safe_load(BACKEND.materialize(spec, make_job(**job)).files[0].content)
    config = {k: v for k, v in written["config"].items() if k != "fsdp"}  # annotated as text, documented as a flag
    assert list(schema.problems(CONFIGS[stage], config)) == []
    assert list(schema.problems("LoraConfig", written["peft"])) == []
    assert list(schema.problems("BitsAndBytesConfig", written["quantization"])) == []


def test_keys_with_a_meaning_of_ours_exist() -> None:
    known = {key for name in CONFIGS.values() for key in schema.fields(name)}
    assert set(check_native._OURS["config"]) | set(check_native._KEPT) <= known
    assert set(check_native._OURS["peft"]) <= set(schema.fields("LoraConfig"))


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("learning_rate", "1e-5", "write 1.0e-05"),
        ("learning_rate", True, "takes float"),
        ("packing", 1, "takes bool"),
        ("packing_strategy", "bdf", "did you mean 'bfd'"),
        ("dataloader_num_worker", 2, "did you mean 'dataloader_num_workers'"),
        ("report_to", {"a": 1}, "takes list or null or str"),
    ],
)
def test_problems(key: str, value: Any, told: str) -> None:
    ((where, message),) = schema.problems("SFTConfig", {key: value})
    assert where == key
    assert told in message


@pytest.mark.parametrize(
    ("key", "value"), [("learning_rate", 1), ("max_length", None), ("packing_strategy", "wrapped")]
)
def test_no_problem(key: str, value: Any) -> None:
    assert list(schema.problems("SFTConfig", {key: value})) == []
