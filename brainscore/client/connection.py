"""HTTP with one site: its address, the token, retries, errors and downloads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from urllib3.response import BaseHTTPResponse
from urllib3.util.retry import Retry

from brainscore_core.errors import DataUnavailable, UnknownIdentifier, UserError

if TYPE_CHECKING:
    import requests
import ipaddress
import stat
from dataclasses import dataclass, field

from brainscore_core.files import replacing
from brainscore_core.paths import token_file

_LONGEST_WAIT = 90.0  # seconds; a site counts requests by the minute


class SiteRetry(Retry):
    """Retries a few times after 429 and 503, after the delay that the site requests, but at most 90 s.

    Posted receipts can be sent again: a site stores each only once.
    """

    def __init__(self, **options: Any) -> None:
        few: dict[str, Any] = {
            "total": 4,
            "connect": 0,
            "read": 0,
            "other": 0,
            "status_forcelist": (429, 503),
            "allowed_methods": ("GET", "POST"),
            "backoff_factor": 0.5,
            "raise_on_status": False,
        }
        super().__init__(**{**few, **options})

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        seconds = super().get_retry_after(response)
        return None if seconds is None else min(seconds, _LONGEST_WAIT)


Query = Sequence[tuple[str, str]]
"""Names and values; names may repeat."""

_REDIRECTS = 5


class Connection:
    """A session with one site; `timeout` is in seconds, for a connection and for each part of a response."""

    def __init__(self, site: str, token: str | None, timeout: float) -> None:
        self.site, self._token, self._timeout = site, token, timeout
        self._session: requests.Session | None = None

    def close(self) -> None:
        """Close the session; the next request opens another."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def get(self, path: str, query: Query = ()) -> Any:
        """Request JSON."""
        return self._json(self._ask("GET", path, query, {}))

    def post(self, path: str, body: bytes, query: Query = ()) -> Any:
        """Post JSON, and return the response."""
        return self._json(self._ask("POST", path, query, {"Content-Type": "application/json"}, body))

    def send(self, path: str, fields: Mapping[str, Any]) -> Any:
        """Post a form, in which a file is (name, content, type), and return the response."""
        from urllib3.filepost import encode_multipart_formdata

        body, kind = encode_multipart_formdata(fields)
        return self._json(self._ask("POST", path, (), {"Content-Type": kind}, body))

    def upload(self, path: str, file: IO[bytes], kind: str, query: Query = ()) -> Any:
        """Send a file of a content type from its beginning, without reading it into memory, and return the response."""
        file.seek(0)
        return self._json(self._ask("POST", path, query, {"Content-Type": kind}, file))

    def table(self, page: str, query: Query) -> str:
        """Request the CSV file of a page, such as ``/vision/compare/compare.csv``."""
        response = self._ask("GET", page, query, {})
        if not response.headers.get("Content-Type", "").startswith("text/csv"):
            raise self._no_site()
        return response.content.decode("utf-8")

    def download(self, path: str, query: Query, target: Path) -> Path:
        """Download a file; an existing file is replaced when the download is complete."""
        import requests

        target = target.expanduser().absolute()
        if not target.parent.is_dir():
            raise UserError(f"there is no folder {target.parent}", remedy="create it, or name another file")
        with self._ask("GET", path, query, {}, stream=True) as response, replacing(target) as file:
            try:
                for content in response.iter_content(1 << 20):
                    file.write(content)
            except requests.RequestException as error:
                raise self._unreachable(error) from error
        return target

    def _json(self, response: requests.Response) -> Any:
        if not response.headers.get("Content-Type", "").startswith("application/json"):
            raise self._no_site()
        try:
            return response.json()
        except ValueError as error:
            raise self._no_site() from error

    def _ask(
        self,
        method: str,
        path: str,
        query: Query,
        headers: Mapping[str, str],
        body: bytes | IO[bytes] | None = None,
        *,
        stream: bool = False,
    ) -> requests.Response:
        """Send a request, and follow redirects within the site."""
        import requests

        url: str = self.site + (path if path.startswith("/") else f"/api/v1/{path}")
        parameters: Query | None = query
        for _ in range(_REDIRECTS):
            try:
                response = self._opened().request(
                    method,
                    url,
                    params=list(parameters or ()),
                    data=body,
                    headers=headers,
                    auth=self._authorize,
                    timeout=self._timeout,
                    allow_redirects=False,
                    stream=stream,
                )
            except requests.RequestException as error:
                raise self._unreachable(error) from error
            if not response.is_redirect:
                return self._checked(response)
            url, parameters = urljoin(url, response.headers["Location"]), None
            response.close()
            if origin_of(url) != origin_of(self.site):
                raise UserError(
                    f"{self.site} redirects to another address: {url}", remedy="use that address, if you trust it"
                )
        raise UserError(f"{self.site} redirects without end", remedy="is it the address of a Brain-Score site?")

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the token; credentials in a .netrc file are not used."""
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _opened(self) -> requests.Session:
        if self._session is None:
            import requests
            from requests.adapters import HTTPAdapter

            self._session = requests.Session()
            if self.site.startswith("http://") and is_loopback(urlsplit(self.site).hostname or ""):
                self._session.trust_env = False  # no proxy for requests to this machine
            self._session.headers["Accept"] = "application/json, */*;q=0.5"
            self._session.headers["User-Agent"] = "brainscore"
            for scheme in ("http://", "https://"):
                self._session.mount(scheme, HTTPAdapter(max_retries=SiteRetry()))
            # a submission that is refused because there are too many is not repeated
            once = HTTPAdapter(max_retries=SiteRetry(allowed_methods=("GET",)))
            self._session.mount(f"{self.site}/api/v1/submissions", once)
        return self._session

    def _checked(self, response: requests.Response) -> requests.Response:
        """Raise an error for an error response."""
        status = response.status_code
        if status < 400:
            return response
        content: Any = None
        with suppress(ValueError):
            content = response.json()
        response.close()
        if not isinstance(content, dict) or "message" not in content:
            if status >= 500:
                raise DataUnavailable(f"{self.site} has an internal error ({status})", remedy="try again later")
            raise self._no_site()
        message, remedy = str(content["message"]), content.get("remedy")
        remedy = str(remedy).replace("/api/v1/", f"{self.site}/api/v1/") if remedy else None
        if status == 401:
            remedy = "set BRAINSCORE_TOKEN to a valid token, or unset it" if self._token else "set BRAINSCORE_TOKEN"
            remedy += "; or log in: brainscore login"
        faults = "; ".join(f"{fault['where']}: {fault['message']}" for fault in content.get("errors") or ())
        text = f"{self.site}: {message}" + (f" ({faults})" if faults else "")
        if status == 429 or status >= 500:
            raise DataUnavailable(text, remedy=remedy)
        raise (UnknownIdentifier if status == 404 else UserError)(text, remedy=remedy)

    def _unreachable(self, error: Exception) -> UserError:
        import requests

        if isinstance(error, requests.Timeout):
            return DataUnavailable(f"{self.site} does not answer within {self._timeout:g} s", remedy="try again later")
        remedy = "is the address right, and is it reachable from here?"
        if is_loopback(urlsplit(self.site).hostname or ""):
            remedy = "start a site with: brainscore serve; or name another one with --site or BRAINSCORE_SITE"
        return DataUnavailable(f"{self.site} cannot be reached", remedy=remedy)

    def _no_site(self) -> UserError:
        return UserError(
            f"the server at {self.site} is not a Brain-Score site", remedy="name a site with BRAINSCORE_SITE"
        )


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
