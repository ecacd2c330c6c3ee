"""Where things that can be made again are kept: environments, digests."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """`$POST_TRAIN_CACHE`, else `$XDG_CACHE_HOME/post-train`, else `~/.cache/post-train`."""
    named = os.environ.get("POST_TRAIN_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "post-train"
