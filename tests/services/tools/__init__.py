"""What the agent's tools do."""
