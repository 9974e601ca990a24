"""Tokens that ``brainscore login`` keeps: one file, which its owner alone can read."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_core.files import replacing

__all__ = ["Saved", "forget", "keep", "saved", "saved_file"]


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
