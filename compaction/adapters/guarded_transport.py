"""Connections to checked addresses alone: what was judged is what is connected to.

A name may lead to a harmless address when it is checked and to another one a moment
later. So it is looked up once here, every address is judged, and the connection goes
to the address itself; certificate and Host header stay those of the name.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence

import httpx2

from compaction.adapters.address_rules import (
    AddressRule,
    Resolve,
    allows,
    place_of,
)
from compaction.adapters.name_lookup import resolve_within

RESOLVE_SECONDS = 10.0
"""How long a name may take where the request sets no limit."""


class AddressNotAllowed(httpx2.RequestError):
    """The host leads to an address that the endpoint may not reach."""


class GuardedTransport(httpx2.BaseTransport):
    """An HTTP transport that connects only where its rule allows.

    Proxies of the environment are not asked: they would connect for us, unchecked.
    """

    def __init__(
        self,
        rule: AddressRule,
        *,
        verify: ssl.SSLContext,
        resolve: Resolve | None = None,
    ) -> None:
        self._rule = rule
        self._resolve = resolve
        self._inner = httpx2.HTTPTransport(verify=verify, trust_env=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first address that answers the connection."""
        addresses = self._addresses(request)
        for address in addresses[:-1]:
            try:
                return self._send(request, address)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue  # nothing was sent yet
        return self._send(request, addresses[-1])

    def _addresses(self, request: httpx2.Request) -> Sequence[str]:
        """Look the host up; one bad address spoils all, as it may be chosen next."""
        host = request.url.raw_host.decode("ascii")
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        resolve = self._resolve or resolve_within(_seconds_to_connect(request))
        try:
            found = resolve(host, port)
        except (OSError, UnicodeError) as error:
            message = f"the name {host} is not known: {error}"
            raise httpx2.ConnectError(message, request=request) from error
        if not found:
            message = f"the name {host} has no address"
            raise httpx2.ConnectError(message, request=request)
        for address in found:
            place = place_of(address)
            if not allows(self._rule, place):
                message = f"{host} leads to {address} ({place.value.replace('_', ' ')})"
                raise AddressNotAllowed(message, request=request)
        return found

    def _send(self, request: httpx2.Request, address: str) -> httpx2.Response:
        """Send to an address; the caller's request keeps the name it was made for."""
        host = request.url.raw_host.decode("ascii")
        sent = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return self._inner.handle_request(sent)

    def close(self) -> None:
        """Close what is open."""
        self._inner.close()


def _seconds_to_connect(request: httpx2.Request) -> float:
    limit = request.extensions.get("timeout", {}).get("connect")
    return RESOLVE_SECONDS if limit is None else float(limit)
