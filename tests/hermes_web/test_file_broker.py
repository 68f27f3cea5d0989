"""The file broker: a worker never meets half a message."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from kombu import Connection
from kombu.simple import SimpleQueue

from hermes_web.environment import broker_options
from hermes_web.file_broker import Transport

MESSAGES = 300


@pytest.fixture
def name(tmp_path: Path) -> str:
    """A queue of the test's own: kombu remembers bindings for the whole process."""
    return f"work-{tmp_path.name}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "broker"


def connect(folder: Path) -> Connection:
    options = broker_options("filesystem://localhost", folder)
    return Connection("filesystem://localhost", transport_options=options)


def send_all(queue: SimpleQueue) -> None:
    for number in range(MESSAGES):
        queue.put({"number": number})


def test_the_address_of_the_embedded_broker_means_our_transport(folder):
    with connect(folder) as connection:
        assert isinstance(connection.transport, Transport)


def test_a_reader_that_never_rests_gets_every_message_of_a_fast_writer(folder, name):
    """A worker once ended over a message that was there but still empty."""
    with connect(folder) as sending, connect(folder) as reading:
        writing = sending.SimpleQueue(name)
        taking = reading.SimpleQueue(name)
        writer = threading.Thread(target=send_all, args=(writing,))
        writer.start()
        got = [taking.get(timeout=20) for _ in range(MESSAGES)]
        writer.join()
    assert sorted(message.payload["number"] for message in got) == [*range(MESSAGES)]


@pytest.mark.parametrize("damaged", ["", "{", "\x00"])
def test_a_damaged_message_is_dropped_and_the_next_one_is_taken(folder, name, damaged):
    with connect(folder) as connection:
        queue = connection.SimpleQueue(name)
        (folder / "queue" / f"0_torn.{name}.msg").write_text(damaged)
        queue.put({"number": 1})
        assert queue.get(timeout=20).payload == {"number": 1}


def test_binding_a_queue_leaves_no_parts_behind(folder, name):
    with connect(folder) as connection:
        connection.SimpleQueue(name).put({"number": 1})
    assert not list(folder.rglob("*.part"))
