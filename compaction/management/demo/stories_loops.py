"""Stories of agents that go round in circles."""

from __future__ import annotations

from datetime import timedelta

from compaction.management.demo.outputs import python_file
from compaction.management.demo.script import Story
from compaction.management.demo.stories_code import CODER


def circles() -> Story:
    """Reads the same files again after each compaction, and knows less each time."""
    story = Story(
        key="circles",
        title="Find the slow import",
        source="codex",
        agent="Codex",
        model="gpt-5-codex",
        window=32_000,
        ago=timedelta(minutes=17),
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
