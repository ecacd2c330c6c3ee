"""Load a model with transformers alone and let it answer: load_model.py MODEL"""

from __future__ import annotations

import sys

from transformers import AutoModelForCausalLM, AutoTokenizer


def main() -> None:
    """Four tokens."""
    (model,) = sys.argv[1:]
    tokens = AutoTokenizer.from_pretrained(model)("What is 2+3", return_tensors="pt")
    AutoModelForCausalLM.from_pretrained(model).generate(input_ids=tokens.input_ids, max_new_tokens=4)


if __name__ == "__main__":
    main()
