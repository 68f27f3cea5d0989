"""What the tools of the console's own agent do; their schemas are in engine/tools."""
