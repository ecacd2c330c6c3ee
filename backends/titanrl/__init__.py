"""TitanRL, the RL stack of TorchTitan: GRPO on a task, full weights, Monarch actors, vLLM."""
