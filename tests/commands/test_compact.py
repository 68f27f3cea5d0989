"""The command for a file: what it prints, and what it refuses."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from compaction.engine.messages import to_dict
from compaction.models import Conversation
from tests.engine.builders import long_conversation
from tests.shared_data import RAW_TRANSCRIPTS, files_in, needs

SMALL = ["threshold_cap=1000", "tail_tokens=200", "prune_enough=none"]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "whatever.log"
    path.write_text(json.dumps([to_dict(m) for m in long_conversation()]))
    return path


def run(*args, **options):
    out = StringIO()
    call_command("compact", *map(str, args), stdout=out, **options)
    return out.getvalue()


def report(*args):
    return json.loads(run(*args, "--json"))


def test_it_prints_plan_ledger_outcome_and_messages(log):
    printed = run(log, "--set", *SMALL)

    for part in ("plan: summarise", "ledger", "outcome: summarised", "messages"):
        assert part in printed
    assert "Now list them." in printed


def test_json_holds_the_same_for_a_program(log):
    found = report(log, "--set", *SMALL)

    assert found["outcome"] == "summarised"
    assert len(found["ledger"]) == found["messages_before"] == 28
    assert len(found["messages"]) == found["messages_after"]
    assert found["tokens_after"] < found["tokens_before"]
    assert "## Goal" in found["summary"]


def test_presets_and_values_can_be_chosen(log):
    found = report(log, "--policy", "hermes", "--set", "threshold_cap=2000")

    assert found["policy"] == "hermes"
    assert found["plan"]["threshold"] == 2_000


def test_a_previous_summary_is_carried_on(log, tmp_path):
    previous = tmp_path / "summary.md"
    previous.write_text("## Goal\nTidy the orchard by Friday.")

    found = report(log, "--set", *SMALL, "--previous-summary", previous)

    assert "Tidy the orchard by Friday." in found["summary"]


def test_it_asks_the_endpoint_that_is_set_up(log, settings, scripted_openai):
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"

    found = report(log, "--set", *SMALL)

    assert len(scripted_openai.requests) == 1
    assert found["summariser"]


def test_an_endpoint_that_fails_changes_nothing(log, settings, scripted_openai):
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"
    scripted_openai.always("503")

    found = report(log, "--set", *SMALL)

    assert found["outcome"] == "aborted"
    assert found["error"]
    assert found["messages"] == [to_dict(m) for m in long_conversation()]


def test_nothing_is_written(log, db):
    run(log)

    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--set", "treshold=1"], "treshold"),
        (["--set", "threshold_ratio"], "KEY=VALUE"),
        (["--set", "threshold_ratio=9"], "between 0 and 1"),
        (["--conversation", "2"], "fewer than 2"),
        (["--conversation", "0"], "counts from 1"),
        (["--previous-summary", "/nowhere/summary.md"], "cannot be read"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(log, args, says):
    with pytest.raises(CommandError, match=says):
        run(log, *args)


def test_a_broken_file_is_named_with_its_line(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('[{"role": "user", "content": "a"},\n{"role": ')

    with pytest.raises(CommandError, match=r"broken\.json, line 2"):
        run(broken)


def test_a_terminal_is_not_at_the_mercy_of_a_transcript(tmp_path):
    path = tmp_path / "hostile.json"
    messages = [{"role": "user", "content": "\x1b[2J\ud800<|endoftext|>\x00"}]
    path.write_text(json.dumps(messages))

    printed = run(path)

    assert "\x1b" not in printed
    assert "<|endoftext|>" in printed


@needs(RAW_TRANSCRIPTS)
@pytest.mark.parametrize("path", files_in(RAW_TRANSCRIPTS), ids=lambda p: p.name)
def test_every_real_log_can_be_compacted(path):
    found = report(path, "--set", "context_length=32000")

    assert found["messages_before"] > 0
    assert found["outcome"] in {"summarised", "pruned", "noop", "stuck"}
