"""What survives a compaction, measured on planted facts by literal substring."""
