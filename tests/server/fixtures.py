"""Fixtures that give a test the scripted server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.scripted_openai import ScriptedOpenAI


@pytest.fixture(scope="session")
def _scripted_openai_server() -> Iterator[ScriptedOpenAI]:
    server = ScriptedOpenAI().start()
    yield server
    server.stop()


@pytest.fixture
def scripted_openai(
    _scripted_openai_server: ScriptedOpenAI,
) -> Iterator[ScriptedOpenAI]:
    """An OpenAI-compatible server on 127.0.0.1, with an empty script."""
    _scripted_openai_server.reset()
    yield _scripted_openai_server
    _scripted_openai_server.reset()
