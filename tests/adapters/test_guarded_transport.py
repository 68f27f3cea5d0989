"""The address that was judged is the address that is connected to."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import httpx2
import pytest

from compaction.adapters.address_rules import AddressRule
from compaction.adapters.guarded_transport import GuardedTransport
from compaction.adapters.openai_chat import OpenAIChat
from compaction.engine.llm import ChatRequest, ErrorKind, ModelError
from tests.server.replies import Failure, Reply
from tests.server.scripted_openai import ScriptedOpenAI

look_up = socket.getaddrinfo
REQUEST = ChatRequest(messages=({"role": "user", "content": "hi"},))


def answers_of(*rounds: list[str]):
    """A resolver that gives one list of addresses after another, then the last."""
    left = list(rounds)

    def getaddrinfo(host, port, *args, **kwargs):
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in found]

    return getaddrinfo


def chat(server: ScriptedOpenAI, host: str, rule: AddressRule) -> OpenAIChat:
    url = f"http://{host}:{server.port}/v1"
    return OpenAIChat(base_url=url, model="scripted", rule=rule, timeout=20.0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_out_of_reach_unless_an_admin_permits_it(scripted_openai, host):
    with pytest.raises(ModelError) as refused:
        chat(scripted_openai, host, AddressRule.PUBLIC).complete(REQUEST)

    assert refused.value.kind is ErrorKind.NO_PROVIDER
    assert refused.value.code == "address_not_allowed"
    assert "loopback" in refused.value.message
    assert scripted_openai.requests == []

    permitted = chat(scripted_openai, host, AddressRule.PRIVATE)
    assert permitted.complete(REQUEST).text


def test_a_name_that_moves_after_it_was_checked_is_judged_again(
    scripted_openai, monkeypatch
):
    moving = answers_of(["8.8.8.8"], ["127.0.0.1"])
    monkeypatch.setattr(socket, "getaddrinfo", moving)
    assert socket.getaddrinfo("models.example", 443)[0][4][0] == "8.8.8.8"

    with pytest.raises(ModelError) as refused:
        chat(scripted_openai, "models.example", AddressRule.PUBLIC).complete(REQUEST)

    assert refused.value.code == "address_not_allowed"
    assert scripted_openai.requests == []


def test_one_bad_address_among_good_ones_spoils_the_name(scripted_openai, monkeypatch):
    mixed = answers_of(["8.8.8.8", "169.254.169.254"])
    monkeypatch.setattr(socket, "getaddrinfo", mixed)

    with pytest.raises(ModelError) as refused:
        chat(scripted_openai, "models.example", AddressRule.PRIVATE).complete(REQUEST)

    assert refused.value.code == "address_not_allowed"
    assert "metadata" in refused.value.message


def test_the_name_is_looked_up_once_and_stays_in_the_request(
    scripted_openai, monkeypatch
):
    asked = []

    def getaddrinfo(host, port, *args, **kwargs):
        asked.append(host)
        known = {"models.example": "127.0.0.1"}.get(host, host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known, port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    chat(scripted_openai, "models.example", AddressRule.PRIVATE).complete(REQUEST)

    host = scripted_openai.requests[0].headers["host"]
    assert host == f"models.example:{scripted_openai.port}"
    assert asked.count("models.example") == 1


def test_the_next_address_is_tried_when_one_does_not_answer(
    scripted_openai, monkeypatch
):
    two = answers_of(["127.0.0.2", "127.0.0.1"])
    monkeypatch.setattr(
        "compaction.adapters.name_lookup.socket.getaddrinfo",
        lambda host, port, *a, **k: (
            two(host, port)
            if host == "models.example"
            else look_up(host, port, *a, **k)
        ),
    )

    model = chat(scripted_openai, "models.example", AddressRule.PRIVATE)
    assert model.complete(REQUEST).text
    assert len(scripted_openai.requests) == 1


def test_a_redirect_is_not_followed(scripted_openai, second_openai):
    elsewhere = {"Location": f"{second_openai.base_url}/chat/completions"}
    scripted_openai.play(Failure(status=307, message="moved", headers=elsewhere))

    with pytest.raises(ModelError) as refused:
        chat(scripted_openai, "127.0.0.1", AddressRule.PRIVATE).complete(REQUEST)

    assert refused.value.status == 307
    assert second_openai.requests == []


def test_a_proxy_of_the_environment_is_not_asked(scripted_openai, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    model = chat(scripted_openai, "127.0.0.1", AddressRule.PRIVATE)
    assert model.complete(REQUEST).text


def test_a_name_that_is_not_known_cannot_be_reached(monkeypatch):
    def getaddrinfo(*args, **kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    model = OpenAIChat(
        base_url="http://models.example/v1", model="m", rule=AddressRule.PUBLIC
    )

    with pytest.raises(ModelError) as lost:
        model.complete(REQUEST)

    assert lost.value.kind is ErrorKind.CONNECTION
    assert "models.example is not known" in lost.value.message


def test_a_resolver_that_does_not_answer_is_left_in_time(monkeypatch):
    released = threading.Event()

    def getaddrinfo(*args, **kwargs):
        released.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    model = OpenAIChat(
        base_url="http://models.example/v1",
        model="m",
        rule=AddressRule.PUBLIC,
        timeout=0.2,
    )

    with pytest.raises(ModelError) as lost:
        model.complete(REQUEST)
    released.set()

    assert "no answer in 0." in lost.value.message


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A key and a certificate for models.example, made on the spot."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes"),
            *(
                "-keyout",
                key,
                "-out",
                cert,
                "-days",
                "2",
                "-subj",
                "/CN=models.example",
            ),
            *("-addext", "subjectAltName=DNS:models.example"),
        ],
        check=True,
        capture_output=True,
    )
    return key, cert


@pytest.mark.parametrize(
    ("name", "is_trusted"), [("models.example", True), ("other.example", False)]
)
def test_the_certificate_must_be_that_of_the_name(certificate, name, is_trusted):
    key, cert = certificate
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(cert, key)
    server = ScriptedOpenAI(then=Reply(text="fine"))
    server._server.socket = served.wrap_socket(server._server.socket, server_side=True)
    server.start()
    transport = GuardedTransport(
        AddressRule.PRIVATE,
        verify=ssl.create_default_context(cafile=str(cert)),
        resolve=lambda host, port: ["127.0.0.1"],
    )
    try:
        with httpx2.Client(transport=transport) as client:
            url = f"https://{name}:{server.port}/v1/models"
            if is_trusted:
                assert client.get(url).status_code == 200
            else:
                with pytest.raises(httpx2.ConnectError, match="certificate"):
                    client.get(url)
    finally:
        server.stop()
