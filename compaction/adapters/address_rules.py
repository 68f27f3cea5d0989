"""Which addresses an endpoint may have: nothing inside our own network by accident.

A base URL on a page makes the console send requests for whoever typed it. So a literal
address is judged when the URL is saved, and every address that a name leads to is
judged again at each connection (`guarded_transport`).
"""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from collections.abc import Callable, Iterator
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], list[str]]
"""Host and port to addresses, as text; raises OSError when there are none."""


class AddressRule(StrEnum):
    """How far an endpoint may reach."""

    PUBLIC = "public"  # public addresses alone
    PRIVATE = "private"  # an admin permits this machine and its networks
    ANY = "any"  # the environment says so: whoever starts the console


class Place(StrEnum):
    """Where an address leads."""

    PUBLIC = "public"
    LOOPBACK = "loopback"
    PRIVATE = "private"
    LINK_LOCAL = "link_local"
    METADATA = "metadata"
    MULTICAST = "multicast"
    UNSPECIFIED = "unspecified"
    RESERVED = "reserved"


_PERMITTED = {Place.PUBLIC, Place.LOOPBACK, Place.PRIVATE, Place.LINK_LOCAL}

_METADATA = {
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Google, Azure, OpenStack
        "169.254.170.2",  # AWS, credentials of containers
        "169.254.170.23",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",  # Google
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure, a public address
        "192.0.0.192",  # Oracle
    )
}
"""What tells a machine in a cloud its own secrets; no model answers there."""

_METADATA_NAMES = {"metadata", "metadata.google.internal", "instance-data"}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_COMPATIBLE = ipaddress.ip_network("::/96")
_SITE_LOCAL = ipaddress.ip_network("fec0::/10")
_SHARED = ipaddress.ip_network("100.64.0.0/10")


class UrlFault(StrEnum):
    """Why a base URL is refused, as a code for the forms."""

    SCHEME = "scheme"
    CREDENTIALS = "credentials"
    HOST = "host"
    PORT = "port"
    EXTRAS = "extras"  # a question mark or a fragment
    CHARACTERS = "characters"
    ODD_ADDRESS = "odd_address"  # an address in another form than 192.0.2.1
    FORBIDDEN = "forbidden"  # never allowed
    NEEDS_PERMISSION = "needs_permission"  # an admin may allow it


def place_of(text: str) -> Place:
    """Say where an address leads; raises ValueError for what is no address."""
    return max((_place(a) for a in _meant(text)), key=list(Place).index)


def _meant(text: str) -> Iterator[Address]:
    """Yield an address and each IPv4 address that is wrapped in it."""
    address = ipaddress.ip_address(text.partition("%")[0])
    wrapped: list[Address | None] = []
    if isinstance(address, ipaddress.IPv6Address):
        teredo = address.teredo
        wrapped = [address.ipv4_mapped, address.sixtofour, *(teredo or ())]
        if address in _NAT64 or (address in _COMPATIBLE and int(address) > 0xFFFF):
            wrapped.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    inner = [one for one in wrapped if one is not None]
    # What a mapped address is by itself says nothing: only what it wraps is reached.
    yield from inner or [address]


def _place(address: Address) -> Place:
    kinds = (
        (address in _METADATA, Place.METADATA),
        (address.is_unspecified, Place.UNSPECIFIED),
        (address.is_multicast, Place.MULTICAST),
        (address.is_loopback, Place.LOOPBACK),
        (address.is_link_local, Place.LINK_LOCAL),
        (address in _SHARED or address in _SITE_LOCAL, Place.PRIVATE),
        (_is_unused(address), Place.RESERVED),
        (address.is_private, Place.PRIVATE),
        (not address.is_global, Place.RESERVED),
    )
    return next((place for holds, place in kinds if holds), Place.PUBLIC)


def _is_unused(address: Address) -> bool:
    """True for 0.0.0.0/8 and what is reserved for nobody yet."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_reserved or int(address) < 2**24
    return address.is_reserved


def allows(rule: AddressRule, place: Place) -> bool:
    """True when an endpoint with this rule may connect there."""
    if rule is AddressRule.ANY:
        return True
    permitted = _PERMITTED if rule is AddressRule.PRIVATE else {Place.PUBLIC}
    return place in permitted


def check_base_url(
    url: str, rule: AddressRule, *, resolve: Resolve | None = None
) -> UrlFault | None:
    """Return what is wrong with a base URL, None when it may be saved.

    With `resolve` a name is looked up too; one that is not known yet passes, since
    every connection is checked again.
    """
    if url != url.strip() or any(ord(c) < 33 or ord(c) == 127 for c in url):
        return UrlFault.CHARACTERS
    if "\\" in url:
        return UrlFault.CHARACTERS
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return UrlFault.PORT if url.count("[") == url.count("]") else UrlFault.HOST
    return _form_fault(parts) or _host_fault(
        _plain(parts.hostname or ""), rule, lambda host: _look_up(host, port, resolve)
    )


def _form_fault(parts: SplitResult) -> UrlFault | None:
    if parts.scheme not in ("http", "https"):
        return UrlFault.SCHEME
    if "@" in parts.netloc:
        return UrlFault.CREDENTIALS
    if parts.query or parts.fragment:
        return UrlFault.EXTRAS
    return None


def _plain(host: str) -> str:
    """Read a host as a browser or a resolver would: full-width digits are digits."""
    return unicodedata.normalize("NFKC", host).replace("。", ".").rstrip(".").lower()


def _host_fault(
    host: str, rule: AddressRule, look_up: Callable[[str], list[str]]
) -> UrlFault | None:
    if not host or any(c in host for c in " /?#@"):
        return UrlFault.HOST
    if host in _METADATA_NAMES:
        return UrlFault.FORBIDDEN
    if _is_odd(host):
        return UrlFault.ODD_ADDRESS
    literal = _is_address(host)
    faults = [_place_fault(rule, a) for a in ([host] if literal else look_up(host))]
    return next((fault for fault in faults if fault), None)


def _is_odd(host: str) -> bool:
    """True for 2130706433, 0x7f.1, 0177.0.0.1 and their like."""
    if _is_address(host):
        return False
    try:
        socket.inet_aton(host)
    except (OSError, UnicodeError):
        return False
    return True


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _place_fault(rule: AddressRule, address: str) -> UrlFault | None:
    place = place_of(address)
    if allows(rule, place):
        return None
    if allows(AddressRule.PRIVATE, place):
        return UrlFault.NEEDS_PERMISSION
    return UrlFault.FORBIDDEN


def _look_up(host: str, port: int | None, resolve: Resolve | None) -> list[str]:
    if host == "localhost" or host.endswith(".localhost"):
        return ["127.0.0.1"]
    if resolve is None:
        return []
    try:
        return resolve(host, port or 443)
    except (OSError, UnicodeError):
        return []
