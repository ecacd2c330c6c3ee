"""Configurations as people write them for Axolotl, one for each way that a key can take."""

from __future__ import annotations

_ROWS = "datasets: [{path: org/rows, type: alpaca}]\n"
_LORA = "base_model: org/model\nadapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\n" + _ROWS
_FULL = "base_model: org/model\n" + _ROWS
_RATE = "learning_rate: 2e-5\n"
_FSDP = "fsdp_config:\n  auto_wrap_policy: TRANSFORMER_BASED_WRAP\n  offload_params: true\n"

EQUAL: dict[str, str] = {
    "bare_full": _FULL + _RATE,
    "bare_lora": _LORA + _RATE,
    "qlora": _LORA.replace("adapter: lora", "adapter: qlora\nload_in_4bit: true") + _RATE,
    "eight_bit": _LORA + _RATE + "load_in_8bit: true\n",
    "lora_on_four_bits": _LORA + _RATE + "load_in_4bit: true\n",
    "no_targets": _LORA.replace("lora_target_linear: true\n", "lora_target_parameters: [mlp.up]\n") + _RATE,
    "both_targets": _LORA + _RATE + "lora_target_modules: [q_proj]\n",
    "rslora": _LORA + _RATE + "peft_use_rslora: true\nlora_modules_to_save: [lm_head]\nlora_dropout: 0.1\n",
    "attention_flag": _FULL + _RATE + "flash_attention: true\n",
    "other_attention": _FULL + _RATE + "attn_implementation: flex_attention\n",
    "half": _FULL + _RATE + "bf16: false\nfp16: true\n",
    "single": _FULL + _RATE + "bf16: false\nfp16: false\ntf32: true\n",
    "no_bf16": _FULL + _RATE + "bf16:\n",
    "pure_half": _FULL + _RATE + "bf16: false\nfloat16: true\n",
    "packing": _FULL + _RATE + "sample_packing: true\npad_to_sequence_len: true\nsequence_len: 2048\n",
    "checkpointing": _FULL
    + _RATE
    + "gradient_checkpointing: true\ngradient_checkpointing_kwargs: {use_reentrant: false}\n",
    "offloading": _FULL + _RATE + "gradient_checkpointing: offload\n",
    "warmup_steps": _FULL + _RATE + "warmup_steps: 10\nlr_scheduler: constant_with_warmup\n",
    "warmup_ratio": _FULL + _RATE + "warmup_ratio: 0.1\nlr_scheduler: rex\n",
    "floor": _FULL + _RATE + "lr_scheduler: cosine_with_min_lr\nlr_scheduler_kwargs: {min_lr: 0.000001}\n",
    "validation": _FULL + _RATE + "val_set_size: 0.1\nevals_per_epoch: 2\nsaves_per_epoch: 2\n",
    "validation_steps": _FULL + _RATE + "val_set_size: 0.1\neval_steps: 20\nsave_steps: 40\neval_batch_size: 2\n",
    "early_stopping": _FULL + _RATE + "val_set_size: 0.1\neval_steps: 5\nsave_steps: 10\nearly_stopping_patience: 3\n",
    "test_rows": _FULL
    + _RATE
    + "test_datasets: [{path: org/held, type: alpaca, split: train}]\neval_strategy: epoch\n",
    "save_strategy": _FULL + _RATE + "save_strategy: 'no'\nsave_total_limit: 1\n",
    "save_by_steps": _FULL + _RATE + "save_strategy: steps\nsave_steps: 25\n",
    "fraction": _FULL + _RATE + "save_steps: 0.25\n",
    "batch": _FULL + _RATE + "micro_batch_size: 2\nbatch_size: 8\n",
    "betas": _FULL + _RATE + "adam_beta1: 0.85\nadam_beta2: 0.95\nadam_epsilon: 1e-6\nmax_grad_norm: 0.5\n",
    "own_optimizer": _FULL + _RATE + "optimizer: muon\nadam_beta1: 0.9\nadam_beta2: 0.95\n",
    "trackers": _FULL + _RATE + "wandb_project: p\nwandb_name: first\nwandb_entity: e\nuse_tensorboard: true\n",
    "tokens": _FULL + _RATE + "special_tokens: {pad_token: <pad>}\nrevision_of_model: abc\nchat_template: chatml\n",
    "streaming": "base_model: m/m\nmax_steps: 5\npretraining_dataset: [{path: o/r, type: pretrain}]\n" + _RATE,
    "fsdp2": _FULL + _RATE + "fsdp_version: 2\n" + _FSDP + "  reshard_after_forward: true\n",
    "fsdp2_recomputing": _FULL + _RATE + "fsdp_version: 2\n" + _FSDP + "  fsdp_activation_checkpointing: true\n",
    "fsdp2_inside": _LORA + _RATE + _FSDP + "  version: 2\n",
    "fsdp2_list": _FULL + _RATE + "fsdp_version: 2\nfsdp: [auto_wrap]\ngradient_checkpointing: true\n" + _FSDP,
    "fsdp1": _FULL + _RATE + "fsdp: [full_shard, auto_wrap]\n" + _FSDP,
    "ignored": _FULL + _RATE + "adam_eps: 1e-8\ntorch_dtype: bf16\ntrl: {bta: 1}\n",
    "numbers_as_text": _FULL + "learning_rate: '2e-5'\nneftune_noise_alpha: 5e0\nweight_decay: '1e-2'\n",
    "plugin": _FULL
    + _RATE
    + "plugins: [axolotl.integrations.liger.LigerPlugin]\nliger_rope: true\nliger_glu_activation: true\n",
    "nulls": _FULL + _RATE + "adapter:\nlora_r:\nlr_scheduler:\nspecial_tokens:\ntf32:\nshuffle_merged_datasets:\n",
}
"""What must be the same to Axolotl afterwards."""

LOCAL = """\
base_model: org/model
datasets:
  - path: {rows}
    ds_type: json
    split: train
    type: chat_template
    field_messages: messages
    roles_to_train: [assistant]
    train_on_eos: turn
chat_template: tokenizer_default
learning_rate: 2e-5
"""
"""Rows in one file here, spelt out: they become our own `data.train`."""

STOPPED: dict[str, str] = {
    "early_stopping_alone": _FULL + _RATE + "early_stopping_patience: 3\n",
    "eight_bit_fsdp2": _FULL + _RATE + "optimizer: adamw_8bit\nfsdp_version: 2\n" + _FSDP,
}
"""What Axolotl itself refuses."""
