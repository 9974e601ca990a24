"""What the environment says about the site: where its files are, its secret, its database."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from brainscore_core.errors import UserError

__all__ = ["flag", "listed", "number", "secret_key", "site_folder"]

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


def site_folder() -> Path:
    """The folder of the site's own files: ``$BRAINSCORE_SITE_HOME``, else ``$BRAINSCORE_HOME/site``."""
    named = os.environ.get("BRAINSCORE_SITE_HOME")
    if named:
        return Path(named).expanduser().absolute()
    return Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser().absolute() / "site"


def flag(name: str, default: bool = False) -> bool:
    """Read a variable that is on or off.

    Raises
    ------
    UserError
        If it is neither.
    """
    text = os.environ.get(name)
    if text is None:
        return default
    if text.strip().lower() not in _TRUE | _FALSE:
        raise UserError(f"{name} is {text!r}", remedy=f"set {name} to 1 or 0")
    return text.strip().lower() in _TRUE


def listed(name: str) -> list[str]:
    """Read a variable that holds names separated by commas."""
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]


def number(name: str, default: int) -> int:
    """Read a variable that is a whole number, at least 1.

    Raises
    ------
    UserError
        If it is not.
    """
    text = os.environ.get(name) or str(default)
    if not text.strip().isdecimal() or int(text) < 1:
        raise UserError(f"{name} is {text!r}", remedy=f"set {name} to a whole number, at least 1")
    return int(text)


def secret_key() -> str:
    """The key that signs sessions: ``$BRAINSCORE_SITE_SECRET``, else a random one that is kept in the site's folder."""
    given = os.environ.get("BRAINSCORE_SITE_SECRET")
    if given:
        if len(given) < 32:
            raise UserError("BRAINSCORE_SITE_SECRET is short", remedy="set it to at least 32 random characters")
        return given
    path = site_folder() / "secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = path.with_name(f".secret-{secrets.token_hex(8)}")
        part.touch(mode=0o600)
        part.write_text(secrets.token_urlsafe(50), encoding="ascii")
        with suppress(FileExistsError):  # another process made one: that one counts
            os.link(part, path)
        part.unlink()
    return path.read_text(encoding="ascii")
