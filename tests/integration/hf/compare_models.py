"""Prints, as JSON, how merged folders differ from base plus adapter: compare_models.py (BASE ADAPTER MERGED)...

An oracle of its own: PEFT merges in memory with merge_and_unload, and nothing of the backend is imported.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM


def logits(model: Any, ids: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        result: torch.Tensor = model(input_ids=ids).logits.float()
    return result


def compare(base: str, adapter: str, merged: str) -> dict[str, Any]:
    torch.manual_seed(3)
    ids = torch.randint(3, 259, (2, 40))
    load = AutoModelForCausalLM.from_pretrained
    plain = load(base, dtype=torch.float32).eval()
    before = logits(plain, ids)
    wanted = logits(PeftModel.from_pretrained(plain, adapter).eval(), ids)
    ours, stored = load(merged, dtype=torch.float32).eval(), load(merged, dtype="auto")
    theirs = PeftModel.from_pretrained(load(base, dtype=torch.float32), adapter).merge_and_unload()
    states = ours.state_dict(), theirs.state_dict()
    return {
        "difference": (logits(ours, ids) - wanted).abs().max().item(),
        "effect": (wanted - before).abs().max().item(),
        "unequal_weights": [name for name in states[1] if not torch.equal(states[0][name], states[1][name])],
        "dtypes": sorted({str(p.dtype) for p in stored.parameters()}),
        "parameters": sum(p.numel() for p in stored.parameters()),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    triples = zip(sys.argv[1::3], sys.argv[2::3], sys.argv[3::3], strict=True)
    print(json.dumps([compare(*triple) for triple in triples]))
