"""Which base URLs may be saved, and where an address leads."""

from __future__ import annotations

import pytest

from compaction.adapters.address_rules import (
    AddressRule,
    Place,
    UrlFault,
    check_base_url,
    place_of,
)

PUBLIC, PRIVATE, ANY = AddressRule.PUBLIC, AddressRule.PRIVATE, AddressRule.ANY


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("8.8.8.8", Place.PUBLIC),
        ("2606:4700:4700::1111", Place.PUBLIC),
        ("127.0.0.1", Place.LOOPBACK),
        ("127.255.255.254", Place.LOOPBACK),
        ("::1", Place.LOOPBACK),
        ("10.1.2.3", Place.PRIVATE),
        ("172.16.0.1", Place.PRIVATE),
        ("172.31.255.255", Place.PRIVATE),
        ("192.168.1.1", Place.PRIVATE),
        ("100.64.0.1", Place.PRIVATE),
        ("fc00::1", Place.PRIVATE),
        ("fec0::1", Place.PRIVATE),
        ("169.254.1.1", Place.LINK_LOCAL),
        ("fe80::1", Place.LINK_LOCAL),
        ("fe80::1%eth0", Place.LINK_LOCAL),
        ("169.254.169.254", Place.METADATA),
        ("fd00:ec2::254", Place.METADATA),
        ("100.100.100.200", Place.METADATA),
        ("168.63.129.16", Place.METADATA),
        ("224.0.0.1", Place.MULTICAST),
        ("ff02::1", Place.MULTICAST),
        ("0.0.0.0", Place.UNSPECIFIED),
        ("::", Place.UNSPECIFIED),
        ("0.1.2.3", Place.RESERVED),
        ("240.0.0.1", Place.RESERVED),
        ("255.255.255.255", Place.RESERVED),
    ],
)
def test_an_address_leads_where_it_leads(address, place):
    assert place_of(address) is place


@pytest.mark.parametrize(
    ("wrapped", "place"),
    [
        ("::ffff:127.0.0.1", Place.LOOPBACK),
        ("::ffff:10.0.0.1", Place.PRIVATE),
        ("::ffff:169.254.169.254", Place.METADATA),
        ("::ffff:8.8.8.8", Place.PUBLIC),
        ("::127.0.0.1", Place.LOOPBACK),
        ("2002:7f00:1::", Place.LOOPBACK),
        ("2002:a9fe:a9fe::", Place.METADATA),
        ("64:ff9b::7f00:1", Place.LOOPBACK),
        ("64:ff9b::a9fe:a9fe", Place.METADATA),
        ("64:ff9b::808:808", Place.PUBLIC),
    ],
)
def test_an_ipv4_address_is_found_inside_an_ipv6_address(wrapped, place):
    assert place_of(wrapped) is place


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://models.example:8080/v1/",
        "https://8.8.8.8/v1",
        "https://[2606:4700:4700::1111]:8443/v1",
    ],
)
def test_a_public_url_may_be_saved(url):
    assert check_base_url(url, PUBLIC) is None


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("ftp://models.example/v1", UrlFault.SCHEME),
        ("file:///etc/passwd", UrlFault.SCHEME),
        ("javascript:alert(1)", UrlFault.SCHEME),
        ("models.example/v1", UrlFault.SCHEME),
        ("", UrlFault.SCHEME),
        ("https://user:secret@models.example/v1", UrlFault.CREDENTIALS),
        ("https://user@models.example/v1", UrlFault.CREDENTIALS),
        ("https://@models.example/v1", UrlFault.CREDENTIALS),
        ("https:///v1", UrlFault.HOST),
        ("https://[::1/v1", UrlFault.HOST),
        ("https://models.example:99999/v1", UrlFault.PORT),
        ("https://models.example/v1?key=1", UrlFault.EXTRAS),
        ("https://models.example/v1#top", UrlFault.EXTRAS),
        ("https://models.example/v 1", UrlFault.CHARACTERS),
        ("https://models.example\\@127.0.0.1/", UrlFault.CHARACTERS),
        ("https://models.example/\r\nHost: other", UrlFault.CHARACTERS),
    ],
)
def test_what_is_no_plain_base_url_is_refused_under_any_rule(url, fault):
    assert check_base_url(url, PUBLIC) is fault
    assert check_base_url(url, ANY) is fault


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.1",
        "127.0.1",
        "0",
        "１２７.1",
    ],
)
def test_an_address_in_disguise_is_refused_even_when_private_ones_are_permitted(host):
    assert check_base_url(f"http://{host}/v1", PRIVATE) is UrlFault.ODD_ADDRESS


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "１２７.０.０.１",
        "127。0。0。1",
        "localhost",
        "LOCALHOST",
        "models.localhost",
        "10.0.0.5:8000",
        "[::1]:8000",
        "[::ffff:192.168.0.1]",
        "[fe80::1%25eth0]",
        "169.254.1.1",
    ],
)
def test_an_own_network_needs_the_permission_of_an_admin(host):
    url = f"http://{host}/v1"
    assert check_base_url(url, PUBLIC) is UrlFault.NEEDS_PERMISSION
    assert check_base_url(url, PRIVATE) is None


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "[fd00:ec2::254]",
        "metadata.google.internal",
        "224.0.0.1",
        "0.0.0.0",
        "[::]",
        "255.255.255.255",
    ],
)
def test_what_no_model_answers_at_is_never_permitted(host):
    assert check_base_url(f"http://{host}/v1", PRIVATE) is UrlFault.FORBIDDEN


def test_every_address_of_a_name_is_judged():
    def resolve(host: str, port: int) -> list[str]:
        return ["8.8.8.8", "10.0.0.1"]

    fault = check_base_url("https://models.example/v1", PUBLIC, resolve=resolve)

    assert fault is UrlFault.NEEDS_PERMISSION


def test_a_name_that_is_not_known_yet_passes_since_connections_are_checked_again():
    def resolve(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    assert check_base_url("https://models.example/v1", PUBLIC, resolve=resolve) is None
