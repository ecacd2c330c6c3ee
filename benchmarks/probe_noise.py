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
    heads = ("other kernel", "merged", "from float32", "no adapter", "from 4 bits", "from 8 bits")
    print("nats, worst token and mean\n" + f"{'dtype':<10}" + "".join(f"{head:>22}" for head in heads))
    whole = measured(model, "float32")
    for dtype in _DTYPES:
        plain = measured(model, dtype)
        found = (
            apart(plain, measured(model, dtype, attention="eager")),
            apart(measured(model, dtype, adapter=True), measured(model, dtype, adapter=True, merged=True)),
            apart(whole, plain),
            apart(plain, measured(model, dtype, adapter=True)),
            *(apart(plain, measured(model, dtype, bits=bits)) for bits in (4, 8)),
        )
        print(f"{dtype:<10}" + "".join(f"{worst:>12.1e} {mean:>9.1e}" for worst, mean in found))


def measured(
    folder: Path,
    dtype: str,
    *,
    attention: str = "sdpa",
    adapter: bool = False,
    merged: bool = False,
    bits: int | None = None,
) -> Any:
    """The probe of a model, with an adapter of fixed random weights on every linear layer if asked.

    Args:
        bits: 4 or 8 that bitsandbytes stores linear layers in; None for as they are.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    kind, more = getattr(torch, dtype), {}
    if bits == 4:
        settings = {"bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": kind, "bnb_4bit_use_double_quant": True}
        more = {"quantization_config": BitsAndBytesConfig(load_in_4bit=True, **settings)}
    elif bits == 8:
        more = {"quantization_config": BitsAndBytesConfig(load_in_8bit=True)}
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=kind, attn_implementation=attention, **more)
    if adapter:
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(0)
        config = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", init_lora_weights=False)
        model = get_peft_model(model, config)
        model = model.merge_and_unload() if merged else model
    return probe.measure(model, AutoTokenizer.from_pretrained(folder))


if __name__ == "__main__":
    main()
