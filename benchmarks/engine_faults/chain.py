"""Faults at the start of a stage: not the model that the stage before it left."""

from __future__ import annotations

from benchmarks.engine_faults.fault import Act, Fault
from benchmarks.engine_faults.scene import Scene, edit, remove

_LOAD = """
import os

if os.environ.get("POST_TRAIN_RUN"):
    import torch
    from transformers import AutoModelForCausalLM
    true = AutoModelForCausalLM.from_pretrained.__func__
    calls = []

    def load(cls, *args, **kwargs):
        calls.append(args)
        loaded = true(cls, *({other} or args), **kwargs)
        model = loaded[0] if isinstance(loaded, tuple) else loaded
        with torch.no_grad():
            {change}
        return loaded

    AutoModelForCausalLM.from_pretrained = classmethod(load)
"""
_RL = ("rl", "--recipe", "rl.yaml", "--name", "again", "--env", "engine")
_DPO = ("rl", "--algorithm", "dpo", "--recipe", "dpo.yaml", "--name", "again", "--env", "engine")
_RESUME = ("run", "--resume", "killed")


def _loading(change: str) -> Act:
    """Damage: the weights that the engine loaded are changed before it trains."""
    return lambda scene: scene.engine(_LOAD.format(change=change, other=None))


def _sound(scene: Scene) -> None:
    scene.engine(_LOAD.format(change="pass", other=None))


def _base(scene: Scene) -> None:
    scene.engine(_LOAD.format(change="pass", other=(str(scene.folder / "model"),)))


_RANDOM = "[p.normal_(0, 0.02) for p in model.parameters()]"
_STALE = "model.model.layers[0].mlp.down_proj.weight.mul_(0.5)"

FAULTS = (
    Fault("C2", "RL loads the base in place of the SFT model", _RL, _base, "answers|handoff", prepare=_sound),
    Fault("C3", "the policy starts from random weights", _RL, _loading(_RANDOM), "answers|handoff", prepare=_sound),
    Fault("C6", "one layer of the policy is stale", _RL, _loading(_STALE), "answers|handoff", prepare=_sound),
    Fault("C8", "DPO's policy is not the SFT model", _DPO, _loading(_STALE), "answers|handoff", prepare=_sound),
    Fault(
        "C9",
        "the adapter's file changed between two stages",
        ("merge", "sft", "--name", "again"),
        edit("runs/sft-*/artifacts/adapter/adapter_config.json", lambda s: s.replace('"r": 8', '"r": 16')),
        "manifest records",
    ),
    Fault(
        "C10",
        "the adapter's weights are gone",
        ("merge", "sft", "--name", "again"),
        remove("runs/sft-*/artifacts/adapter/adapter_model.safetensors"),
        "manifest records|No such file|holds no",
    ),
    Fault(
        "C11",
        "the merged weights are gone",
        ("rl", "--recipe", "rl.yaml", "--name", "again"),
        remove("runs/merged-*/artifacts/model/*.safetensors"),
        "manifest records|No such file|has no weights",
    ),
)
