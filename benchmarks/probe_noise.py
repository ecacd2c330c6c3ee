"""How far log-probabilities of one model lie apart between paths that mean the same: python -m benchmarks.probe_noise

Run by a Python with transformers and PEFT, e.g. `$(post-train backends path trl) -m benchmarks.probe_noise`. The
tolerances of a hand-off (backends/trainer/handoff.py) are chosen well above what is printed here, and well below what a
missing adapter does, which is printed for comparison.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from backends.trainer import probe
from backends.trainer.handoff import apart

MODEL = Path(__file__).resolve().parent.parent / "recipes" / "quickstart" / "model"
_DTYPES = ("float32", "bfloat16", "float16")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL, help="Folder with a model.")
    model = parser.parse_args().model
    heads = ("other kernel", "merged", "from float32", "no adapter")
    print("nats, worst token and mean\n" + f"{'dtype':<10}" + "".join(f"{head:>22}" for head in heads))
    whole = measured(model, "float32")
    for dtype in _DTYPES:
        plain = measured(model, dtype)
        found = (
            apart(plain, measured(model, dtype, attention="eager")),
            apart(measured(model, dtype, adapter=True), measured(model, dtype, adapter=True, merged=True)),
            apart(whole, plain),
            apart(plain, measured(model, dtype, adapter=True)),
        )
        print(f"{dtype:<10}" + "".join(f"{worst:>12.1e} {mean:>9.1e}" for worst, mean in found))


def measured(folder: Path, dtype: str, *, attention: str = "sdpa", adapter: bool = False, merged: bool = False) -> Any:
    """The probe of a model, with an adapter of fixed random weights on every linear layer if asked."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype), attn_implementation=attention)
    if adapter:
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(0)
        config = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", init_lora_weights=False)
        model = get_peft_model(model, config)
        model = model.merge_and_unload() if merged else model
    return probe.measure(model, AutoTokenizer.from_pretrained(folder))


if __name__ == "__main__":
    main()
