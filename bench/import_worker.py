"""One import in a process of its own, so that no count is remembered from before.

    python -m bench.import_worker STATE_DB FOLDER

Prints the CPU seconds; making the database and loading the tokenizer do not count.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.console import open_console
from bench.measuring import cpu_seconds


def main(state_db: Path, folder: Path) -> None:
    """Import into a new database in the folder."""
    open_console(folder)
    from compaction import wiring
    from compaction.services.imports.files import import_file

    wiring.get_counter("gpt-5").count("load the encoding")
    print(cpu_seconds(lambda: import_file(state_db)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
