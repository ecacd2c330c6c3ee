"""Merge an adapter with PEFT alone: peft_merge.py MODEL ADAPTER OUTPUT"""

from __future__ import annotations

import sys
from pathlib import Path

from peft import PeftModel
from transformers import AutoModelForCausalLM


def main() -> None:
    """Load, merge, save."""
    model, adapter, output = sys.argv[1:]
    (found,) = Path().glob(adapter)
    merged = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(model), str(found)).merge_and_unload()
    merged.save_pretrained(output)


if __name__ == "__main__":
    main()
