"""`config_registry.py`, compared byte by byte with files that were read by a person; nothing here records them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.titanrl.adapter import BACKEND
from backends.titanrl.native import renderer

from .conftest import NODE, MakeJob, MakeSpec

GOLDEN = Path(__file__).parents[3] / "golden" / "titanrl"
DAPO: dict[str, Any] = {
    "task": {"name": "dapo_math"},
    "training": {
        "max_length": 10240,
        "max_steps": 150,
        "batch_size": 8,
        "gradient_accumulation": 16,
        "adam_beta2": 0.98,
    },
    "rl": {"num_generations": 16, "max_completion_length": 8192},
    "native": {
        "flavor": "4B",
        "trainer": {"tensor": 2},
        "generator": {"count": 6},
        "offpolicy_steps": 4,
        "renderer": "qwen3",
        "thinking": True,
    },
}
GLIMMER: dict[str, Any] = {
    "task": {"name": "data_analyst"},
    "rl": {"max_completion_length": 100},
    "native": {
        "api": "2026-09",
        "flavor": "30B",
        "trainer": {"shard": 3, "tensor": 2},
        "generator": {"tensor": 2},
        "moments": "bfloat16",
        "reasoning_strength": "low",
        "retain_reasoning": False,
    },
}
GLIMMER_030 = {**GLIMMER, "native": {**GLIMMER["native"], "api": "0.3.0", "current_date": "2026-03-01"}}
QWEN = {"path": "Qwen/Qwen3-4B-Base"}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "qa_cpu": ({"task": {"options": {"max_tokens": 16}}}, {}),
    "dapo_math_4b": (DAPO, {"machine": NODE}),
    "dapo_math_4b_2026_09": ({**DAPO, "native": {**DAPO["native"], "api": "2026-09"}}, {"machine": NODE, **QWEN}),
    "dapo_math_4b_2026_10": ({**DAPO, "native": {**DAPO["native"], "api": "2026-10"}}, {"machine": NODE, **QWEN}),
    "glimmer_030": (GLIMMER_030, {"machine": NODE, "path": "meta-models/Muse-Glimmer-30B"}),
    "glimmer_2026_09": (GLIMMER, {"machine": NODE, "path": "meta-models/Muse-Glimmer-30B"}),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(make_spec: MakeSpec, make_job: MakeJob, name: str) -> None:
    sections, job = CASES[name]
    spec, plain = make_spec(**sections), make_job(**job)
    assert [f for f in BACKEND.check(spec, plain) if f.level == "error"] == []
    (file,) = BACKEND.materialize(spec, plain).files
    assert file.path == "native/titan/config_registry.py"
    assert file.content == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    compile(file.content, file.path, "exec")


def test_every_golden_file_has_a_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir() if not path.stem.startswith("recipe_")} == set(CASES)


def test_only_a_machine_without_gpus_gets_the_variables_of_one(make_spec: MakeSpec, make_job: MakeJob) -> None:
    on_cpu, on_gpu = (BACKEND.materialize(make_spec(), make_job(**m)).launch.env for m in ({}, {"machine": NODE}))
    assert on_cpu["GLOO_SOCKET_IFNAME"] == "lo"
    assert set(on_cpu) - set(on_gpu) >= {"VLLM_CPU_KVCACHE_SPACE", "TORCH_COMPILE_DISABLE"}


@pytest.mark.parametrize(("marks", "name"), [('"<|im_start|>"', "default"), ("all", "qwen3")])
def test_the_renderer_follows_the_tokenizer(folder: Path, marks: str, name: str) -> None:
    text = '"<|im_start|>" "<|im_end|>" "<tool_call>" "<think>"' if marks == "all" else marks
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    assert renderer("auto", folder) == name
    assert renderer("gpt-oss", folder) == "gpt-oss"


def test_a_model_still_to_be_made_is_told_by_the_one_its_chain_began_with(
    make_spec: MakeSpec, make_job: MakeJob, tmp_path: Path
) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text('{"model_type": "muse_glimmer"}', encoding="utf-8")
    spec, job = make_spec(native={"flavor": "debugmodel"}), make_job(path=str(tmp_path / "merged"))
    planned = job.model_copy(update={"model": job.model.model_copy(update={"origin": str(tmp_path / "base")})})
    text = BACKEND.materialize(spec, planned).files[0].content
    assert "MuseGlimmerRendererConfig(" in text
    assert "partial_dtensor" not in text, "the model shards by spmd_types alone"
    assert f"HF_ASSETS = {str(tmp_path / 'merged')!r}" in text
