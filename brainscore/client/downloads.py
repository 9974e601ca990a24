"""Files from a site: written whole or not at all, and gone on with where the site can."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    import requests

    from brainscore.client.connection import Connection, Query

__all__ = ["download"]

_PIECE = 1 << 16


def download(connection: Connection, path: str, query: Query, target: Path) -> Path:
    """Write what the site answers to a file, which is replaced once it is whole.

    What came before an interruption is kept beside it, and gone on with, if the site says that it is the same file and
    gives parts of files; else it is fetched anew.
    """
    target = target.expanduser().absolute()
    if not target.parent.is_dir():
        raise UserError(f"there is no folder {target.parent}", remedy="create it, or name another file")
    part = target.with_name(f".{target.name}.part")
    about = target.with_name(f".{target.name}.part.json")
    asked = f"{connection.site}/{path}?{sorted(query)}"
    tag = _kept_tag(part, about, asked)
    headers = {"Accept-Encoding": "identity"}
    if tag is not None:
        headers |= {"Range": f"bytes={part.stat().st_size}-", "If-Range": tag}
    try:
        with connection.answer(path, query, headers) as response:
            goes_on = tag is not None and _goes_on(response, part.stat().st_size)
            _note(about, asked, response)
            with part.open("ab" if goes_on else "wb") as stream:
                for content in connection.pieces(response, _PIECE):
                    stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(part, target)
        about.unlink(missing_ok=True)
    except BaseException:
        if not about.exists():
            with suppress(FileNotFoundError):
                part.unlink()
        raise
    return target


def _kept_tag(part: Path, about: Path, asked: str) -> str | None:
    """The tag of what came before, if it is of the same file, and some is missing."""
    try:
        told = json.loads(about.read_bytes())
        return str(told["tag"]) if told["asked"] == asked and 0 < part.stat().st_size < told["size"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _goes_on(response: requests.Response, had: int) -> bool:
    return response.status_code == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {had}-")


def _note(about: Path, asked: str, response: requests.Response) -> None:
    """Keep what must be known to go on; nothing, where the site gives no parts."""
    tag = response.headers.get("ETag", "")
    told = response.headers.get("Content-Range", "").rpartition("/")[2] or response.headers.get("Content-Length", "")
    if response.headers.get("Accept-Ranges") == "bytes" and tag.startswith('"') and told.isdecimal():
        about.write_text(json.dumps({"asked": asked, "tag": tag, "size": int(told)}))
    else:
        about.unlink(missing_ok=True)
