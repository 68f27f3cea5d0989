"""What a summary lost, and an operator's answers to it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from compaction.engine.messages import Role
from compaction.models import DismissedEvidence, OperatorAction
from compaction.services.summaries import SummaryEdit, edit_summary
from compaction.store import load_messages, summary_in_force
from compaction.store.losses import read_losses
from tests.conversations import answer, call, long_work, say, store_session
from tests.server.replies import Reply
from tests.services.run_fixtures import run_session
from tests.web.reading import text_of

ERROR = "OSError: [Errno 28] No space left on device: /srv/build/cache-77"
RULE = "Never push to the main branch without asking me."
TODO = "TODO: rotate the signing key of the mail relay"
SAYS_LITTLE = "## Goal\n- Something else.\n\n## Next Steps\n- None"


@pytest.fixture
def run(db, settings, scripted_openai):
    """A finished run whose summary a real call to a forgetful model wrote."""
    settings.SUMMARISER_BASE_URL = scripted_openai.base_url
    settings.SUMMARISER_MODEL = "scripted"
    scripted_openai.play(Reply(text=SAYS_LITTLE))
    messages = long_work()
    middle = [say(Role.USER, f"{RULE} {TODO}."), say(Role.ASSISTANT, "Noted.")]
    messages[12:12] = [*middle, call(900), answer(900, f"{ERROR}\n" + "ok\n" * 90)]
    return run_session(store_session(messages))


@pytest.fixture
def session(run):
    return run.result_session


def losses_of(session):
    return read_losses(summary_in_force(session))


def the_error(session):
    return next(loss for loss in losses_of(session).items if ERROR in loss.text)


def press(client, session, loss, choice, **changes):
    revision = summary_in_force(session).revision
    data = {"loss": loss.digest, "answer": choice, "base_revision": revision}
    return client.post(address_of(session), {**data, **changes})


def address_of(session):
    return reverse("session-loss", args=[session.pk])


def test_the_run_says_what_it_lost_with_a_link_to_the_message(as_viewer, run):
    page = as_viewer.get(reverse("run", args=[run.pk]))

    loss = the_error(run.result_session)
    place = reverse("session-context", args=[run.session_id])
    assert "What was lost" in text_of(page)
    assert ERROR in text_of(page)
    assert f"{place}?exact=1&amp;at={loss.position}#m-{loss.position}" in page.text
    assert ERROR in load_messages(run.session)[loss.position].text


def test_constraints_and_open_todos_are_put_back_and_told(as_viewer, session):
    losses = losses_of(session)
    text = summary_in_force(session).text

    assert losses.pinned >= 1
    assert losses.appended >= 1
    assert RULE in text
    assert "rotate the signing key of the mail relay" in text
    page = text_of(as_viewer.get(reverse("session-summaries", args=[session.pk])))
    assert f"{losses.pinned} constraints of the user are carried" in page
    assert "put back under “Carried Over”" in page


def test_the_session_counts_them(as_viewer, session):
    page = text_of(as_viewer.get(reverse("session-context", args=[session.pk])))

    assert "Lost by the last summary" in page


def test_one_press_adds_a_loss_to_the_summary_and_it_is_audited_again(
    as_operator, session
):
    before = losses_of(session)
    press(as_operator, session, the_error(session), "add")

    summary = summary_in_force(session)
    assert ERROR in summary.text
    assert summary.origin == "edited"
    assert losses_of(session).lost == before.lost - 1
    assert any(ERROR in message.text for message in load_messages(session))
    assert OperatorAction.objects.filter(verb="edit_summary").count() == 1


def test_a_pinned_message_is_carried_word_for_word_over_the_next_run(
    as_operator, session, scripted_openai
):
    press(as_operator, session, the_error(session), "pin")
    assert "## Pinned Messages" in summary_in_force(session).text

    scripted_openai.play(Reply(text=SAYS_LITTLE))
    child = run_session(session).result_session

    assert ERROR in summary_in_force(child).text


def test_pinning_a_message_that_only_calls_a_tool_carries_the_call(
    as_operator, run, scripted_openai
):
    scripted_openai.play(Reply(text=SAYS_LITTLE))
    session = run_session(store_session(long_work(12, words=900))).result_session
    file = next(loss for loss in losses_of(session).items if loss.kind == "file")
    press(as_operator, session, file, "pin")

    pinned = summary_in_force(session).text.partition("## Pinned Messages")[2]
    assert file.text in pinned
    assert file.digest not in {loss.digest for loss in losses_of(session).items}


def test_what_is_not_needed_is_remembered_and_can_be_taken_back(as_operator, session):
    loss = the_error(session)
    press(as_operator, session, loss, "dismiss")

    page = as_operator.get(reverse("session-summaries", args=[session.pk]))
    assert DismissedEvidence.objects.get().text == loss.text
    assert "1 called not needed" in text_of(page)

    press(as_operator, session, loss, "recall")
    assert not DismissedEvidence.objects.exists()
    verbs = OperatorAction.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["dismiss_evidence", "recall_evidence"]


def test_pressing_twice_dismisses_once(as_operator, session):
    for _ in range(2):
        press(as_operator, session, the_error(session), "dismiss")

    assert DismissedEvidence.objects.count() == 1


def test_an_answer_to_an_older_revision_is_a_conflict_and_overwrites_nothing(
    as_operator, session
):
    loss, revision = the_error(session), summary_in_force(session).revision
    other = SummaryEdit(text="## Goal\n- Theirs.", base_revision=revision)
    edit_summary(session, other, operator=None)

    page = press(as_operator, session, loss, "add", base_revision=revision)

    assert page.status_code == 409
    assert summary_in_force(session).text == "## Goal\n- Theirs."


def test_a_loss_that_is_told_by_now_changes_nothing(as_operator, session):
    loss = the_error(session)
    press(as_operator, session, loss, "add")
    revision = summary_in_force(session).revision

    page = press(as_operator, session, loss, "add")

    assert page.status_code in (204, 303)
    assert summary_in_force(session).revision == revision


def test_a_viewer_reads_the_losses_and_has_no_button(as_viewer, session):
    page = as_viewer.get(reverse("session-summaries", args=[session.pk]))

    assert ERROR in text_of(page)
    assert "Add to the summary" not in text_of(page)
    assert press(as_viewer, session, the_error(session), "add").status_code == 403


def test_a_stranger_gets_nothing(as_stranger, session):
    assert press(as_stranger, session, the_error(session), "add").status_code == 404


def test_a_forged_answer_is_refused_plainly(as_operator, session):
    loss = the_error(session)
    for wrong in ({"loss": "x" * 32}, {"answer": "drop"}, {"base_revision": "one"}):
        data = {"loss": loss.digest, "answer": "add", "base_revision": 1, **wrong}
        page = as_operator.post(address_of(session), data)
        assert page.status_code in (204, 303)
    assert summary_in_force(session).origin == "generated"


def test_an_edit_by_hand_is_audited_against_the_same_messages(operator, session):
    revision = summary_in_force(session).revision
    text = f"## Goal\n- {ERROR}"
    edit = SummaryEdit(text=text, base_revision=revision)

    edit_summary(session, edit, operator=operator)

    losses = losses_of(session)
    assert not any(ERROR in loss.text for loss in losses.items)
    assert any(RULE in loss.text for loss in losses.items)


def test_a_hostile_fact_is_shown_as_text(as_viewer, session):
    summary = summary_in_force(session)
    summary.losses["items"][0]["text"] = "<script>alert(1)</script>"
    summary.save()

    page = as_viewer.get(reverse("session-summaries", args=[session.pk]))

    assert "<script>alert(1)" not in page.text


def test_a_conversation_that_was_imported_with_its_summary_shows_no_audit(
    as_viewer, session
):
    summary = summary_in_force(session)
    summary.losses = {}
    summary.save()

    page = as_viewer.get(reverse("session-summaries", args=[session.pk]))

    assert "What was lost" not in text_of(page)
