"""Method and adapter."""

from __future__ import annotations

from typing import Any

from backends.axolotl.mapping import SAME, TRANSLATED, WHERE_SET
from backends.axolotl.reading import Reading

_ADAPTER = (
    *(theirs for setting, theirs in (SAME | WHERE_SET).items() if setting.startswith("lora.")),
    *TRANSLATED["lora.target_modules"],
)
_OPEN = "neither lora_target_modules nor lora_target_linear in the original: Axolotl decides"


def translate(reading: Reading) -> None:
    """`stage` and `method`, and `lora:` where there is an adapter."""
    adapter = reading.take("adapter")
    reading.put("stage", "sft")
    reading.put("method", adapter or "full", key="adapter")
    bits = {key: reading.take(key) for key in ("load_in_4bit", "load_in_8bit")}
    if not adapter:
        for key in [key for key in _ADAPTER if key in reading.given]:
            reading.leave(key, "without an adapter it has no effect")
        return
    for key, value in bits.items():
        if value and not (adapter == "qlora" and key == "load_in_4bit"):
            reading.put(f"native.{key}", True, key=key)
    _lora(reading)


def _lora(reading: Reading) -> None:
    for setting, key in (("lora.r", "lora_r"), ("lora.alpha", "lora_alpha")):
        value = reading.take(key)
        reading.put(f"native.{key}" if value is None else setting, value, key=key)
    reading.put("lora.dropout", float(reading.take("lora_dropout") or 0.0), key="lora_dropout")
    if saved := reading.take("lora_modules_to_save"):
        reading.put("lora.modules_to_save", saved, key="lora_modules_to_save")
    if reading.take("peft_use_rslora"):
        reading.put("lora.use_rslora", True, key="peft_use_rslora")
    _targets(reading, reading.take("lora_target_modules"), bool(reading.take("lora_target_linear")))


def _targets(reading: Reading, modules: Any, linear: bool) -> None:
    """Axolotl adds what it finds with `lora_target_linear` to the modules named."""
    if modules:
        reading.put("lora.target_modules", modules, key="lora_target_modules")
        if linear:
            reading.put("native.lora_target_linear", True, key="lora_target_linear")
    elif linear:
        reading.put("lora.target_modules", "all-linear", key="lora_target_linear")
    else:
        reading.put("native.lora_target_modules", None, comment=_OPEN)
