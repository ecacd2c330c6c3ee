"""Axolotl: supervised fine-tuning from one YAML file."""
