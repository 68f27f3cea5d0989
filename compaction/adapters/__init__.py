"""The outside world behind the seams of the engine: models, tokenizers."""
