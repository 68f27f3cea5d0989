"""Turns of the console's own agent: queued, done by a worker, kept as they happen."""
