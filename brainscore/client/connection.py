"""The connection to a site: address, token, retries and errors."""

from __future__ import annotations

import ipaddress
import json
import os
import stat
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from urllib3.response import BaseHTTPResponse
from urllib3.util.retry import Retry

from brainscore_core.errors import DataUnavailable, UnknownIdentifier, UserError
from brainscore_core.files import replacing

if TYPE_CHECKING:
    import requests

__all__ = ["Connection", "Patience", "Query", "forget", "keep", "saved", "saved_file", "site_of", "token_for"]


@dataclass(frozen=True)
class Saved:
    """The site that is meant where none is named, and the token of each site."""

    site: str | None = None
    tokens: Mapping[str, str] = field(default_factory=dict)


def saved_file() -> Path:
    """``login.json`` in ``$XDG_CONFIG_HOME/brainscore``, by default ``~/.config/brainscore``."""
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "brainscore" / "login.json"


def saved() -> Saved:
    """Read what is kept; nothing where there is no file.

    Raises
    ------
    UserError
        If others can read the file, or it cannot be understood.
    """
    file = saved_file()
    try:
        with file.open("rb") as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            content = stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return Saved()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}", remedy=f"remove it: rm {file}") from error
    if os.name == "posix" and mode & 0o077:
        raise UserError(f"others can read the tokens in {file}", remedy=f"chmod 600 {file}")
    try:
        told = json.loads(content)
        site, tokens = told["site"], told["tokens"]
        right = (site is None or isinstance(site, str)) and all(isinstance(one, str) for one in tokens.values())
    except (ValueError, TypeError, KeyError, AttributeError):
        right = False
    if not right:
        raise UserError(f"{file} cannot be understood", remedy=f"remove it, and log in again: rm {file}")
    return Saved(site, tokens)


def keep(site: str, token: str) -> Path:
    """Keep the token of a site, which is then the one that is meant; gives the file."""
    try:
        before = saved()
    except UserError:
        before = Saved()  # what cannot be read is replaced
    return _write(Saved(site, {**before.tokens, site: token}))


def forget(site: str) -> bool:
    """Forget the token of a site; says whether there was one."""
    before = saved()
    left = {one: token for one, token in before.tokens.items() if one != site}
    if len(left) == len(before.tokens):
        return False
    if left:
        _write(Saved(before.site if before.site in left else None, left))
    else:
        saved_file().unlink(missing_ok=True)
    return True


def _write(content: Saved) -> Path:
    file = saved_file()
    text = json.dumps({"site": content.site, "tokens": dict(content.tokens)}, indent=2)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replacing(file, mode=0o600) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}", remedy="set BRAINSCORE_TOKEN instead") from error
    return file


_LONGEST = 90.0  # seconds; a site counts requests by the minute


class Patience(Retry):
    """Tries again a few times after 429 and 503, as late as the site says, but never much later than a minute.

    What is posted are receipts, of which a site keeps each once.
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
        return None if seconds is None else min(seconds, _LONGEST)


DEFAULT_SITE = "http://127.0.0.1:8000"
"""Where ``brainscore serve`` serves."""

Query = Sequence[tuple[str, str]]
"""Names and values; names may repeat."""

_KEPT = 32
_BIGGEST = 32_000_000
_REDIRECTS = 5


class _Kept(NamedTuple):
    etag: str
    content: Any


def site_of(url: str | None) -> str:
    """Address of the site: as given, else ``$BRAINSCORE_SITE``, else that of ``brainscore login``, else this machine's.

    Raises
    ------
    UserError
        If it is no address of a site.

    Examples
    --------
    >>> site_of("https://www.example.org/")
    'https://www.example.org'
    """
    address = url or os.environ.get("BRAINSCORE_SITE") or saved().site or DEFAULT_SITE
    parts = urlsplit(address)
    try:
        right = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) and not parts.username
    except ValueError:  # the port is no number
        right = False
    if not right or parts.query or parts.fragment:
        remedy = "write it as https://www.example.org"
        raise UserError(f"{address!r} is no address of a site", remedy=remedy)
    return address.rstrip("/")


def token_for(site: str, token: str | None) -> str | None:
    """The token to send: as given, else ``$BRAINSCORE_TOKEN``, unless that belongs to another ``$BRAINSCORE_SITE``.

    Else the one that ``brainscore login`` keeps for this very site.

    Raises
    ------
    UserError
        If it would travel unencrypted to another machine.
    """
    if token is None:
        home = os.environ.get("BRAINSCORE_SITE")
        if not home or _origin(site_of(home)) == _origin(site):
            token = os.environ.get("BRAINSCORE_TOKEN") or None
    if token is None:
        token = saved().tokens.get(site)
    if token is None:
        return None
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UserError("the token has characters that tokens do not have", remedy="copy it again")
    if urlsplit(site).scheme != "https" and not _is_here(urlsplit(site).hostname or ""):
        raise UserError(
            f"the token would travel unencrypted to {site}",
            remedy="use https://, or unset BRAINSCORE_TOKEN to go without a token",
        )
    return token


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class Connection:
    """A session with one site.

    Parameters
    ----------
    site : str
        As :func:`site_of` gives it.
    token : str or None
        As :func:`token_for` gives it. It is sent to this site and nowhere else.
    timeout : float
        Seconds to wait for a connection, and for each part of an answer.
    """

    def __init__(self, site: str, token: str | None, timeout: float) -> None:
        self.site, self._token, self._timeout = site, token, timeout
        self._session: requests.Session | None = None
        self._kept: OrderedDict[tuple[str, tuple[tuple[str, str], ...]], _Kept] = OrderedDict()

    @property
    def has_token(self) -> bool:
        """Whether there is one to send."""
        return self._token is not None

    def close(self) -> None:
        """Close the session; the next request opens another."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def get(self, path: str, query: Query = ()) -> Any:
        """Ask for JSON; an answer that the site says has not changed is the one from before, not to be written to."""
        key = path, tuple(query)
        kept = self._kept.get(key)
        response = self._ask("GET", path, query, {"If-None-Match": kept.etag} if kept else {})
        if response.status_code == 304 and kept:
            self._kept.move_to_end(key)
            return kept.content
        content = self._json(response)
        etag = response.headers.get("ETag")
        if etag and len(response.content) <= _BIGGEST:
            self._kept[key] = _Kept(etag, content)
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return content

    def post(self, path: str, body: bytes, query: Query = ()) -> Any:
        """Post JSON, and give what the site answers."""
        return self._json(self._ask("POST", path, query, {"Content-Type": "application/json"}, body))

    def send(self, path: str, fields: Mapping[str, Any]) -> Any:
        """Post a form, of which a file is (name, content, type), and give what the site answers."""
        from urllib3.filepost import encode_multipart_formdata

        body, kind = encode_multipart_formdata(fields)
        return self._json(self._ask("POST", path, (), {"Content-Type": kind}, body))

    def answer(self, path: str, query: Query, headers: Mapping[str, str]) -> requests.Response:
        """Ask for a file; give the answer as it begins."""
        return self._ask("GET", path, query, headers, stream=True)

    def table(self, page: str, query: Query) -> str:
        """Ask for the CSV file of a page, such as ``/vision/compare/compare.csv``."""
        response = self._ask("GET", page, query, {})
        if not response.headers.get("Content-Type", "").startswith("text/csv"):
            raise self._no_site()
        return response.content.decode("utf-8")

    def pieces(self, response: requests.Response, size: int) -> Iterator[bytes]:
        """Give what an answer holds, as it comes."""
        import requests

        try:
            yield from response.iter_content(size)
        except requests.RequestException as error:
            raise self._unreachable(error) from error

    def parts(self, path: str, query: Query = ()) -> Iterator[bytes]:
        """Ask for a file, part by part."""
        with self.answer(path, query, {}) as response:
            yield from self.pieces(response, 1 << 20)

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
        body: bytes | None = None,
        *,
        stream: bool = False,
    ) -> requests.Response:
        """Ask, and go where the site says, but not to another site.

        Raises
        ------
        UserError
            If there is no answer, or it says that something is wrong.
        """
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
            if _origin(url) != _origin(self.site):
                raise UserError(
                    f"{self.site} sends to another address: {url}", remedy="use that address, if you trust it"
                )
        raise UserError(f"{self.site} sends round in circles", remedy="is it the address of a Brain-Score site?")

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the token, and nothing that lies in a .netrc."""
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _opened(self) -> requests.Session:
        if self._session is None:
            import requests
            from requests.adapters import HTTPAdapter

            self._session = requests.Session()
            if self.site.startswith("http://") and _is_here(urlsplit(self.site).hostname or ""):
                self._session.trust_env = False  # what stays on this machine goes through no proxy
            self._session.headers["Accept"] = "application/json, */*;q=0.5"
            self._session.headers["User-Agent"] = "brainscore"
            for scheme in ("http://", "https://"):
                self._session.mount(scheme, HTTPAdapter(max_retries=Patience()))
            # a submission that is refused, as there are too many, is not sent again and again
            once = HTTPAdapter(max_retries=Patience(allowed_methods=("GET",)))
            self._session.mount(f"{self.site}/api/v1/submissions", once)
        return self._session

    def _checked(self, response: requests.Response) -> requests.Response:
        """Turn what is wrong into an error."""
        status = response.status_code
        if status < 400:
            return response
        told: Any = None
        with suppress(ValueError):
            told = response.json()
        response.close()
        if not isinstance(told, dict) or "message" not in told:
            if status >= 500:
                raise DataUnavailable(f"{self.site} has trouble of its own ({status})", remedy="try again later")
            raise self._no_site()
        message, remedy = str(told["message"]), told.get("remedy")
        remedy = str(remedy).replace("/api/v1/", f"{self.site}/api/v1/") if remedy else None
        if status == 401:
            remedy = "set BRAINSCORE_TOKEN to a valid token, or unset it" if self._token else "set BRAINSCORE_TOKEN"
            remedy += "; or log in: brainscore login"
        faults = "; ".join(f"{one['where']}: {one['message']}" for one in told.get("errors") or ())
        text = f"{self.site}: {message}" + (f" ({faults})" if faults else "")
        raise (UnknownIdentifier if status == 404 else UserError)(text, remedy=remedy)

    def _unreachable(self, error: Exception) -> UserError:
        import requests

        if isinstance(error, requests.Timeout):
            return DataUnavailable(f"{self.site} does not answer within {self._timeout:g} s", remedy="try again later")
        remedy = "is the address right, and is it reachable from here?"
        if _is_here(urlsplit(self.site).hostname or ""):
            remedy = "start a site with: brainscore serve; or name another one with BRAINSCORE_SITE"
        return DataUnavailable(f"{self.site} cannot be reached", remedy=remedy)

    def _no_site(self) -> UserError:
        return UserError(
            f"what answers at {self.site} is no Brain-Score site", remedy="name a site with BRAINSCORE_SITE"
        )
