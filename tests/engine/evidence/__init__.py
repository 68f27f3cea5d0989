"""Tests of what survives a compaction without a model."""
