"""All that one attempt at a run works with, loaded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction import wiring
from compaction.engine.messages import Message
from compaction.engine.outline import Outline
from compaction.engine.phases.summary import Summariser
from compaction.engine.plan import Plan
from compaction.engine.policy_values import policy_from_dict
from compaction.engine.tokens import TokenCounter
from compaction.engine.triggers import Trigger
from compaction.models import Run, Session
from compaction.services.leases import Lease
from compaction.store import load_messages, plan_session


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """A claimed run with its session, plan, messages and counter.

    `summariser` is who writes the summary instead of who is set up for it.
    """

    run: Run
    lease: Lease
    session: Session
    plan: Plan
    outline: Outline
    messages: Sequence[Message]
    counter: TokenCounter
    summariser: Summariser | None = None

    @property
    def is_stale(self) -> bool:
        """True when the plan of now is not the one that was queued."""
        return (
            self.session.revision != self.run.session_revision
            or self.plan.digest != self.run.plan_hash
        )


def load_context(lease: Lease) -> RunContext:
    """Load a claimed run; plans anew from the stored numbers, as every preview does."""
    run = Run.objects.select_related("session__conversation", "requested_by").get(
        pk=lease.pk
    )
    session = run.session
    planned = plan_session(
        session,
        policy_from_dict(run.policy),
        trigger=Trigger(run.trigger),
        focus=run.focus,
        summariser_window=wiring.summariser_window(),
    )
    return RunContext(
        run=run,
        lease=lease,
        session=session,
        plan=planned.plan,
        outline=planned.outline,
        messages=load_messages(session),
        counter=wiring.get_counter(session.model or session.conversation.model),
    )
