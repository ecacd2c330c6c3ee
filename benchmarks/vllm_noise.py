"""How far vLLM's log-probabilities of a model lie from those of transformers: python -m benchmarks.vllm_noise

Run by a Python with both, e.g. `$(post-train backends path titanrl) -m benchmarks.vllm_noise`. A hand-off into vLLM has
the tolerances of any other (backends/trainer/handoff.py); what is printed here must lie well below them. `damaged` is
the same model with a tenth taken off one of its matrices, for comparison.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from backends.trainer.handoff import TOLERANCE, apart
from benchmarks.probe_noise import measured

MODEL = Path(__file__).resolve().parent.parent / "recipes" / "titanrl_tiny" / "model"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL, help="Folder with a model.")
    model = parser.parse_args().model
    heads = ("vllm", "damaged", "allowed")
    print("nats, worst token and mean\n" + f"{'dtype':<10}" + "".join(f"{head:>22}" for head in heads))
    for dtype, allowed in TOLERANCE.items():
        plain = measured(model, dtype)
        found = (apart(plain, by_vllm(model, dtype)), apart(plain, damaged(model, dtype)), allowed)
        print(f"{dtype:<10}" + "".join(f"{worst:>12.1e} {mean:>9.1e}" for worst, mean in found), flush=True)


def by_vllm(folder: Path, dtype: str) -> Any:
    """The probe as vLLM answers it."""
    from backends.hf.worker_contestants import Contestant
    from backends.hf.worker_vllm import opened
    from backends.trainer.prompts import reader
    from orchestrator.events import EventWriter

    one = Contestant("model", folder, None, False, reader(folder, None, trust=False, options={}), [], None)
    settings = {"dtype": dtype, "batch_size": 8, "temperature": 0.0, "top_p": 1.0, "seed": 0}
    with opened(one, settings, EventWriter(Path(os.devnull)), 128) as engine:
        return engine.measure()


def damaged(folder: Path, dtype: str) -> Any:
    """The probe of the model with a tenth taken off its first attention output."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder)
    name = next(n for n, _ in model.named_parameters() if n.endswith("o_proj.weight"))
    model.get_parameter(name).data *= 0.9
    with tempfile.TemporaryDirectory() as made:
        model.save_pretrained(made)
        AutoTokenizer.from_pretrained(folder).save_pretrained(made)
        return measured(Path(made), dtype)


if __name__ == "__main__":
    main()
