"""Bringing conversations in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from compaction import wiring
from compaction.models import Conversation, ImportJob, OperatorAction
from compaction.sources.values import REASONS
from tests.web.reading import HTMX, count_queries, text_of
from tests.web.run_rows import HOSTILE

pytestmark = pytest.mark.django_db(transaction=True)

TALK = [
    {"role": "system", "content": "You tidy the Orchard sample project."},
    {"role": "user", "content": "Rename every helper."},
    {"role": "assistant", "content": "Done."},
]


def a_file(content: object = None, name: str = "talk.json") -> SimpleUploadedFile:
    raw = (
        content if isinstance(content, bytes) else json.dumps(content or TALK).encode()
    )
    return SimpleUploadedFile(name, raw)


def a_job(**values) -> ImportJob:
    defaults = {"label": "talk.json", "path": "/x", "queued_at": timezone.now()}
    return ImportJob.objects.create(**{**defaults, **values})


class TestUpload:
    def test_an_operator_imports_a_file_and_sees_what_came_of_it(self, as_operator):
        page = as_operator.post("/import/", {"upload": a_file()}, follow=True)

        assert Conversation.objects.get().message_count == 3
        assert "1 new conversation; 3 messages added." in text_of(page)

    def test_the_same_file_again_changes_nothing(self, as_operator):
        as_operator.post("/import/", {"upload": a_file()})

        page = as_operator.post("/import/", {"upload": a_file()}, follow=True)

        assert Conversation.objects.count() == 1
        assert "1 unchanged." in text_of(page)

    def test_a_file_nested_too_deeply_is_not_called_too_large(self, as_operator):
        file = SimpleUploadedFile("deep.json", b"[" * 5_000 + b"]" * 5_000)

        page = as_operator.post("/import/", {"upload": file}, follow=True)

        assert "Its values are nested too deeply" in text_of(page)
        assert "Split it" not in text_of(page)

    def test_several_files_come_at_once(self, as_operator):
        other = [*TALK[:1], {"role": "user", "content": "Something else."}]
        files = [a_file(), a_file(other, "other.json")]

        as_operator.post("/import/", {"upload": files})

        assert Conversation.objects.count() == ImportJob.objects.count() == 2

    def test_a_broken_file_says_where_why_and_what_was_kept(self, as_operator):
        line = b'{"role": "user", "content": "a"}\n'
        broken = line + b'{"role": "user", "cont\n' + line

        page = as_operator.post(
            "/import/", {"upload": a_file(broken, "cut.jsonl")}, follow=True
        )

        said = text_of(page)
        assert not Conversation.objects.exists()
        assert "cut.jsonl" in said
        assert "line 2" in said
        assert "Nothing of the file was imported" in said
        assert "What to do" in said

    def test_an_empty_file_is_refused_at_the_field(self, as_operator):
        page = as_operator.post("/import/", {"upload": a_file(b"", "none.json")})

        assert page.status_code == 422
        assert "none.json is empty and was not taken." in text_of(page)
        assert not ImportJob.objects.exists()

    def test_of_two_files_the_good_one_is_taken(self, as_operator):
        files = [a_file(b"", "none.json"), a_file()]

        page = as_operator.post("/import/", {"upload": files}, follow=True)

        assert "none.json is empty" in text_of(page)
        assert Conversation.objects.count() == 1

    def test_without_a_file_it_asks_for_one(self, as_operator):
        page = as_operator.post("/import/", {})

        assert page.status_code == 422
        assert "Choose at least one file." in text_of(page)

    def test_a_viewer_may_not(self, as_viewer):
        assert as_viewer.get("/import/").status_code == 403
        assert as_viewer.post("/import/", {"upload": a_file()}).status_code == 403
        assert not ImportJob.objects.exists()

    def test_a_stranger_finds_nothing(self, as_stranger):
        assert as_stranger.get("/import/").status_code == 404


class TestJobs:
    @pytest.mark.parametrize("reason", [*REASONS, "gave_up", "internal"])
    def test_every_reason_has_words_of_its_own(self, as_operator, reason):
        a_job(status="failed", reason=reason, error="because")

        page = text_of(as_operator.get("/import/"))

        assert "The import failed:" not in page
        assert "because" in page

    def test_an_import_on_its_way_shows_how_far_it_is(self, as_operator):
        a_job(
            status="in_progress",
            conversations_done=7,
            conversations_new=7,
            messages_done=1_200,
        )

        page = as_operator.get("/import/")

        assert "7 new conversations; 1,200 messages added." in text_of(page)
        assert "every 1s" in page.content.decode()

    def test_htmx_gets_the_list_alone(self, as_operator):
        page = as_operator.get("/import/", headers=HTMX).content.decode()

        assert page.lstrip().startswith('<section id="import-jobs"')

    def test_an_operator_stops_an_import(self, as_operator):
        job = a_job()

        page = as_operator.post(f"/import/{job.pk}/cancel/", follow=True)

        assert "stopped; what it had brought in stays" in text_of(page)
        job.refresh_from_db()
        assert job.status == "cancelled"

    def test_hostile_names_are_shown_and_do_nothing(self, as_operator):
        a_job(status="failed", label=HOSTILE, error=HOSTILE, reason="broken")

        page = as_operator.get("/import/").content.decode()

        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page

    def test_more_imports_cost_no_more_queries(self, as_operator, operator):
        a_job(requested_by=operator)
        few = count_queries(as_operator, "/import/")
        for _ in range(10):
            a_job(requested_by=operator)

        assert count_queries(as_operator, "/import/") == few


class TestHome:
    @pytest.fixture
    def home(self, settings, tmp_path: Path) -> Path:
        """A folder that looks like a Hermes home."""
        settings.HERMES_HOME = tmp_path
        (tmp_path / "state.db").write_bytes(b"SQLite format 3\x00" + b"\x00" * 100)
        assert tmp_path in wiring.hermes_homes()
        return tmp_path

    def test_an_admin_is_offered_a_home_and_nothing_is_imported(self, as_admin, home):
        page = text_of(as_admin.get("/import/"))

        assert "A Hermes Agent lives on this machine." in page
        assert "not imported yet" in page
        assert not ImportJob.objects.exists()

    def test_an_operator_is_not_shown_folders_of_the_machine(self, as_operator, home):
        page = as_operator.get("/import/").content.decode()

        assert str(home) not in page

    def test_it_is_imported_when_told_to(self, as_admin, home):
        as_admin.post("/import/home/", {"home": str(home)})

        job = ImportJob.objects.get()
        assert (job.path, job.is_upload) == (str(home / "state.db"), False)
        assert (home / "state.db").exists()

    def test_no_other_folder_can_be_named(self, as_admin, home, tmp_path_factory):
        other = tmp_path_factory.mktemp("other")
        (other / "state.db").write_bytes(b"SQLite format 3\x00")

        assert as_admin.post("/import/home/", {"home": str(other)}).status_code == 404
        assert not ImportJob.objects.exists()

    def test_an_operator_may_not(self, as_operator, home):
        response = as_operator.post("/import/home/", {"home": str(home)})

        assert response.status_code == 403
        assert not OperatorAction.objects.exists()
