"""Stories of agents that work on code."""

from __future__ import annotations

from datetime import timedelta

from compaction.management.demo.outputs import log_lines, python_file, suite_report
from compaction.management.demo.script import Story, Trouble

CODER = (
    "You are a careful engineer working in the Orchard repository. Be exact, test what "
    "you change, say what you did not check."
)


def compaction_loop() -> Story:
    """Three generations, over the threshold, half of its todos done."""
    story = Story(
        key="loop",
        title="Fix compaction loop",
        agent="cli",
        window=64_000,
        ago=timedelta(seconds=12),
        edits={
            1: (
                "## Constraints & Preferences\n- None",
                "## Constraints & Preferences\n- Keep Python 3.11, said twice.",
            )
        },
    )
    story.system(CODER)
    story.user(
        "Read every file under agents/ and list what each one adds to the one before. "
        "Then find why compaction loops on large files."
    )
    for number in range(1, 8):
        path = f"agents/s0{number}_loop.py"
        story.does(
            "read_file",
            python_file(path, 34),
            say=f"Reading number {number}; {7 - number} are left.",
            path=path,
        )
    story.user("Do not touch anything under vendor/, and keep Python 3.11.")
    story.says("Understood: vendor/ stays as it is, and Python 3.11 is the floor.")
    story.does(
        "grep",
        "agents/s05_loop.py:88: estimate_tokens(messages)\n" * 14,
        pattern="estimate_tokens",
        path="agents/",
    )
    for number in range(8, 15):
        path = f"agents/s{number:02}_tools.py"
        story.does("read_file", python_file(path, 36), path=path)
    story.compacted()
    story.user("Go on. What does the estimate ignore?")
    story.does(
        "bash",
        suite_report("tests/agents", 240, failed=["test_loop.py::test_large_file"]),
        say="Running the suite first.",
        command="pytest tests/agents -q",
    )
    story.says(
        "The estimate ignores tool arguments, so a large patch never counts. "
        "I decided to count the whole call because the provider bills it."
    )
    for number in range(15, 27):
        path = f"agents/s{number:02}_recovery.py"
        story.does("read_file", python_file(path, 38), path=path)
    story.compacted()
    story.user("Good. Now make the failing test pass and tell me what is left.")
    story.does(
        "bash",
        "KeyError: 'head_end'\n" + log_lines("worker", 300, errors=["port 8471 taken"]),
        command="python -m agents.run --trace",
    )
    for number in range(27, 36):
        path = f"agents/s{number:02}_state.py"
        story.does("read_file", python_file(path, 60), path=path)
    story.does(
        "patch",
        "Patched agents/s05_loop.py: 3 lines",
        path="agents/s05_loop.py",
        new="tokens += len(call.arguments) // 4",
    )
    story.says("The arguments count now. Next is the state that forgets head_end.")
    story.plans(
        "Read every file under agents/ and find why compaction loops.",
        ("completed", "read s01 to s04"),
        ("completed", "read s05_context_compression.py"),
        ("completed", "count tool arguments"),
        ("in_progress", "make test_large_file pass"),
        ("pending", "read s06_error_recovery.py"),
        ("pending", "write the finding"),
    )
    return story.met(
        Trouble(
            reason="context_overflow",
            action="compact",
            status=400,
            endpoint="primary",
            detail="This model's maximum context length is 64000 tokens.",
        )
    )


def flaky_test() -> Story:
    """Rate limits with waits, and a cooldown that is on."""
    story = Story(
        key="flaky",
        title="Find the flaky test in payments",
        agent="telegram",
        model="gpt-4o",
        window=64_000,
        ago=timedelta(minutes=2),
        cooldown=(900, "rate_limit"),
    )
    story.system(CODER)
    story.user("One test of the payments suite fails on Mondays only. Find it.")
    for day in ("mon", "tue", "wed", "thu", "fri", "sat", "sun"):
        failed = ["test_invoice.py::test_week_end"] if day == "mon" else []
        story.does(
            "bash",
            suite_report("tests/payments", 720, failed=failed)
            + "\n"
            + log_lines(f"payments-{day}", 120),
            command=f"faketime 'next {day}' pytest tests/payments",
        )
    story.says(
        "It is test_week_end: it takes the first day of the week from the locale. "
        "Issue #4471 names the same locale bug."
    )
    story.user("Fix it, but do not change the production default.")
    story.does(
        "read_file",
        python_file("payments/calendar.py", 70),
        path="payments/calendar.py",
    )
    for attempt, delay in ((1, 5.6), (2, 13.1)):
        story.met(
            Trouble(
                reason="rate_limit",
                action="retry",
                status=429,
                attempt=attempt,
                attempts=3,
                delay=delay,
                endpoint="primary",
                detail="Rate limit reached for gpt-4o: tokens per minute.",
            )
        )
    return story.plans(
        "Make the payments suite pass on every weekday.",
        ("completed", "find the test"),
        ("in_progress", "take the week's first day from the calendar"),
        ("pending", "run the suite with each weekday"),
    )


def astro_upgrade() -> Story:
    """A session well within its window."""
    story = Story(
        key="astro",
        title="Upgrade the site to version 6",
        source="claude_code",
        agent="Claude Code",
        model="claude-sonnet-4-5",
        ago=timedelta(minutes=26),
    )
    story.system(CODER)
    story.user("Upgrade the documentation site to the new major version.")
    for name in ("config", "layout", "search", "images", "feeds"):
        story.does(
            "Read", python_file(f"site/{name}.py", 50), file_path=f"site/{name}.py"
        )
        story.does("Edit", "The file has been updated.", file_path=f"site/{name}.py")
    story.does("Bash", suite_report("site", 96), command="npm test")
    story.says("All five parts build. The feeds need new image sizes; shall I go on?")
    return story.user("Yes, and keep the old addresses working.")


def read_all_files() -> Story:
    """Near the threshold, ended."""
    story = Story(
        key="files",
        title="Read all files under agents",
        source="pi",
        agent="pi",
        model="claude-opus-4-5",
        window=128_000,
        ago=timedelta(hours=21),
        ended=True,
    )
    story.user("Read all files under agents and explain the order they belong in.")
    for number in range(1, 24):
        path = f"agents/part_{number:02}.py"
        story.does("read", python_file(path, 46), path=path)
    return story.says("They belong in the order of their numbers; part 17 is unused.")


def puzzle() -> Story:
    """A short one that is over."""
    story = Story(
        key="puzzle",
        title="Solve the web challenge",
        source="swe_agent",
        agent="SWE-agent",
        model="",
        window=32_000,
        ago=timedelta(days=3),
        ended=True,
    )
    story.system("You solve small puzzles in a sandbox of your own.")
    story.user("Find the flag that the test page hides.")
    for step in range(1, 7):
        story.does(
            "bash",
            log_lines(f"step{step}", 60),
            command=f"curl -s http://127.0.0.1:4000/step/{step}",
        )
    return story.says("The flag is in the comment of step 6.")


def checkout_pictures() -> Story:
    """Pictures among the messages."""
    story = Story(
        key="pictures",
        title="Review the checkout page",
        source="claude_code",
        agent="Claude Code",
        model="claude-sonnet-4-5",
        window=64_000,
        ago=timedelta(hours=3),
    )
    story.system(CODER)
    for page in ("basket", "address", "payment", "done"):
        story.shows(f"This is the {page} page on a phone. What is wrong with it?")
        story.does(
            "Read", python_file(f"shop/{page}.py", 28), file_path=f"shop/{page}.py"
        )
        story.says(f"On {page} the button lies below the fold; move the total up.")
    return story
