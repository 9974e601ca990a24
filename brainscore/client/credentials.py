"""Address of the site and its token: passed, from the environment, or saved by ``brainscore login``."""

import ipaddress
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.paths import token_file


@dataclass(frozen=True)
class SavedTokens:
    """The default site, and the token of each site."""

    site: str | None = None
    tokens: Mapping[str, str] = field(default_factory=dict)


def saved_tokens() -> SavedTokens:
    """Read the saved tokens; without a file, there are none.

    Raises UserError if other users can read the file, or it is not valid.
    """
    file = token_file()
    try:
        with file.open("rb") as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            content = stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return SavedTokens()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}", remedy=f"remove it: rm {file}") from error
    if os.name == "posix" and mode & 0o077:
        raise UserError(f"other users can read the tokens in {file}", remedy=f"chmod 600 {file}")
    try:
        values = json.loads(content)
        site, tokens = values["site"], values["tokens"]
        valid = (site is None or isinstance(site, str)) and all(isinstance(token, str) for token in tokens.values())
    except (ValueError, TypeError, KeyError, AttributeError):
        valid = False
    if not valid:
        raise UserError(f"{file} is not valid", remedy=f"remove it, and log in again: rm {file}")
    return SavedTokens(site, tokens)


def save_token(site: str, token: str) -> Path:
    """Save the token of a site, which becomes the default site, and return the file."""
    try:
        before = saved_tokens()
    except UserError:
        before = SavedTokens()  # an unreadable file is replaced
    return _write_tokens(SavedTokens(site, {**before.tokens, site: token}))


def forget_token(site: str) -> bool:
    """Delete the token of a site, and return whether there was one."""
    before = saved_tokens()
    remaining = {address: token for address, token in before.tokens.items() if address != site}
    if len(remaining) == len(before.tokens):
        return False
    if remaining:
        _write_tokens(SavedTokens(before.site if before.site in remaining else None, remaining))
    else:
        token_file().unlink(missing_ok=True)
    return True


def _write_tokens(content: SavedTokens) -> Path:
    file = token_file()
    text = json.dumps({"site": content.site, "tokens": dict(content.tokens)}, indent=2)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replacing(file, mode=0o600) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}", remedy="set BRAINSCORE_TOKEN instead") from error
    return file


DEFAULT_SITE = "http://127.0.0.1:8000"
"""The address of ``brainscore serve``."""


def site_of(url: str | None) -> str:
    """Address of the site: as passed, else ``$BRAINSCORE_SITE``, else of ``brainscore login``, else this machine's.

    Raises UserError if it is not the address of a site.

    Examples
    --------
    >>> site_of("https://www.example.org/")
    'https://www.example.org'
    """
    address = url or os.environ.get("BRAINSCORE_SITE") or saved_tokens().site or DEFAULT_SITE
    fields = urlsplit(address)
    try:
        valid = fields.scheme in ("http", "https") and fields.hostname and (fields.port or 1) and not fields.username
    except ValueError:  # the port is not a number
        valid = False
    if not valid or fields.query or fields.fragment:
        remedy = "write it as https://www.example.org"
        raise UserError(f"{address!r} is not the address of a site", remedy=remedy)
    return address.rstrip("/")


def token_for(site: str, token: str | None) -> str | None:
    """The token to send: as passed, else ``$BRAINSCORE_TOKEN``, unless that belongs to another ``$BRAINSCORE_SITE``.

    Otherwise the one that ``brainscore login`` saved for this site. Raises UserError if it would be sent unencrypted to
    another machine.
    """
    if token is None:
        home = os.environ.get("BRAINSCORE_SITE")
        if not home or origin_of(site_of(home)) == origin_of(site):
            token = os.environ.get("BRAINSCORE_TOKEN") or None
    if token is None:
        token = saved_tokens().tokens.get(site)
    if token is None:
        return None
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UserError("the token has characters that tokens do not have", remedy="copy it again")
    if urlsplit(site).scheme != "https" and not is_loopback(urlsplit(site).hostname or ""):
        raise UserError(
            f"the token would be sent unencrypted to {site}",
            remedy="use https://, or unset BRAINSCORE_TOKEN to send no token",
        )
    return token


def origin_of(url: str) -> tuple[str, str | None, int]:
    """Scheme, host and port of an address."""
    address = urlsplit(url)
    return address.scheme, address.hostname, address.port or (443 if address.scheme == "https" else 80)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
