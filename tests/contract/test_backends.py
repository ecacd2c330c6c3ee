"""What every backend keeps, found by discovery: a new one is tested as soon as its folder is there."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

from orchestrator import launchers, registry
from orchestrator.backend import Backend, Capabilities, EnvLock, Job, ModelRef, Native
from orchestrator.findings import Finding, errors
from orchestrator.hardware import Gpu, Machine
from orchestrator.recipe import Recipe, Value
from orchestrator.resolve import resolve
from orchestrator.spec import TRAINING_STAGES, RunSpec, Stage

if TYPE_CHECKING:
    from tests.conftest import Write

ROOT = Path(__file__).parents[2]
NAMES = registry.names()
FRAMEWORKS = {"torch", "transformers", "trl", "peft", "datasets", "accelerate", "bitsandbytes", "vllm"}
PAIRS = [(name, stage) for name in NAMES for stage in registry.load(name).capabilities().methods]
CPU = Machine(cores=2, memory=2**34)
CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "vocab_size": 8,
    "max_position_embeddings": 512,
}
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest) -> Backend:
    return registry.load(request.param)


@pytest.fixture
def model(base: Path) -> Path:
    (base / "config.json").write_text(json.dumps(CONFIG))
    (base / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    (base / "tokenizer.json").write_text("{}")
    return base


def spec_of(name: str, stage: str, files: dict[str, Path], **more: Any) -> RunSpec:
    given: dict[str, Any] = {"stage": stage, "backend": name, "name": "c", "model.path": str(files["model"])}
    judged = stage != "grpo" or registry.load(name).capabilities().reward_functions
    if stage in TRAINING_STAGES and judged:
        given["data.train"] = str(files["data"])
    if stage == "grpo":
        given |= {"rl.reward": [f"{files['reward']}:score"]} if judged else {"task.name": "qa"}
    if stage == "eval":
        given["data.eval"] = str(files["data"])
    if stage == "merge":
        given |= {"model.path": None, "from": ["parent"]}
    return resolve(Recipe(None, "", None, ({k: Value(v, "test") for k, v in (given | more).items()},)), 0, {}).spec


def job_of(run_dir: Path, stage: str, files: dict[str, Path], machine: Machine = CPU) -> Job:
    adapter = str(files["adapter"]) if stage == "merge" else None
    probe = str(files["model"] / "probe.json") if stage == "verify" else None
    start = ModelRef(label="base", path=str(files["model"]), adapter=adapter, probe=probe)
    return Job(run_dir=run_dir, model=start, compare=(start,) if stage == "eval" else (), machine=machine, rows=2)


@pytest.fixture
def files(model: Path, write: Write, reward: Path) -> dict[str, Path]:
    adapter = write("adapter/adapter_config.json", json.dumps({"peft_type": "LORA", "r": 8, "lora_alpha": 16}))
    write("adapter/adapter_model.safetensors", (model / "model.safetensors").read_bytes())
    turns = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]
    row = {"messages": turns, "prompt": "1+1?", "answer": "2", "chosen": "2", "rejected": "3"}
    return {"model": model, "adapter": adapter.parent, "reward": reward, "data": write("rows.jsonl", [row, row])}


def made(name: str, stage: str, files: dict[str, Path], run_dir: Path) -> Native:
    return registry.load(name).materialize(spec_of(name, stage, files), job_of(run_dir, stage, files))


def tree(folder: Path) -> dict[str, int]:
    return {str(p): p.stat().st_mtime_ns for p in folder.rglob("*")}


def test_backends_are_found() -> None:
    assert {"fake", "hf", "trl"} <= set(NAMES)
    assert [registry.load(name).name for name in NAMES] == NAMES


def test_the_port_is_implemented(backend: Backend) -> None:
    assert backend.summary
    assert isinstance(backend.capabilities(), Capabilities)
    lock = backend.lock()
    assert lock is None or isinstance(lock, EnvLock)


def test_capabilities_agree_with_the_stages(backend: Backend) -> None:
    able = backend.capabilities()
    assert able.methods
    assert "none" in able.sharding
    for stage, methods in able.methods.items():
        assert stage in get_args(Stage)
        assert bool(methods) == (stage in TRAINING_STAGES), "training has methods, merge and eval have none"


def test_an_environment_has_its_locks(backend: Backend) -> None:
    lock = backend.lock()
    if lock is None:
        pytest.skip("runs in the core's own interpreter")
    for variant in ("cpu.lock", "cuda.lock"):
        text = (lock.folder / variant).read_text()
        assert "==" in text
        assert text.count("--hash=sha256:") >= text.count("==") / 2
        assert "://" not in text, "a lock names no host"
    assert (lock.folder / "torch.txt").is_file()


def test_the_worker_reports_through_the_harness(backend: Backend) -> None:
    assert "Harness(" in (ROOT / "backends" / backend.name / "worker.py").read_text()


def test_no_framework_is_imported_by_an_adapter(backend: Backend) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import backends.{backend.name}.adapter; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & FRAMEWORKS


@pytest.mark.parametrize(("name", "stage"), PAIRS)
def test_a_sound_stage_has_no_error(name: str, stage: str, files: dict[str, Path], work: Path) -> None:
    found = registry.load(name).check(spec_of(name, stage, files), job_of(work / "r", stage, files))
    assert errors(found) == []


@pytest.mark.parametrize(("name", "stage"), PAIRS)
def test_materialize_is_pure_and_deterministic(name: str, stage: str, files: dict[str, Path], work: Path) -> None:
    before, variables = tree(work), dict(os.environ)
    assert made(name, stage, files, work / "r") == made(name, stage, files, work / "r")
    assert tree(work) == before
    assert dict(os.environ) == variables


@pytest.mark.parametrize(("name", "stage"), PAIRS)
def test_everything_lies_below_the_run(name: str, stage: str, files: dict[str, Path], work: Path) -> None:
    native = made(name, stage, files, work / "r")
    assert native.expected
    assert native.files
    for file in native.files:
        assert file.path.startswith("native/")
        assert ".." not in Path(file.path).parts
    for one in native.expected:
        assert one.path.startswith("artifacts/")
    assert str(work / "r" / native.files[0].path) in native.launch.args
    ours = f"backends.{name}.worker"
    if native.launch.module == ours:
        text = (ROOT / "backends" / name / "worker.py").read_text()
        assert '__name__ == "__main__"' in text
        assert "Harness().main(" in text
    else:
        assert ours in native.files[0].content, "the engine's own main has our frame inside"


@pytest.mark.parametrize(("name", "stage"), PAIRS)
def test_another_run_folder_changes_paths_only(name: str, stage: str, files: dict[str, Path], work: Path) -> None:
    one, two = (made(name, stage, files, work / folder) for folder in ("r1", "r2"))
    moved = [f.content.replace(str(work / "r1"), str(work / "r2")) for f in one.files]
    assert moved == [f.content for f in two.files]


@pytest.mark.parametrize(("name", "stage"), PAIRS)
def test_an_artifact_is_of_the_kind_that_the_method_leaves(
    name: str, stage: str, files: dict[str, Path], work: Path
) -> None:
    for method in registry.load(name).capabilities().methods[stage] or ("lora",):  # type: ignore[index]
        spec = spec_of(name, stage, files, method=method) if stage in TRAINING_STAGES else spec_of(name, stage, files)
        (one,) = registry.load(name).materialize(spec, job_of(work / "r", stage, files)).expected
        trained = "model" if method == "full" else "adapter"
        assert one.kind == {"merge": "model", "eval": "report", "verify": "report"}.get(stage, trained)


@pytest.mark.parametrize(("name", "stage"), PAIRS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"model.path": "/no/such/model"},
        {"model.path": "org/some-name"},
        {"native.no_such_key": 1},
        {"native.no_such_section.deep.key": [1]},
        {"hardware.processes": 64, "hardware.sharding": "fsdp2"},
        {"hardware.processes": 2, "hardware.sharding": "ddp"},
        {"model.dtype": "float16", "model.attention": "flash_attention_3"},
        {"model.trust_remote_code": True},
    ],
    ids=str,
)
def test_an_impossible_spec_gives_findings_and_never_raises(
    name: str, stage: str, wrong: dict[str, Any], files: dict[str, Path], work: Path
) -> None:
    files = files | ({"model": Path(wrong["model.path"])} if "model.path" in wrong else {})
    more = {k: v for k, v in wrong.items() if not (stage == "merge" and k == "model.path")}
    spec = spec_of(name, stage, files, **more)
    gpu = Machine(cores=2, memory=2**34, gpus=(Gpu(name="T4", memory=2**34, capability=7.5),))
    for machine in (CPU, gpu):
        found = registry.load(name).check(spec, job_of(work / "r", stage, files, machine))
        assert all(isinstance(f, Finding) and f.message for f in found)
        if any(k.startswith("native") for k in wrong):
            assert errors(found), "an unknown native key is refused"
    assert not (work / "r").exists()


@pytest.mark.parametrize("name", NAMES)
def test_one_process_starts_python_itself_and_several_torchrun(name: str) -> None:
    from orchestrator.backend import LaunchSpec

    launch = LaunchSpec(module=f"backends.{name}.worker", args=("f",))
    assert launchers.argv(Path("/py"), launch) == ("/py", "-m", f"backends.{name}.worker", "f")
    several = launchers.argv(Path("/py"), launch.model_copy(update={"processes": 2}))
    assert several[:4] == ("/py", "-m", "torch.distributed.run", "--standalone")
    assert several[-4:] == ("--nproc-per-node=2", "-m", f"backends.{name}.worker", "f")


def test_processes_are_started_in_one_place_only() -> None:
    """By AST: a linter of imports can't tell a standard module's users apart."""
    users = set()
    for path in (*ROOT.glob("orchestrator/**/*.py"), *ROOT.glob("backends/**/*.py"), *ROOT.glob("data_prep/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.partition(".")[0] for name in names} & {"subprocess", "multiprocessing", "pty"}:
                users.add(str(path.relative_to(ROOT)))
    assert users == {"orchestrator/process.py", "data_prep/pool.py"}, "a pool of preparation is no engine"
