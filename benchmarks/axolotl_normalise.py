"""Run by Axolotl's Python: each configuration as Axolotl itself reads it. One JSON object a line, in and out.

{"name": ..., "text": YAML} -> {"name": ..., "config": {...}}  or  {"name": ..., "refused": message}
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import yaml

CAPABILITIES = {"bf16": True, "fp8": True, "tf32": True, "n_gpu": 8, "compute_capability": "sm_90"}
"""Eight H100s."""
_OURS = "backends."


def main() -> int:
    """Answer every line."""
    for line in sys.stdin:
        asked = json.loads(line)
        with contextlib.redirect_stdout(sys.stderr):
            answer = _answer(asked["text"])
        print(json.dumps({"name": asked["name"], **answer}), flush=True)
    return 0


def _answer(text: str) -> dict[str, Any]:
    try:
        return {"config": normalised(yaml.safe_load(text))}
    except Exception as error:  # noqa: BLE001  (whatever Axolotl raises is its answer)
        return {"refused": f"{type(error).__name__}: {error}"}


def normalised(given: dict[str, Any]) -> dict[str, Any]:
    """Axolotl's own validation, with its defaults and migrations applied; the plugins that the file names are asked."""
    import torch
    from axolotl.integrations.base import PluginManager
    from axolotl.utils.config import validate_config
    from axolotl.utils.dict import DictDefault

    manager = PluginManager.get_instance()
    manager.plugins.clear()
    for name in given.get("plugins") or []:
        if not name.startswith(_OURS):
            manager.register(name)
    version = str(torch.__version__).partition("+")[0]
    checked = validate_config(DictDefault(given), dict(CAPABILITIES), {"torch_version": version})
    plain: dict[str, Any] = json.loads(json.dumps(checked.to_dict(), default=str))
    return plain


if __name__ == "__main__":
    sys.exit(main())
