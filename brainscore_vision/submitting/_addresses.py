"""Which addresses of repositories are gone to."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from brainscore_core.errors import UserError

__all__ = ["LOCAL", "Place", "local_allowed", "looked_up", "place_of"]

LOCAL = "BRAINSCORE_GIT_LOCAL"
"""Environment variable that allows repositories in folders of this machine, for tests."""

_WRITTEN = "write it as https://github.com/name/repository"


class Place(NamedTuple):
    """Where a repository is: as git is told, and the host with its port (empty: a folder)."""

    url: str
    host: str
    port: int


def local_allowed() -> bool:
    """Whether repositories in folders, and on this network, are read."""
    return os.environ.get(LOCAL) == "1"


def place_of(url: str) -> Place:
    """Check an address.

    Raises
    ------
    UserError
        Unless it is a plain ``https://`` address of another machine.
    """
    url = url.strip()
    if len(url) > 500 or not url.isascii() or not url.isprintable() or re.search(r"[\s\\'\"<>]", url):
        raise UserError(f"{url[:100]!a} is no address of a repository", remedy=_WRITTEN)
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError as error:
        raise UserError(f"{url!r} is no address of a repository: {error}", remedy=_WRITTEN) from error
    if parts.scheme == "file" and local_allowed() and not parts.netloc:
        return Place(f"file://{unquote(parts.path)}", "", 0)
    if parts.scheme != "https" or not parts.hostname:
        raise UserError(f"{url!r} is no address that begins with https://", remedy=_WRITTEN)
    if parts.username is not None or parts.password is not None:
        raise UserError("the address holds a user or a password", remedy="send a public repository, or a ZIP file")
    if parts.query or parts.fragment or not parts.path.strip("/"):
        raise UserError(f"{url!r} names no repository", remedy=_WRITTEN)
    if parts.hostname == "github.com" and len(parts.path.strip("/").split("/")) != 2:
        raise UserError(f"{url!r} is a page of a repository, not the repository", remedy=_WRITTEN)
    return Place(f"https://{parts.netloc}{parts.path.rstrip('/')}", parts.hostname, port)


def looked_up(place: Place) -> str | None:
    """Address of the host, for git to go to this one and no other; None where a proxy looks it up.

    Raises
    ------
    UserError
        If the host is not known, or is on this machine or its network.
    """
    if not place.host or local_allowed():
        return None
    proxy = any(os.environ.get(name) for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"))
    try:
        found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except OSError as error:
        if proxy:
            return None
        raise UserError(f"there is no host {place.host!r}", remedy="check the address") from error
    addresses = [str(one[4][0]) for one in found]
    for address in addresses:
        if not _is_public(address):
            raise UserError(f"{place.host} is an address of a private network", remedy="name a public repository")
    return None if proxy else addresses[0]


def _is_public(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None:
            return _is_public(str(inner))
        if parsed in ipaddress.ip_network("64:ff9b::/96"):
            return _is_public(str(ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)))
    return parsed.is_global and not parsed.is_multicast
