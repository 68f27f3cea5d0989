"""Stories of agents that go round in circles."""

from __future__ import annotations

from datetime import timedelta

from compaction.management.demo.outputs import python_file
from compaction.management.demo.script import Story
from compaction.management.demo.stories_code import CODER

FORGETFUL = {
    1: """## Goal
- Start-up takes four seconds. Find the import that is slow.

## Constraints & Preferences
- Do not add packages, and keep the public names as they are.

## Progress
### Done
- The start of the program was measured.
### In Progress
- Several modules of the package are being looked at.

## Key Decisions
- One module takes most of the time, so what it loads comes next.

## Next Steps
- Look at what the slow module loads.""",
    2: """## Goal
- Start-up takes four seconds. Find the import that is slow.

## Progress
### Done
- The imports were measured, and an overview of the package was read twice.
### In Progress
- Themes are being read.

## Next Steps
- Get an overview of the package, then go on.""",
}
"""Names no file and no figure; the second leaves the user's rule out as well."""


def circles() -> Story:
    """Reads the same files again after each compaction: the summaries told too little.

    They are scripted, as a model in a hurry might write them.
    """
    story = Story(
        key="circles",
        title="Find the slow import",
        source="codex",
        agent="Codex",
        model="gpt-5-codex",
        window=32_000,
        ago=timedelta(minutes=17),
        summaries=FORGETFUL,
    )
    story.system(CODER)
    story.user(
        "Start-up takes four seconds. Find the import that is slow. Do not add "
        "packages, and keep the public names as they are."
    )
    names = [f"orchard/{name}.py" for name in ("cli", "config", "models", "report")]
    for path in names:
        story.does("read_file", python_file(path, 44), path=path)
    story.does(
        "shell",
        "import time: self 3_912_004 us | orchard.report\nexit code: 0",
        command="python -X importtime -c 'import orchard'",
    )
    story.says(
        "orchard.report takes 3.9 of the 4 seconds. I will look at what it loads."
    )
    for number in range(1, 5):
        path = f"orchard/charts_{number}.py"
        story.does("read_file", python_file(path, 44), path=path)
    for again in range(2):
        story.compacted()
        story.says("I need an overview of the package first.")
        for path in names:
            story.does("read_file", python_file(path, 44), path=path)
        for number in range(1, 5):
            path = f"orchard/{('themes', 'fonts')[again]}_{number}.py"
            story.does("read_file", python_file(path, 44), path=path)
    return story.plans(
        "Make start-up fast without new packages.",
        ("completed", "measure the imports"),
        ("in_progress", "read what orchard.report loads"),
        ("pending", "load the charts only when they are drawn"),
    )
