"""The model as TorchTitan defines it, from the registry or from a model folder's own `config.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orchestrator.harness import WorkError


def from_flavor(folder: str, flavor: str, *, attn_backend: str) -> Any:
    """A ModelSpec of TorchTitan's registry.

    Raises:
        WorkError: no model of this kind, or no such flavor.
    """
    return _registry(_config(folder)).model_registry(flavor, attn_backend=attn_backend)


def from_folder(folder: str, *, attn_backend: str) -> Any:
    """A ModelSpec with the sizes that a folder's `config.json` names; dense Qwen3 alone.

    Raises:
        WorkError: it is another kind of model, which takes a flavor.
    """
    config = _config(folder)
    if config["model_type"] != "qwen3":
        raise WorkError(
            "titanrl.flavor",
            f"{folder} is a {config['model_type']}: its sizes can't be read from config.json",
            fix="name the flavor in the recipe: native: {flavor: 30B}",
        )
    registry = _registry(config)
    registry.qwen3_configs["folder"] = lambda **given: _qwen3(registry, config, **given)
    return registry.model_registry("folder", attn_backend=attn_backend)


def _config(folder: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    return read


def _registry(config: dict[str, Any]) -> Any:
    if config["model_type"] == "qwen3":
        from torchtitan.models import qwen3

        return qwen3
    if config["model_type"] == "muse_glimmer":
        from torchtitan.models import muse_glimmer

        return muse_glimmer
    raise WorkError(
        "titanrl.model", f"TitanRL 0.3.0 is not set up here for {config['model_type']} models", fix="--backend trl"
    )


def _qwen3(registry: Any, config: dict[str, Any], attn_backend: str) -> Any:
    """The same parts that the registry's own flavors are made of."""
    from torchtitan.models.common.embedding import Embedding
    from torchtitan.models.common.linear import Linear
    from torchtitan.models.common.rope import CosSinRoPE

    dim, vocabulary, head = config["hidden_size"], config["vocab_size"], config["head_dim"]
    tied = bool(config.get("tie_word_embeddings"))
    rope = CosSinRoPE.Config(dim=head, max_seq_len=config["max_position_embeddings"], theta=_theta(config))
    init = registry._EMBEDDING_SKIP_INIT if tied else registry._EMBEDDING_INIT
    return registry.Qwen3Model.Config(
        vocab_size=vocabulary,
        dim=dim,
        norm=registry._qwen3_norm(dim),
        enable_weight_tying=tied,
        tok_embeddings=Embedding.Config(num_embeddings=vocabulary, embedding_dim=dim, param_init=init),
        lm_head=Linear.Config(in_features=dim, out_features=vocabulary, param_init=registry._LINEAR_INIT),
        layers=registry._build_qwen3_layers(
            fuse_qkv=True,
            n_layers=config["num_hidden_layers"],
            dim=dim,
            n_heads=config["num_attention_heads"],
            n_kv_heads=config["num_key_value_heads"],
            head_dim=head,
            hidden_dim=config["intermediate_size"],
            attn_backend=attn_backend,
            rope=rope,
        ),
    )


def _theta(config: dict[str, Any]) -> float:
    rope = config.get("rope_parameters") or {}
    return float(config.get("rope_theta") or rope.get("rope_theta") or 1e6)
