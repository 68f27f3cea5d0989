"""Speed as ratios: ours beside a peer or a floor, both measured in the same run."""
