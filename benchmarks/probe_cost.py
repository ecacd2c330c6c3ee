"""What the probe costs: seconds to measure a model, and its share of a run: python -m benchmarks.probe_cost [--model M]

Run by a Python with transformers and PEFT, e.g. `$(post-train backends path trl) -m benchmarks.probe_cost`. The model
is measured as a trainer does it at the end of a stage, with an adapter on every linear layer and without one; beside it
stands the time of a training step, so that the ratio can be read off for any number of steps. `--layers` and `--hidden`
measure a random model of that size in place of the folder's weights.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backends.trainer import behaviour, deltas, lexicon, probe, sketch

MODEL = Path(__file__).resolve().parent.parent / "recipes" / "quickstart" / "model"
_RUN = 600
_ROWS, _TOKENS = 2, 256


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL, help="Folder with a model.")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--layers", type=int)
    parser.add_argument("--hidden", type=int)
    given = parser.parse_args()
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(given.model)
    sizes = {"num_hidden_layers": given.layers, "hidden_size": given.hidden, "vocab_size": 50_000}
    more = (
        {**sizes, "intermediate_size": 3 * given.hidden, "layer_types": ["full_attention"] * given.layers}
        if given.hidden
        else {}
    )
    config = AutoConfig.from_pretrained(given.model, **more)
    model = AutoModelForCausalLM.from_config(config) if more else AutoModelForCausalLM.from_pretrained(given.model)
    model = model.to(getattr(torch, given.dtype))
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} million parameters, {given.dtype}")
    plain = seconds(lambda: probe.measure(model, tokenizer))
    adapted = _adapted(model)
    whole = seconds(lambda: probe.measure(adapted, tokenizer))
    parts = {
        "tokenizer": seconds(lambda: lexicon.digests(tokenizer)),
        "weights": seconds(lambda: sketch.of(adapted)),
        "adapter": seconds(lambda: deltas.of(adapted)),
        "configuration": seconds(lambda: behaviour.of(adapted.config)),
    }
    step = seconds(lambda: _step(adapted))
    print(f"probe without adapter {plain:.2f} s, with {whole:.2f} s, of that {_shown(parts)}")
    print(f"training step of {_ROWS} x {_TOKENS} tokens {step:.2f} s: the probe costs {whole / step:.1f} steps")
    print(f"two measurements, at the start and at the end, of a run of {_RUN} s: {2 * whole / _RUN:.2%}")


def seconds(act: Callable[[], Any]) -> float:
    """The better of two."""
    found = []
    for _ in range(2):
        begun = time.perf_counter()
        act()
        found.append(time.perf_counter() - begun)
    return min(found)


def _adapted(model: Any) -> Any:
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", init_lora_weights=False))


def _step(model: Any) -> None:
    import torch

    ids = torch.randint(0, model.config.get_text_config().vocab_size, (_ROWS, _TOKENS))
    model(input_ids=ids, labels=ids).loss.backward()
    model.zero_grad()


def _shown(parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f} s" for name, value in parts.items())


if __name__ == "__main__":
    main()
