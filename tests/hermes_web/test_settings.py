"""The settings as a fresh process reads them."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import Error, run_checks
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.utils.log import log_response

from hermes_web import settings

ROOT = Path(__file__).resolve().parents[2]


def read_settings(names, **environ):
    """Return settings as a process with exactly these variables reads them."""
    script = (
        "import json; from hermes_web import settings; "
        f"print(json.dumps({{n: getattr(settings, n, None) for n in {names!r}}}, "
        "default=str))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def run_manage(*arguments, **environ):
    """Run manage.py with exactly these variables."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_everything_is_kept_in_the_data_folder(tmp_path):
    read = read_settings(
        ["DATABASES", "STATIC_ROOT", "UPLOAD_DIR", "TIKTOKEN_CACHE_DIR"],
        HERMES_WEB_DATA=str(tmp_path),
    )

    assert read["DATABASES"]["default"]["NAME"] == f"{tmp_path}/console.sqlite3"
    assert read["STATIC_ROOT"] == f"{tmp_path}/static"
    assert read["UPLOAD_DIR"] == f"{tmp_path}/uploads"
    assert read["TIKTOKEN_CACHE_DIR"] == f"{tmp_path}/tiktoken"


def test_without_a_word_the_console_is_closed_to_other_hosts_and_not_in_debug(tmp_path):
    read = read_settings(["DEBUG", "ALLOWED_HOSTS"], HERMES_WEB_DATA=str(tmp_path))

    assert read == {
        "DEBUG": False,
        "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"],
    }


def test_a_generated_secret_outlives_the_process(tmp_path):
    first = read_settings(["SECRET_KEY"], HERMES_WEB_DATA=str(tmp_path))
    second = read_settings(["SECRET_KEY"], HERMES_WEB_DATA=str(tmp_path))

    assert first == second
    assert first["SECRET_KEY"]


def test_no_language_model_is_called_unless_an_endpoint_is_named(tmp_path):
    read = read_settings(
        ["SUMMARISER_BASE_URL"],
        HERMES_WEB_DATA=str(tmp_path),
        OPENAI_API_KEY="sk-lying-around",
        OPENAI_BASE_URL="http://127.0.0.1:9/v1",
    )

    assert read["SUMMARISER_BASE_URL"] == ""


def test_https_makes_cookies_secure(tmp_path):
    names = ["SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_HSTS_SECONDS"]

    plain = read_settings(names, HERMES_WEB_DATA=str(tmp_path))
    https = read_settings(names, HERMES_WEB_DATA=str(tmp_path), HERMES_WEB_HTTPS="1")

    assert not any(plain.values())
    assert all(https.values())


def test_over_https_django_objects_only_to_what_was_left_out_on_purpose(tmp_path):
    done = run_manage(
        "check",
        "--deploy",
        "--fail-level",
        "WARNING",
        HERMES_WEB_DATA=str(tmp_path),
        HERMES_WEB_HTTPS="1",
    )

    # Not set on purpose: the console may share its domain with other services.
    found = set(re.findall(r"security\.W\d+", done.stderr))
    assert found == {"security.W005", "security.W021"}


@pytest.mark.parametrize(
    "environ",
    [
        {"HERMES_WEB_DATA": "/dev/null/console"},
        {"HERMES_WEB_DEBUG": "perhaps"},
        {"DATABASE_URL": "mysql://db/console"},
    ],
)
def test_a_wrong_variable_ends_in_one_sentence(environ, tmp_path):
    done = run_manage("check", **{"HERMES_WEB_DATA": str(tmp_path), **environ})

    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_the_system_check_finds_no_error():
    assert [found for found in run_checks() if isinstance(found, Error)] == []


@pytest.mark.parametrize(
    ("error", "status"), [(PermissionDenied, 403), (KeyError, 500)]
)
def test_only_a_fault_is_logged_with_its_traceback(error, status):
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.addFilter(settings.tell_refusals_in_one_line)
    logger = logging.Logger("django.request")
    logger.addHandler(handler)
    response = HttpResponse(status=status)

    try:
        raise error("no")
    except error as exc:
        log_response("no", response=response, logger=logger, exception=exc)

    assert ("Traceback" in lines.getvalue()) is (status == 500)
