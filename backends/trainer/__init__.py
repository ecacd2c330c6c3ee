"""Engine-side parts for engines that are built on the transformers Trainer. No backend: there is no adapter here."""
