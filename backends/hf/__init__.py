"""Merge and eval with transformers and PEFT alone: what stands between and behind the training engines."""
