"""Article 003's examples, run with the preset that reproduces it."""

from __future__ import annotations

from compaction.engine.compactor import compact, plan
from compaction.engine.messages import Kind, Message, Role
from compaction.engine.phases.summary_text import SUMMARY_HEADINGS, SUMMARY_PREFIX
from compaction.engine.plan import Outcome, Situation, Verdict, Why
from compaction.engine.policy import Template
from compaction.engine.presets import TUTORIAL
from compaction.engine.task_state import (
    TOOLS,
    TaskState,
    compose_system_prompt,
    render,
    set_goal,
    update_todo,
    write_todos,
)
from compaction.engine.tokens import CharsOverFour
from compaction.engine.triggers import Trigger
from tests.engine.builders import (
    ScriptedModel,
    assistant,
    group,
    result,
    system,
    user,
)

COUNTER = CharsOverFour()
FILE = "a" * 48_000  # about 12,000 tokens
AGENTS = ["config.py", "s05_context_compression.py", "s06_error_recovery.py"]


def read_four_files() -> list[Message]:
    """Four reads of 12,000 tokens: the fifth request would be over 50,000."""
    messages = [system("You read files."), user("读取 agents 目录下的所有文件")]
    for number in range(5):
        messages += group(f"read{number}", FILE + str(number))
    return [*messages, assistant("Next."), user("Go on.")]


def test_the_three_constants():
    assert TUTORIAL.threshold_tokens == 50_000
    assert TUTORIAL.tail_budget == 20_000
    assert TUTORIAL.min_shrink == 0.9


def test_all_but_the_three_newest_results_are_cleared_and_none_is_removed():
    messages = read_four_files()
    preflight = Situation(trigger=Trigger.PREFLIGHT)

    done = compact(messages, TUTORIAL, ScriptedModel(), COUNTER, situation=preflight)

    assert done.outcome is Outcome.PRUNED
    assert [m.role for m in done.messages] == [m.role for m in messages]
    assert [m.text for m in done.messages if m.is_result][:2] == [
        "[Old tool output cleared]"
    ] * 2
    assert sum(len(m.text) > 40_000 for m in done.messages) == 3


def test_when_clearing_is_not_enough_the_middle_becomes_a_summary():
    messages = read_four_files()
    talk = [assistant("b" * 30_000), user("c" * 30_000)] * 5
    messages = [*messages[:2], *talk, *messages[2:]]

    done = compact(messages, TUTORIAL, ScriptedModel(), COUNTER)

    assert done.outcome is Outcome.SUMMARISED
    assert done.tokens_after < 0.9 * done.plan.tokens_before


def test_the_template_has_the_articles_five_fields():
    assert SUMMARY_HEADINGS[Template.TUTORIAL] == (
        "Goal",
        "Progress",
        "Key Decisions",
        "Files Modified",
        "Next Steps",
    )


def test_the_prefix_is_the_articles():
    assert SUMMARY_PREFIX == (
        "[CONTEXT COMPACTION - system-generated summary of earlier turns, "
        "not a new instruction]"
    )


def test_a_huge_first_message_is_stuck_before_any_call():
    messages = [system(), user("d" * 400_000), assistant("I see."), user("Go on.")]
    model = ScriptedModel()

    done = compact(messages, TUTORIAL, model, COUNTER)

    assert done.outcome is Outcome.STUCK
    assert done.plan.reason is Why.PROTECTED_PARTS_TOO_LARGE
    assert model.requests == []
    assert done.messages == tuple(messages)


def test_the_tail_begins_at_an_assistant_message():
    talk = [assistant("e" * 30_000), user("f" * 30_000)] * 6
    messages = [system(), user("start"), assistant("ok"), *talk]

    made = plan(messages, TUTORIAL, COUNTER)

    assert made.verdict is Verdict.SUMMARISE
    assert messages[made.split.tail_start].role is Role.ASSISTANT


def test_the_task_state_is_rendered_exactly_as_the_article_shows():
    state = set_goal(TaskState(), "读取 agents 下所有文件")
    state = write_todos(
        state,
        [
            {"id": "1", "subject": "读取 config.py", "status": "completed"},
            {"id": "2", "subject": f"读取 {AGENTS[1]}", "status": "in_progress"},
            {"id": "3", "subject": f"读取 {AGENTS[2]}", "status": "pending"},
        ],
    )

    assert render(state) == (
        "# Task State (live, never compressed)\n"
        "## Goal\n"
        "读取 agents 下所有文件\n"
        "## TODO\n"
        "[x] 读取 config.py\n"
        "[~] 读取 s05_context_compression.py\n"
        "[ ] 读取 s06_error_recovery.py"
    )


def test_three_tools_maintain_it():
    assert [tool["function"]["name"] for tool in TOOLS] == [
        "task_set_goal",
        "todo_write",
        "todo_update",
    ]
    state = write_todos(TaskState(), [{"subject": "read config.py"}])

    assert update_todo(state, "1", "completed").open_todos == ()


def test_a_summary_that_forgets_what_is_left_loses_nothing_of_the_task_state():
    state = write_todos(
        set_goal(TaskState(), "Read all files under agents"),
        [{"subject": f"read {name}"} for name in AGENTS],
    )
    talk = [assistant("b" * 30_000), user("c" * 30_000)] * 5
    messages = [system("You read files."), user("Read them."), *talk, result("x", "y")]
    forgetful = ScriptedModel(["## Goal\nRead files.\n## Progress\nSome were read."])

    done = compact(messages, TUTORIAL, forgetful, COUNTER)
    prompt = compose_system_prompt(done.messages[0].text, state)

    assert all(f"[ ] read {name}" in prompt for name in AGENTS)
    assert all(name not in m.text for m in done.messages for name in AGENTS)
    assert [m.kind for m in done.messages].count(Kind.SUMMARY) == 1
