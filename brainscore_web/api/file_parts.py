"""Parts of files, for downloads that go on where they were cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from brainscore_web.api.problems import problem

__all__ = ["answer_part"]

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{1,18})?", re.ASCII | re.IGNORECASE)
_PIECE = 1 << 16


def answer_part(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Say that a file can be asked for in parts, and answer with the part that is asked for.

    Nothing is changed for what is no file, has no strong tag, or may be compressed on the way: bytes would be counted
    in something else then. Neither for ranges that cannot be read, several at once, and ranges of another version of
    the file: the whole answers them.

    Parameters
    ----------
    request : HttpRequest
        Parts are given to GET alone; HEAD is told that there are some.
    response : HttpResponseBase
        The whole, as it answers without a range.

    Returns
    -------
    HttpResponseBase
        The whole; or 206 with the part; or 416 where the file ends before it begins.
    """
    if not _has_parts(request, response):
        return response
    response["Accept-Ranges"] = "bytes"
    found = _RANGE.fullmatch(request.headers.get("Range", "").strip())
    tag = response["ETag"]
    if request.method != "GET" or found is None or request.headers.get("If-Range", tag) != tag:
        return response
    size = len(response.content) if isinstance(response, HttpResponse) else int(response["Content-Length"])
    first, last = int(found[1]), min(int(found[2] or size), size - 1)
    if found[2] and int(found[2]) < first:
        return response
    if first >= size:
        return _beyond(response, size)
    if isinstance(response, HttpResponse):
        response.content = response.content[first : last + 1]
    elif isinstance(response, FileResponse):
        response.streaming_content = _pieces(response.file_to_stream, first, last + 1 - first)
    response.status_code = 206
    response["Content-Range"] = f"bytes {first}-{last}/{size}"
    response["Content-Length"] = str(last + 1 - first)
    return response


def _has_parts(request: HttpRequest, response: HttpResponseBase) -> bool:
    return (
        response.status_code == 200
        and response.get("Content-Disposition", "").startswith("attachment")
        and response.get("ETag", "").startswith('"')
        and not response.has_header("Content-Encoding")
        and "gzip" not in request.headers.get("Accept-Encoding", "")
        and (isinstance(response, HttpResponse) or _can_seek(response))
    )


def _can_seek(response: HttpResponseBase) -> bool:
    file = getattr(response, "file_to_stream", None)
    return file is not None and file.seekable() and response.has_header("Content-Length")


def _pieces(file: IO[bytes], first: int, length: int) -> Iterator[bytes]:
    file.seek(first)
    while length and (piece := file.read(min(length, _PIECE))):
        length -= len(piece)
        yield piece


def _beyond(response: HttpResponseBase, size: int) -> HttpResponse:
    if isinstance(response, FileResponse):
        response.file_to_stream.close()  # nobody else does: it is not the answer
    kept = {name: response[name] for name in ("ETag", "Vary", "Accept-Ranges") if response.has_header(name)}
    headers = {**kept, "Content-Range": f"bytes */{size}", "Cache-Control": "no-store"}
    return problem(416, f"the file has {size} bytes", "ask for the whole, without Range", headers=headers)
