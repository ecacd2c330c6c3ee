"""Faults of a saved adapter: most come from a save that goes wrong in the engine, which a patched save stands for."""

from __future__ import annotations

from benchmarks.engine_faults.fault import Act, Fault
from benchmarks.engine_faults.scene import Scene, recipe

_SAVE = """
import safetensors.torch
true = safetensors.torch.save_file

def save(tensors, filename, metadata=None):
    if str(filename).endswith("adapter_model.safetensors"):
        tensors = {change}
    return true(tensors, filename, metadata)

safetensors.torch.save_file = save
"""
_SFT = ("sft", "--recipe", "sft.yaml", "--name", "again", "--env", "engine")
_BARE = ("peft_chain.py", "model", "out")


def _saving(change: str) -> Act:
    """Damage: the engine saves an adapter's tensors changed."""
    return lambda scene: scene.engine(_SAVE.format(change=change))


def _sound(scene: Scene) -> None:
    scene.engine("")


def _with_embeddings(scene: Scene) -> None:
    _sound(scene)
    recipe("sft", lora__modules_to_save=["embed_tokens"])(scene)


def _other_base(scene: Scene) -> None:
    """Every weight of the base moved a little: the same shapes, another model."""
    path = scene.folder / "model" / "model.safetensors"
    content = bytearray(path.read_bytes())
    for place in range(len(content) - 40_000, len(content), 4):
        content[place] ^= 0x40
        content[place + 2] ^= 0x20
    path.write_bytes(bytes(content))


def _engine(key: str, what: str, change: str, named: str) -> Fault:
    return Fault(key, what, _SFT, _saving(change), named, prepare=_sound, bare=_BARE)


def _renamed(prefix: str) -> str:
    return f"{{k.replace('model.layers', '{prefix}.model.layers'): v for k, v in tensors.items()}}"


FAULTS = (
    _engine("A1a", "keys carry torch.compile's prefix", _renamed("_orig_mod"), "_orig_mod"),
    _engine(
        "A1b", "keys carry a checkpoint wrapper's prefix", _renamed("_checkpoint_wrapped_module"), "_checkpoint_wrapped"
    ),
    _engine("A1c", "keys carry FSDP's prefix", _renamed("_fsdp_wrapped_module"), "_fsdp_wrapped"),
    _engine("A2a", "tensors saved flat", "{k: v.flatten().clone() for k, v in tensors.items()}", "trained with shape"),
    _engine("A2b", "tensors saved empty", "{k: v[:0].clone() for k, v in tensors.items()}", "without elements"),
    _engine(
        "A3a",
        "half the rank is saved",
        "{k: (v[:4] if 'lora_A' in k else v[:, :4]).clone() for k, v in tensors.items()}",
        "trained with shape",
    ),
    _engine("A5", "half the keys are not saved", "dict(list(tensors.items())[::2])", "were not written"),
    _engine(
        "A6", "lora_B is all zero", "{k: v * 0 if 'lora_B' in k else v for k, v in tensors.items()}", "never trained"
    ),
    _engine("A9", "a tensor holds NaN", "{k: v * float('nan') for k, v in tensors.items()}", "NaN"),
    Fault(
        "A4",
        "target names match nothing in the base",
        ("sft", "--recipe", "sft.yaml", "--name", "again"),
        recipe("sft", lora__target_modules=["language_model.q_proj_x"]),
        r"lora\.no_target|target",
        bare=("peft_chain.py", "model", "out", "language_model.q_proj_x"),
    ),
    Fault(
        "A7",
        "a module trained in full is not in the saved adapter",
        _SFT,
        _saving("{k: v for k, v in tensors.items() if 'embed_tokens' not in k and 'lm_head' not in k}"),
        "modules_to_save",
        prepare=_with_embeddings,
        bare=(*_BARE, "all-linear", "embed_tokens"),
    ),
    Fault(
        "A8",
        "merged onto another base of the same shapes",
        ("merge", "sft", "--name", "again"),
        _other_base,
        "started from",
        bare=("peft_merge.py", "model", "runs/sft-*/artifacts/adapter", "out"),
    ),
)
