"""An OpenAI-compatible server of our own that plays scripted answers and faults."""
