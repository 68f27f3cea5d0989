"""The fixtures themselves: what they start is real and shares our database."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from hermes_web.celery import app
from tests.live import BrowserFindings, wait_for


def test_a_real_worker_takes_messages_of_this_process(workers):
    worker = workers.start()

    app.send_task("tests.no_such_task")

    wait_for(
        lambda: "tests.no_such_task" in worker.output(), what="the worker got the task"
    )


def test_the_web_server_answers_with_the_strict_policy(console):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(console.url("/no-such-page/"))

    assert caught.value.code == 404
    policy = caught.value.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    caught.value.close()


@pytest.mark.browser
def test_a_request_to_another_machine_is_stopped_and_noted(chromium, console):
    context = chromium.new_context()
    findings = BrowserFindings()
    context.route("**/*", findings.keep_at_home)
    page = context.new_page()

    page.set_content("<img src='http://192.0.2.1/picture.png'>")
    page.wait_for_timeout(500)
    context.close()

    assert findings.foreign_requests == ["http://192.0.2.1/picture.png"]


@pytest.mark.browser
def test_a_breach_of_the_policy_is_noted(chromium, console):
    context = chromium.new_context()
    findings = BrowserFindings()
    context.on("page", findings.watch)
    page = context.new_page()

    page.goto(console.url("/no-such-page/"))
    page.evaluate(
        "const tag = document.createElement('script'); tag.textContent = '1';"
        "document.head.append(tag)"
    )
    page.wait_for_timeout(200)
    context.close()

    assert findings.policy_violations
