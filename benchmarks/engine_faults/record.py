"""Faults of configuration, text and records around the weights, and of what a stopped run left."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from benchmarks.engine_faults.fault import Act, Fault
from benchmarks.engine_faults.scene import Scene, edit, remove

_KEEP = """
from {module} import {kind}
true = {kind}.save_pretrained

def save(self, *args, **kwargs):
    kept = self.{name}
    self.{name} = {value}
    try:
        return true(self, *args, **kwargs)
    finally:
        self.{name} = kept

{kind}.save_pretrained = save
"""
_SWAP = """
from transformers import PreTrainedModel
true = PreTrainedModel.save_pretrained

def save(self, *args, **kwargs):
    turn = {"layers.0.": "layers.1.", "layers.1.": "layers.0."}
    swapped = {}
    for name, tensor in self.state_dict().items():
        part = next((p for p in turn if p in name), None)
        swapped[name.replace(part, turn[part]) if part else name] = tensor
    return true(self, *args, **{**kwargs, "state_dict": swapped})

PreTrainedModel.save_pretrained = save
"""
_LOAD = """
import os
from transformers import {kind}
true = {kind}.from_pretrained.__func__

def load(cls, *args, **kwargs):
    loaded = true(cls, *args, **kwargs)
    it = loaded[0] if isinstance(loaded, tuple) else loaded
    if os.environ.get("POST_TRAIN_RUN"):
        {change}
    return loaded

{kind}.from_pretrained = classmethod(load)
"""
_SFT = ("sft", "--recipe", "sft.yaml", "--name", "again", "--env", "engine")
_FULL = ("sft", "--recipe", "full.yaml", "--name", "again", "--env", "engine")
_RL = ("rl", "--recipe", "rl.yaml", "--name", "again", "--env", "engine")
_VERIFY = ("verify", "merged", "--name", "again")
_RESUME = ("run", "--resume", "stopped")
_PEFT = ("peft_chain.py", "model", "out")


def _sound(scene: Scene) -> None:
    scene.engine("")


def _saving(module: str, kind: str, name: str, value: str) -> Act:
    """Damage: what the engine saves has another value of one attribute."""
    return lambda scene: scene.engine(_KEEP.format(module=module, kind=kind, name=name, value=value))


def _loading(kind: str, change: str) -> Act:
    """Damage: what the engine loaded is changed before it is used."""
    return lambda scene: scene.engine(_LOAD.format(kind=kind, change=change))


def _meanwhile(scene: Scene) -> None:
    """The rows change after they were looked at, while the engine imports."""
    rows = str(scene.folder / "prompts.jsonl")
    scene.engine(f"import os\nif os.environ.get('POST_TRAIN_RUN'):\n    open({rows!r}, 'a').write('\\n')\n")


def _checkpoints(scene: Scene) -> list[Path]:
    return list(scene.run("stopped").glob("checkpoints/checkpoint-*"))


def _other_weights(scene: Scene) -> None:
    """One bit of every checkpoint's weights."""
    for checkpoint in _checkpoints(scene):
        path = checkpoint / "adapter_model.safetensors"
        content = bytearray(path.read_bytes())
        content[-2] ^= 0x40
        path.write_bytes(bytes(content))


def _foreign(scene: Scene) -> None:
    """A checkpoint of another run, with a higher number."""
    newest = max(_checkpoints(scene), key=lambda p: int(p.name.partition("-")[2]))
    number = int(newest.name.partition("-")[2])
    later = shutil.copytree(newest, newest.with_name(f"checkpoint-{number + 1}"))
    state = json.loads((later / "trainer_state.json").read_text(encoding="utf-8"))
    (later / "trainer_state.json").write_text(json.dumps(state | {"global_step": number + 1}), encoding="utf-8")


_PROMPT = (
    "it.chat_template = it.chat_template.replace(\"{{- '<|im_start|>assistant\\\\n' }}\", \"{{- '<|im_start|>' }}\")"
)

FAULTS = (
    Fault(
        "A10a",
        "alpha is saved doubled",
        _SFT,
        _saving("peft.config", "PeftConfigMixin", "lora_alpha", "kept * 2"),
        "lora_alpha trained as",
        prepare=_sound,
        bare=_PEFT,
    ),
    Fault(
        "A10b",
        "the scale is saved as another kind",
        _SFT,
        _saving("peft.config", "PeftConfigMixin", "use_rslora", "True"),
        "use_rslora trained as",
        prepare=_sound,
        bare=_PEFT,
    ),
    Fault(
        "T9",
        "the chat template is saved with one more space",
        _SFT,
        _saving("transformers", "PreTrainedTokenizerBase", "chat_template", "kept and kept + ' '"),
        "read back, the chat template",
        prepare=_sound,
        bare=("trl_sft.py", "model", "sft.jsonl"),
    ),
    Fault(
        "M8",
        "two layers are saved in each other's place",
        _FULL,
        lambda scene: scene.engine(_SWAP),
        "numbers written",
        prepare=_sound,
    ),
    Fault(
        "M9",
        "the base of the positions is saved as another",
        _FULL,
        _saving("transformers", "PretrainedConfig", "rope_parameters", "{**kept, 'rope_theta': 123.0}"),
        "rope_theta was",
        prepare=_sound,
    ),
    Fault(
        "C12",
        "RL loads weights that are off by 1 in 10,000",
        _RL,
        _loading("AutoModelForCausalLM", "[p.data.mul_(1.0001) for p in it.parameters()]"),
        r"handoff\.",
        prepare=_sound,
    ),
    Fault(
        "C13",
        "RL's tokenizer has a token more",
        _RL,
        _loading("AutoTokenizer", "it.add_tokens(['spectrum'])"),
        r"handoff\.tokenizer",
        prepare=_sound,
    ),
    Fault(
        "C14",
        "RL's prompts begin an answer otherwise",
        _RL,
        _loading("AutoTokenizer", _PROMPT),
        r"handoff\.",
        prepare=_sound,
    ),
    Fault(
        "C15",
        "RL ends answers at another token",
        _RL,
        _loading("AutoModelForCausalLM", "it.generation_config.eos_token_id = 5"),
        r"handoff\.stops",
        prepare=_sound,
    ),
    Fault(
        "C16",
        "positions are cut short in memory",
        _RL,
        _loading("AutoModelForCausalLM", "it.config.max_position_embeddings = 128"),
        r"handoff\.config",
        prepare=_sound,
    ),
    Fault(
        "C17",
        "one normalisation computes otherwise, by less than noise",
        _RL,
        _loading("AutoModelForCausalLM", "it.model.norm.variance_epsilon = 1e-5"),
        r"handoff\.",
        prepare=_sound,
    ),
    Fault("P1", "the probe is gone", _VERIFY, remove("runs/merged-*/probe.json"), "the probe of .* is gone"),
    Fault(
        "P2",
        "the probe is edited",
        _VERIFY,
        edit("runs/merged-*/probe.json", lambda s: s.replace('"quantized": false', '"quantized": true')),
        "not the one that its manifest records",
    ),
    Fault("P3", "the rows change while the engine starts", _RL, _meanwhile, "changed since", prepare=_sound),
    Fault("C4a", "a stopped run's weights have another bit", _RESUME, _other_weights, "not as saved", mends=True),
    Fault("C4b", "a checkpoint that another run saved", _RESUME, _foreign, "never told", mends=True),
    Fault(
        "C5",
        "a stopped run's configuration is edited",
        _RESUME,
        edit("runs/stopped-*/native/sft.yaml", lambda s: s.replace("learning_rate: 0.001", "learning_rate: 0.1")),
        "changed since the run was started",
    ),
)
