"""Every fault that PEFT or transformers would let pass, refused by name; the clean twin is in test_merge."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Outcome, Workshop, sft

pytestmark = pytest.mark.integration

ADAPTER_FAULTS = {
    "wrapper": "adapter.wrapper",
    "flattened": "adapter.shape",
    "hollow": "adapter.shape",
    "rank": "adapter.rank",
    "other_nesting": "adapter.no_match",
    "extra_layer": "adapter.unconsumed",
    "lost_layer": "adapter.incomplete",
    "untrained": "adapter.untrained",
    "nan": "adapter.nonfinite",
    "half": "adapter.unpaired",
    "saved_lost": "adapter.modules_to_save",
    "wide": "adapter.fit",
    "tiny": "merge.rounded_away",
    "huge": "merge.overflow",
}


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def quantise(base: Path, _: Path) -> None:
    edit(base / "config.json", quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True})


def truncate(base: Path, _: Path) -> None:
    weights = base / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])


def deepen(base: Path, _: Path) -> None:
    edit(base / "config.json", num_hidden_layers=3, layer_types=["full_attention"] * 3)


def empty(base: Path, _: Path) -> None:
    shutil.rmtree(base)


def other_base(base: Path, adapter: Path) -> None:
    edit(adapter / "adapter_config.json", base_model_name_or_path=str(base.parents[1] / "sibling"))


def gone_base(_: Path, adapter: Path) -> None:
    edit(adapter / "adapter_config.json", base_model_name_or_path="/gone/runs/sft-merge/artifacts/model")


def other_name(_: Path, adapter: Path) -> None:
    edit(adapter / "adapter_config.json", base_model_name_or_path="org/other")


def prefix_tuning(_: Path, adapter: Path) -> None:
    edit(adapter / "adapter_config.json", peft_type="PREFIX_TUNING")


def token_without_row(_: Path, adapter: Path) -> None:
    tokenizer = json.loads((adapter / "tokenizer.json").read_text())
    tokenizer["added_tokens"].append({**tokenizer["added_tokens"][0], "id": 259, "content": "<|new|>"})
    (adapter / "tokenizer.json").write_text(json.dumps(tokenizer))


FOLDER_FAULTS: dict[Callable[[Path, Path], None], str] = {
    quantise: "merge.quantised",
    truncate: "model.truncated",
    deepen: "model.random_weights",
    empty: "model.missing",
    other_base: "adapter.base",
    gone_base: "adapter.base",
    other_name: "adapter.base",
    prefix_tuning: "adapter.peft_type",
    token_without_row: "model.vocabulary",
}


@pytest.fixture(scope="module")
def refused(engine: str, zoo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """A merge for each fault, all in one process."""
    root = tmp_path_factory.mktemp("refused")
    shop = Workshop(engine, root)
    shop.script("break_adapter.py", zoo / "plain-lora", root / "adapters")
    runs = {
        fault: shop.prepare("merge", sft(zoo / "plain", root / "adapters" / fault), merge={"dtype": "float16"})
        for fault in ADAPTER_FAULTS
    }
    shutil.copytree(zoo / "sibling", root / "sibling")
    for fault in FOLDER_FAULTS:
        base, adapter = (
            Path(shutil.copytree(zoo / name, root / fault.__name__ / name)) for name in ("plain", "plain-lora")
        )
        edit(adapter / "adapter_config.json", base_model_name_or_path=str(base))
        fault(base, adapter)
        runs[fault.__name__] = shop.prepare("merge", sft(base, adapter))
    runs["existing"] = shop.prepare("merge", sft(zoo / "plain", zoo / "plain-lora"))
    (runs["existing"] / "artifacts" / "model").mkdir(parents=True)
    return dict(zip(runs, shop.finish(*runs.values()), strict=True))


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        *ADAPTER_FAULTS.items(),
        *((f.__name__, code) for f, code in FOLDER_FAULTS.items()),
        ("existing", "output.exists"),
    ],
)
def test_refused(refused: dict[str, Outcome], fault: str, code: str) -> None:
    assert refused[fault].error == code
    assert fault == "existing" or not (refused[fault].run / "artifacts" / "model").exists()
