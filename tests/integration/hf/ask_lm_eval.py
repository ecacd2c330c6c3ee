"""lm-eval by hand: ask_lm_eval.py MODEL TASK_FOLDER TASK... prints what it finds, without a word of ours between."""

from __future__ import annotations

import json
import os
import sys

import lm_eval
from lm_eval.tasks import TaskManager

model, folder, *tasks = sys.argv[1:]
os.chdir(folder)
told = lm_eval.simple_evaluate(
    model="hf",
    model_args={"pretrained": model, "dtype": "float32"},
    device="cpu",
    batch_size=1,
    tasks=tasks,
    task_manager=TaskManager(include_path=folder, include_defaults=False),
    bootstrap_iters=0,
)
print(json.dumps({name: {k: v for k, v in found.items() if "," in k} for name, found in told["results"].items()}))
