"""`python -m bench.quality [ROW …] [--quick] [--list]`: one line for each row."""

from __future__ import annotations

import sys

from bench.__main__ import main
from bench.quality.catalog import ROWS

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], ROWS))
