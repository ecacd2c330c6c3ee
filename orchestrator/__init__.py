"""The light core of post-train: recipes in, runs and manifests out. Never imports a training framework."""

__version__ = "0.1.0"
