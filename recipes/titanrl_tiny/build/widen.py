"""Give the quickstart's model attention heads of 32 dimensions, which vLLM needs on a CPU, without changing one answer.

    python widen.py ../../quickstart/model ../model        (torch and safetensors; a second)

The new dimensions are zeros. Three things keep the function what it was. The rotary frequencies of 16 dimensions are
every second of those of 32, so old pairs go where their frequency is. The mean square of a head halves, so queries and
keys grow by sqrt(2), and the weights of their norms shrink by it. Attention divides by sqrt(32) instead of sqrt(16), so
the norm of the queries grows by sqrt(2) again.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

OLD, NEW = 16, 32
ROTARY = torch.tensor([2 * i if i < OLD // 2 else 2 * i - OLD + NEW // 2 for i in range(OLD)])
"""Where each old dimension of a query or key goes: pairs are (i, i + half), and pair i turns at base^(-i / half)."""
PLAIN = torch.arange(OLD)


def main() -> None:
    """Read one folder, write the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of the quickstart's model")
    parser.add_argument("output", type=Path, help="folder to make")
    given = parser.parse_args()
    if given.output.exists():
        sys.exit(f"{given.output} exists: name a folder that doesn't, or remove it first")
    shutil.copytree(given.model, given.output, ignore=shutil.ignore_patterns("*.safetensors"))
    config = json.loads((given.model / "config.json").read_text(encoding="utf-8"))
    (given.output / "config.json").write_text(json.dumps(config | {"head_dim": NEW}, indent=2) + "\n", encoding="utf-8")
    tensors = {name: widened(name, tensor) for name, tensor in load_file(given.model / "model.safetensors").items()}
    save_file(tensors, given.output / "model.safetensors", metadata={"format": "pt"})


def widened(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor of the wider model; what attention has no part in stays."""
    kind = name.split(".")[-2]
    if kind in ("q_proj", "k_proj"):
        return spread(tensor, ROTARY, 0) * math.sqrt(NEW / OLD)
    if kind == "q_norm":
        return spread(tensor, ROTARY, 0)
    if kind == "k_norm":
        return spread(tensor, ROTARY, 0) / math.sqrt(NEW / OLD)
    if kind == "v_proj":
        return spread(tensor, PLAIN, 0)
    if kind == "o_proj":
        return spread(tensor, PLAIN, 1)
    return tensor


def spread(tensor: torch.Tensor, places: torch.Tensor, side: int) -> torch.Tensor:
    """Each head's 16 numbers along one side to their places among 32, zeros between."""
    heads = tensor.shape[side] // OLD
    index = (torch.arange(heads)[:, None] * NEW + places).flatten()
    shape = list(tensor.shape)
    shape[side] = heads * NEW
    return torch.zeros(shape, dtype=tensor.dtype).index_copy(side, index, tensor)


if __name__ == "__main__":
    main()
