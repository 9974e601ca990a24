"""Settings that are read from environment variables: folders, secret key, database, e-mail, log-in."""

from __future__ import annotations

import importlib
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import dj_database_url

from brainscore_core.errors import UserError
from brainscore_core.paths import site_home
from brainscore_core.plugins.loading import LIBRARIES

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


_WORKER_PACKAGES = (*LIBRARIES, "psutil", "pytest")  # that `serve` without a worker does not need


def worker_problem() -> UserError | None:
    """Return why this Python environment cannot test submissions and score pairs, with a remedy; None if it can."""
    missing = [package for package in _WORKER_PACKAGES if PathFinder.find_spec(package) is None]
    if not missing:
        return None
    problem = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
    return UserError(
        f"submissions cannot be tested and pairs cannot be scored: {problem}",
        remedy="pip install 'brainscore[worker]'",
    )


def unusable_folder(error: OSError) -> UserError:
    """Make the error for a site folder that cannot be created or written."""
    return UserError(
        "the site's folder, set by BRAINSCORE_SITE_HOME or BRAINSCORE_HOME, cannot be created or written: "
        f"{error.strerror or type(error).__name__}",
        remedy="set BRAINSCORE_SITE_HOME to a folder that you may write to",
    )


_DATABASE_FORMATS = "postgres://user:password@host:5432/name, or sqlite:////path/of/a/file"
_ENGINES = {"postgresql": "PostgreSQL", "sqlite3": "SQLite"}


def database_settings() -> dict[str, Any]:
    """Read the database settings: ``$DATABASE_URL``, else SQLite in the site's folder."""

    def invalid(what: str) -> UserError:  # the value may contain a password, so it is never shown
        return UserError(f"DATABASE_URL {what}", remedy=f"set it to {_DATABASE_FORMATS}")

    address = os.environ.get("DATABASE_URL") or f"sqlite:///{site_home() / 'site.sqlite3'}"
    try:
        database: dict[str, Any] = dict(dj_database_url.parse(address, conn_max_age=600))
    except ValueError:
        raise invalid("cannot be read") from None
    engine = str(database.get("ENGINE")).removeprefix("django.db.backends.")
    if engine not in _ENGINES:
        raise invalid(f"must name {' or '.join(_ENGINES.values())}")
    if not database.get("NAME"):
        raise invalid("does not name a database")
    if engine == "postgresql":
        try:
            importlib.import_module("psycopg")
        except ImportError:
            raise UserError(
                "DATABASE_URL names a PostgreSQL database, but the driver psycopg cannot be imported",
                remedy='pip install "brainscore[postgres]"',
            ) from None
    return database


def flag(name: str, default: bool = False) -> bool:
    """Read an environment variable that is on or off."""
    text = os.environ.get(name)
    if text is None:
        return default
    if text.strip().lower() not in _TRUE | _FALSE:
        raise UserError(f"{name} is {text!r}", remedy=f"set {name} to 1 or 0")
    return text.strip().lower() in _TRUE


def comma_separated(name: str) -> list[str]:
    """Read an environment variable that has names separated by commas."""
    return [item.strip() for item in os.environ.get(name, "").split(",") if item.strip()]


def positive_integer(name: str, default: int) -> int:
    """Read an environment variable that is an integer of at least 1."""
    text = os.environ.get(name) or str(default)
    if not text.strip().isdecimal() or int(text) < 1:
        raise UserError(f"{name} is {text!r}", remedy=f"set {name} to an integer of at least 1")
    return int(text)


def web_address(name: str) -> str:
    """Read an environment variable that is the address of a web page."""
    text = os.environ.get(name, "").strip()
    if text and not _is_web_address(text):
        raise UserError(f"{name} is {text!r}", remedy=f"set {name} to an address such as https://example.org/page")
    return text


def contact_address(name: str) -> str:
    """Read an environment variable that is an e-mail address or the address of a web page; return it as a link."""
    text = os.environ.get(name, "").strip().removeprefix("mailto:")
    if not text or _is_web_address(text):
        return text
    if not _EMAIL_ADDRESS.fullmatch(text):
        raise UserError(
            f"{name} is {text!r}", remedy=f"set {name} to an e-mail address, or to one such as https://example.org/page"
        )
    return f"mailto:{text}"


_EMAIL_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)*")


def site_address(hosts: Sequence[str], *, public: bool) -> str:
    """Read the address of the site for e-mails, which have no request to take it from; without a trailing slash."""
    address = os.environ.get("BRAINSCORE_SITE_ADDRESS", "")
    if address:
        return address.rstrip("/")
    host = next((name.lstrip(".") for name in hosts if name.strip("*.")), "localhost")
    return f"https://{host}" if public else f"http://{host}:8000"


def _is_web_address(text: str) -> bool:
    try:
        address = urlsplit(text)
    except ValueError:
        return False
    return address.scheme in ("https", "http") and bool(address.hostname) and not any(map(str.isspace, text))


def login_providers() -> dict[str, Any]:
    """Read with which providers users may log in: those for which a client is configured."""
    providers = {}
    for provider, name in (("github", "GitHub"), ("orcid", "ORCID")):
        variables = [f"BRAINSCORE_SITE_{provider.upper()}_{part}" for part in ("CLIENT", "SECRET")]
        client, secret = (os.environ.get(variable, "").strip() for variable in variables)
        if bool(client) != bool(secret):
            raise UserError(f"only one of {' and '.join(variables)} is set", remedy="set both, or none")
        if client:
            providers[provider] = {"APP": {"name": name, "client_id": client, "secret": secret}}
    return providers


_EMAIL_FORMATS = "smtp://user:password@host:587?tls=1, smtps://user:password@host, file:///folder, or console:"
_BACKENDS = "django.core.mail.backends"


def email_destination(backend: str) -> str:
    """Return where the e-mails of a site go that sends none; empty if it sends them.

    Examples
    --------
    >>> email_destination("django.core.mail.backends.console.EmailBackend")
    'the terminal of its server'
    >>> email_destination("django.core.mail.backends.smtp.EmailBackend")
    ''
    """
    destinations = {"console": "the terminal of its server", "filebased": "a folder of its server"}
    names = {f"{_BACKENDS}.{name}.EmailBackend": text for name, text in destinations.items()}
    return names.get(backend, "")


def email_settings(address: str) -> dict[str, str | int | bool]:
    """Read how the site sends e-mail.

    Examples
    --------
    >>> email_settings("smtp://me:p%40ss@email_settings.example.org:587?tls=1")["EMAIL_HOST_PASSWORD"]
    'p@ss'
    """

    def invalid(what: str) -> UserError:  # the value may contain a password, so it is never shown
        return UserError(f"BRAINSCORE_SITE_MAIL {what}", remedy=f"set it to {_EMAIL_FORMATS}")

    try:
        url = urlsplit(address)
        port = url.port
    except ValueError:
        raise invalid("cannot be read") from None
    if url.scheme == "console" and not (url.netloc or url.path):
        return {"EMAIL_BACKEND": f"{_BACKENDS}.console.EmailBackend"}
    if url.scheme == "file":
        if url.netloc or not url.path.strip("/"):
            raise invalid("does not name a folder of this machine")
        return {"EMAIL_BACKEND": f"{_BACKENDS}.filebased.EmailBackend", "EMAIL_FILE_PATH": unquote(url.path)}
    if url.scheme not in ("smtp", "smtps"):
        raise invalid("must begin with smtp://, smtps://, file:// or console:")
    if not url.hostname or url.path.strip("/"):
        raise invalid("does not name a host" if not url.hostname else "has a path")
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    tls = options.pop("tls", "0")
    if options or tls not in ("0", "1") or (url.scheme == "smtps" and tls == "1"):
        raise invalid("may have only the option ?tls=1, and only with smtp://")
    if bool(url.username) != bool(url.password):
        raise invalid("has a user without a password, or a password without a user")
    return {
        "EMAIL_BACKEND": f"{_BACKENDS}.smtp.EmailBackend",
        "EMAIL_HOST": url.hostname,
        "EMAIL_PORT": port or (465 if url.scheme == "smtps" else 587 if tls == "1" else 25),
        "EMAIL_HOST_USER": unquote(url.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(url.password or ""),
        "EMAIL_USE_TLS": tls == "1",
        "EMAIL_USE_SSL": url.scheme == "smtps",
        "EMAIL_TIMEOUT": 10,
    }


def secret_key() -> str:
    """The key that signs sessions: ``$BRAINSCORE_SITE_SECRET``, else a random one stored in the site's folder."""
    secret = os.environ.get("BRAINSCORE_SITE_SECRET")
    if secret:
        if len(secret) < 32:
            raise UserError("BRAINSCORE_SITE_SECRET is too short", remedy="set it to at least 32 random characters")
        return secret
    try:
        return _stored_secret(site_home() / "secret")
    except OSError as error:
        raise unusable_folder(error) from error


def _stored_secret(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_name(f".secret-{secrets.token_hex(8)}")
        temporary.touch(mode=0o600)
        temporary.write_text(secrets.token_urlsafe(50), encoding="ascii")
        with suppress(FileExistsError):  # another process created one first, which is used
            os.link(temporary, path)
        temporary.unlink()
    return path.read_text(encoding="ascii")
