"""Eval's batched generation against a one-at-a-time loop: $(post-train backends path hf) -m benchmarks.eval_speed

The same model, items, limits and end tokens, in float32; both must give the same answers. Says how many times faster
the batches are, at several sizes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, GenerationConfig

from backends.trainer import items, prompts
from backends.trainer.generate import Answer, Ids, answers

QUICKSTART = Path(__file__).resolve().parent.parent / "recipes" / "quickstart"


def one_by_one(model: Any, asked: list[Ids], ends: frozenset[int], pad: int, new: int) -> list[Answer]:
    """The loop that people write: one prompt, one call, in the order of the file."""
    config = GenerationConfig(do_sample=False, max_new_tokens=new, eos_token_id=sorted(ends), pad_token_id=pad)
    found = []
    for ids in asked:
        row = torch.tensor([ids], device=model.device)
        with torch.inference_mode():
            output = model.generate(row, attention_mask=torch.ones_like(row), generation_config=config)
        written = output[0, len(ids) :].tolist()
        ended = bool(written) and written[-1] in ends
        found.append(Answer(tuple(written[:-1] if ended else written), ended, len(written)))
    return found


def timed(work: Callable[[], list[Answer]]) -> tuple[float, list[Answer]]:
    """Seconds, and what came out."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=QUICKSTART / "model")
    parser.add_argument("--data", type=Path, default=QUICKSTART / "data" / "held_out.jsonl")
    parser.add_argument("--items", type=int, default=256)
    parser.add_argument("--max-new-tokens", type=int, default=16)
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[8, 32, 128, 256])
    given = parser.parse_args()
    reader = prompts.reader(given.model, None, trust=False, options={})
    asked = prompts.render(reader, items.read(given.data, needs_answer=False, limit=given.items), {})
    model: Any = AutoModelForCausalLM.from_pretrained(given.model, dtype=torch.float32, local_files_only=True)
    model = model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
    pad, new = min(reader.ends), given.max_new_tokens
    one_by_one(model, asked[:4], reader.ends, pad, new)
    single, wanted = timed(lambda: one_by_one(model, asked, reader.ends, pad, new))
    tokens = sum(answer.generated for answer in wanted)
    print(f"{len(asked)} items, {tokens} tokens, {torch.get_num_threads()} threads, {model.device}")
    print(f"one at a time   {single:8.2f} s  {tokens / single:8.0f} tokens/s")
    for size in given.batch_sizes:
        how: dict[str, Any] = {"ends": reader.ends, "pad": pad, "batch_size": size, "max_new_tokens": new}
        seconds, found = timed(lambda how=how: answers(model, asked, progress=lambda _: None, **how))  # type: ignore[misc]
        same = "the same answers" if found == wanted else "OTHER ANSWERS"
        print(
            f"batches of {size:<4} {seconds:8.2f} s  {tokens / seconds:8.0f} tokens/s  x{single / seconds:5.1f}  {same}"
        )
        if found != wanted:
            sys.exit(1)


if __name__ == "__main__":
    main()
