"""The merged model is the trained one, by an oracle that shares no code with the merge."""

from __future__ import annotations

import fcntl
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .conftest import Outcome, Workshop, sft

pytestmark = pytest.mark.integration

EXACT = (
    *("plain-lora", "plain-rslora", "plain-pattern", "plain-dora", "plain-saved"),
    *("tied-lora", "conv-lora", "wide-dora"),
)
LIGHT = (*EXACT, "sharded-lora")
RICH = ("tied-saved", "tied-embed", "conv-dora", "moe-experts")
OPTIONS: dict[str, dict[str, Any]] = {"sharded-lora": {"native": {"max_shard_bytes": 30_000}}}


@dataclass(frozen=True)
class Merged:
    """A merge and what the oracle says about it."""

    outcome: Outcome
    seen: dict[str, Any]

    @property
    def folder(self) -> Path:
        return model_of(self.outcome.run)

    def json(self, name: str) -> dict[str, Any]:
        return dict(json.loads((self.folder / name).read_text()))


def model_of(run: Path) -> Path:
    return run / "artifacts" / "model"


def base_of(zoo: Path, adapter: str) -> Path:
    return zoo / adapter.partition("-")[0]


@pytest.fixture(scope="module")
def merged(engine: str, zoo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Merged]:
    """Every adapter of the zoo merged, and `float32`, a bf16 base merged into another dtype."""
    shop = Workshop(engine, tmp_path_factory.mktemp("merged"))
    jobs = {name: (name, OPTIONS.get(name, {})) for name in (*LIGHT, *RICH)}
    jobs["float32"] = ("sharded-lora", {"merge": {"dtype": "float32"}})
    own = Path(shutil.copytree(zoo / "plain-lora", zoo / "plain-template"))
    (own / "chat_template.jinja").write_text("{{ messages[0].content }}")
    jobs[own.name] = (own.name, {})
    runs = [shop.prepare("merge", sft(base_of(zoo, a), zoo / a), **parts) for a, parts in jobs.values()]
    outcomes = shop.finish(*runs)
    assert [o.code for o in outcomes] == [0] * len(runs), outcomes[0].stderr
    triples = [
        p for (a, _), run in zip(jobs.values(), runs, strict=True) for p in (base_of(zoo, a), zoo / a, model_of(run))
    ]
    seen = json.loads(shop.script("compare_models.py", *triples))
    return {name: Merged(o, s) for name, o, s in zip(jobs, outcomes, seen, strict=True)}


@pytest.mark.parametrize("adapter", [*EXACT, "float32"])
def test_streaming_gives_the_bits_of_peft(merged: dict[str, Merged], adapter: str) -> None:
    one = merged[adapter]
    assert one.outcome.of("step")
    assert one.seen["unequal_weights"] == []
    assert one.seen["difference"] < 1e-4 < 0.5 < one.seen["effect"]


@pytest.mark.parametrize("adapter", RICH)
def test_richer_adapters_go_through_peft(merged: dict[str, Merged], adapter: str) -> None:
    one = merged[adapter]
    assert one.outcome.of("step") == []
    assert one.seen["difference"] < 1e-4 < 0.5 < one.seen["effect"]


@pytest.mark.parametrize("adapter", [*LIGHT, *RICH, "float32"])
def test_the_proof_is_recorded(merged: dict[str, Merged], adapter: str) -> None:
    metrics = merged[adapter].outcome.metrics
    assert metrics["max_abs_logit_difference"] <= metrics["logit_tolerance"]
    assert metrics["error_share_of_effect"] < (0.05 if adapter == "sharded-lora" else 1e-4)
    assert metrics["adapter_logit_effect"] > 0.5
    assert metrics["merged_tensors"] > 0


def test_tied_weights_stay_tied_until_the_adapter_parts_them(merged: dict[str, Merged]) -> None:
    flags = {name: merged[name].json("config.json")["tie_word_embeddings"] for name in ("tied-lora", "tied-saved")}
    assert flags == {"tied-lora": True, "tied-saved": False}
    sizes = [(merged[name].folder / "model.safetensors").stat().st_size for name in flags]
    assert sizes[1] - sizes[0] > 259 * 32 * 4 * 0.99


def test_sharded_bf16_keeps_its_dtype_and_has_a_true_index(merged: dict[str, Merged]) -> None:
    one = merged["sharded-lora"]
    index = one.json("model.safetensors.index.json")
    shards = sorted(set(index["weight_map"].values()))
    assert len(shards) > 1
    assert shards == sorted(p.name for p in one.folder.glob("*.safetensors"))
    assert one.seen["dtypes"] == ["torch.bfloat16"]
    assert index["metadata"]["total_size"] == 2 * one.seen["parameters"]
    assert one.json("config.json")["dtype"] == "bfloat16"


def test_a_chosen_dtype_is_stored_and_declared(merged: dict[str, Merged]) -> None:
    assert merged["float32"].seen["dtypes"] == ["torch.float32"]
    assert merged["float32"].json("config.json")["dtype"] == "float32"


def test_the_end_token_of_the_training_ends_generation(merged: dict[str, Merged]) -> None:
    assert merged["plain-lora"].json("generation_config.json")["eos_token_id"] == [0, 2]


def test_tokenizer_and_template_of_the_training_are_carried_over(merged: dict[str, Merged], zoo: Path) -> None:
    folder, adapter = merged["plain-template"].folder, zoo / "plain-template"
    for name in ("chat_template.jinja", "tokenizer.json", "tokenizer_config.json"):
        assert (folder / name).read_bytes() == (adapter / name).read_bytes()
    assert not (folder / "adapter_config.json").exists()


def test_a_kill_leaves_nothing_that_looks_finished(shop: Workshop, zoo: Path) -> None:
    """SIGKILL once a shard is on disk; then the same run starts again and ends well."""
    run = shop.prepare("merge", sft(zoo / "sharded", zoo / "sharded-lora"), native={"max_shard_bytes": 1000})
    partial = run / "artifacts" / ".partial-model"
    with (run / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with shop.start(run) as worker:
            while not list(partial.glob("*.safetensors")):
                assert worker.poll() is None
                time.sleep(0.001)
            worker.kill()
            worker.communicate()
    assert partial.exists()
    assert not model_of(run).exists()
    (run / "attempts" / "001" / "events.jsonl").unlink()
    (again,) = shop.finish(run)
    assert again.metrics
    assert not partial.exists()
    assert (model_of(run) / "config.json").exists()
