"""Compact one conversation of a file and print what came of it; writes nothing."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compaction import wiring
from compaction.engine.compactor import Compaction, compact, find_summary
from compaction.engine.ledger import entry_to_dict, ledger_of
from compaction.engine.messages import Message, to_dict
from compaction.engine.outline import outline_of, recount
from compaction.engine.plan import OpenCalls, Situation
from compaction.engine.policy import CompactionPolicy, PolicyError
from compaction.engine.policy_values import read_overrides
from compaction.engine.presets import PRESETS
from compaction.engine.tokens import TokenCounter
from compaction.engine.triggers import Trigger
from compaction.engine.validation import validate
from compaction.sources import SourceConversation, SourceError, read_conversations


class Command(BaseCommand):
    """Plan, summarise and assemble a conversation of a file."""

    help = (
        "Compact a conversation of a log file with the embedded summariser, or with "
        "the endpoint that SUMMARISER_BASE_URL names, and print plan, ledger, outcome "
        "and the new messages. Nothing is written anywhere."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file and what the policy is made of."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--policy", choices=list(PRESETS), default="default")
        parser.add_argument(
            "--set",
            nargs="+",
            action="extend",
            default=[],
            metavar="KEY=VALUE",
            help="change values of the policy, such as context_length=64000",
        )
        parser.add_argument("--previous-summary", type=Path, metavar="FILE")
        parser.add_argument(
            "--conversation",
            type=int,
            default=1,
            metavar="N",
            help="which conversation of the file, counted from 1",
        )
        parser.add_argument(
            "--trigger", choices=[t.value for t in Trigger], default="manual"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it and print."""
        conversation = _read(options["file"], options["conversation"])
        policy = _policy(options["policy"], options["set"], conversation)
        messages = _tip_messages(conversation)
        counter = wiring.get_counter(conversation.model)
        situation = _situation(options, messages, conversation)
        summariser = wiring.environment_summariser()
        done = compact(messages, policy, summariser, counter, situation=situation)
        report = _report(done, messages, counter)
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=True, indent=1))
        else:
            self.stdout.write(_readable("\n".join(_lines(report))))


def _read(path: Path, number: int) -> SourceConversation:
    if number < 1:
        raise CommandError("--conversation counts from 1.")
    try:
        found = read_conversations(path, limits=wiring.source_limits())
        conversation = next(islice(found, number - 1, None), None)
    except SourceError as error:
        place = f"{error.path}, line {error.line}" if error.line else error.path
        words = error.detail or error.reason.replace("_", " ")
        raise CommandError(f"{place}: {words}. Nothing was changed.") from error
    if conversation is None:
        raise CommandError(f"{path} has fewer than {number} conversations.")
    return conversation


def _tip_messages(conversation: SourceConversation) -> tuple[Message, ...]:
    tip = conversation.sessions[-1]
    return tuple(m.message for m in tip.messages if not m.inactive)


def _policy(
    preset: str, changes: list[str], conversation: SourceConversation
) -> CompactionPolicy:
    given = dict(_pair(change) for change in changes)
    if conversation.window:
        given = {"context_length": str(conversation.window), **given}
    try:
        return PRESETS[preset].evolve(**read_overrides(given))
    except PolicyError as error:
        raise CommandError(f"--set {error.field}: {error.reason}.") from error


def _pair(change: str) -> tuple[str, str]:
    key, sign, value = change.partition("=")
    if not sign:
        raise CommandError(f"--set takes KEY=VALUE, not {change!r}.")
    return key.strip(), value.strip()


def _situation(
    options: dict[str, Any],
    messages: tuple[Message, ...],
    conversation: SourceConversation,
) -> Situation:
    previous = conversation.sessions[-1].summary or find_summary(messages)
    path: Path | None = options["previous_summary"]
    if path is not None:
        try:
            previous = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{path} cannot be read: {error}.") from error
    return Situation(
        trigger=Trigger(options["trigger"]),
        compactions=max(len(conversation.sessions) - 1, int(bool(previous))),
        previous_summary=previous,
        open_calls=OpenCalls.LEAVE,  # nobody answers the calls of a file
        summariser_window=wiring.environment_summariser_window(),
    )


def _report(
    done: Compaction, messages: tuple[Message, ...], counter: TokenCounter
) -> dict[str, Any]:
    outline = recount(outline_of(messages, counter), done.plan.policy)
    return {
        "policy": done.plan.policy.name,
        "plan": _plan_facts(done),
        "ledger": [entry_to_dict(entry) for entry in ledger_of(done.plan, outline)],
        "outcome": done.outcome.value,
        "reason": done.plan.reason.value,
        "error": str(done.failure) if done.failure else "",
        "summary": done.summary.text if done.summary else "",
        "summariser": done.summary.model if done.summary else "",
        "messages_before": len(messages),
        "messages_after": len(done.messages),
        "tokens_before": done.plan.tokens_before,
        "tokens_after": done.tokens_after,
        "tokens_origin": counter.origin.value,
        "findings": [
            {"fault": f.fault.value, "position": f.position, "detail": f.detail}
            for f in validate(done.messages)
        ],
        "messages": [to_dict(message) for message in done.messages],
    }


def _plan_facts(done: Compaction) -> dict[str, Any]:
    plan = done.plan
    return {
        "verdict": plan.verdict.value,
        "threshold": plan.threshold,
        "head_end": plan.split.head_end,
        "tail_start": plan.split.tail_start,
        "kept": list(plan.split.kept),
        "tokens": {
            "head": plan.sizes.head,
            "kept": plan.sizes.kept,
            "middle": plan.sizes.middle,
            "tail": plan.sizes.tail,
        },
        "summary_budget": plan.summary_budget,
        "digest": plan.digest,
    }


def _lines(report: dict[str, Any]) -> list[str]:
    plan = report["plan"]
    sizes = ", ".join(f"{name} {n:,}" for name, n in plan["tokens"].items())
    lines = [
        f"policy {report['policy']}, threshold {plan['threshold']:,} tokens",
        f"plan: {plan['verdict']} ({report['reason']}), head ends at "
        f"{plan['head_end']}, tail starts at {plan['tail_start']}; {sizes}",
        "",
        "ledger",
        *(_ledger_line(entry) for entry in report["ledger"]),
        "",
        f"outcome: {report['outcome']}, {report['messages_before']} → "
        f"{report['messages_after']} messages, {report['tokens_before']:,} → "
        f"{report['tokens_after']:,} tokens ({report['tokens_origin']})",
    ]
    if report["error"]:
        lines.append(f"error: {report['error']}. Nothing of the conversation is lost.")
    lines += [f"finding: {f['fault']} at {f['position']}" for f in report["findings"]]
    return [*lines, "", "messages", *(_message_line(m) for m in report["messages"])]


def _ledger_line(raw: dict[str, Any]) -> str:
    pruned = f", {raw['pruned']}" if raw["pruned"] else ""
    return (
        f"{raw['n']:>6}  {raw['region']:<8}{raw['rule']}{pruned}  "
        f"{raw['tokens']:,} → {raw['after']:,}"
    )


def _message_line(message: dict[str, Any]) -> str:
    calls = " ".join(c["function"]["name"] for c in message.get("tool_calls") or ())
    text = message.get("content") or ""
    text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return f"[{message['role']}] {calls} {text}".rstrip()


def _readable(text: str) -> str:
    """Text that a terminal can show: no lone surrogates, no control characters."""
    shown = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in shown)
