"""Compaction runs: queued, done by a worker, applied or failed."""
