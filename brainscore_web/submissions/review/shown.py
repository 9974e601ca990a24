"""Files of a revision by line, with what was found and said about them: for reviewers' pages and submitters'."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.safestring import SafeString

from brainscore_web.accounts.models import User
from brainscore_web.submissions.highlighting import highlighted
from brainscore_web.submissions.models import Comment, Revision, reviews_submissions
from brainscore_web.submissions.review.threads import Thread, may_resolve, threads_of
from brainscore_web.submissions.texts import FileText, texts_of, visible

__all__ = ["Line", "ShownFile", "about", "anchor_of", "discussion"]

_LINES_OF_A_FILE = 2_000
_LINES_OF_A_PAGE = 6_000


@dataclass
class Line:
    """A line of a file, with what belongs to it."""

    number: int
    text: str
    anchor: str
    html: str
    findings: list[Mapping[str, Any]] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)


@dataclass
class ShownFile:
    """A file as it is shown.

    Attributes
    ----------
    path, size, anchor : str, int, str
        Its name, its bytes, the id of its heading.
    lines : list of Line
        Empty where it is no text.
    note : str
        Why lines are missing.
    findings, threads : list
        What belongs to no line that is shown.
    open : int
        How many threads are open.
    severity : str
        Of its worst finding; empty without one.
    """

    path: str
    size: int
    anchor: str
    lines: list[Line] = field(default_factory=list)
    note: str = ""
    findings: list[Mapping[str, Any]] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    open: int = 0
    severity: str = ""


def anchor_of(path: str, line: int | None = None) -> str:
    """Id of a file, or of a line of it, on a page that shows files.

    Examples
    --------
    >>> anchor_of("models/mine/__init__.py", 3)
    'ffa57ebf5-3'
    """
    name = "f" + hashlib.sha256(path.encode("utf-8", errors="replace")).hexdigest()[:8]
    return f"{name}-{line}" if line else name


def discussion(
    revision: Revision,
    user: User,
    *,
    back: str,
    only: str | None = None,
    lines: int = _LINES_OF_A_FILE,
    texts: Mapping[str, FileText] | None = None,
) -> dict[str, Any]:
    """What `submissions/_file.html` and `review/_comments.html` need.

    Parameters
    ----------
    revision : Revision
        Which; the caller has made sure that the user may see it.
    user : User
        Who looks.
    back : str
        Path of the page that shows it: comments lead back there.
    only : str, optional
        The one file that is shown.
    lines : int
        How many lines of a file are shown.
    texts : mapping of str to FileText, optional
        Its files, where they are read already.

    Returns
    -------
    dict
        ``files`` (ShownFile), ``general`` (threads of no file that is there), ``open`` (how many threads are open),
        ``revision``, ``may_comment``, ``resolvable`` (keys of comments whose threads the user may resolve), ``back``.
    """
    texts = texts_of(revision) if texts is None else texts
    threads = threads_of(revision, texts)
    for thread in threads:
        for comment in thread.comments:
            comment.revision.submission = revision.submission
    shown = {path: file for path, file in texts.items() if only is None or path == only}
    own = revision.submission.owner_id == user.pk
    return {
        "revision": revision,
        "files": _files(shown, revision.findings, threads, lines),
        "general": [one for one in threads if not one.shown_path],
        "open": sum(not one.resolved for one in threads),
        "may_comment": own or reviews_submissions(user),
        "resolvable": {one.comments[0].pk for one in threads if may_resolve(one.comments[0], user)},
        "back": back,
    }


def _files(
    texts: Mapping[str, FileText], findings: Iterable[Mapping[str, Any]], threads: Iterable[Thread], most: int
) -> list[ShownFile]:
    found_in, said_in = defaultdict(list), defaultdict(list)
    for finding in findings:
        found_in[finding.get("file") or ""].append(finding)
    for thread in threads:
        said_in[thread.shown_path].append(thread)
    left, shown = _LINES_OF_A_PAGE, {}
    for path, text in texts.items():
        shown[path] = text.lines[: min(most, left) if most <= _LINES_OF_A_PAGE else most]
        left = max(left - len(shown[path]), 0)
    marked = highlighted(shown)
    return [_file(text, marked[path], found_in[path], said_in[path]) for path, text in texts.items()]


def _file(
    text: FileText, marked: list[SafeString], findings: list[Mapping[str, Any]], threads: list[Thread]
) -> ShownFile:
    file = ShownFile(visible(text.path), text.size, anchor_of(text.path), note=text.note)
    file.lines = [
        Line(n, one, anchor_of(text.path, n), html)
        for n, (one, html) in enumerate(zip(text.lines, marked, strict=False), 1)  # the first lines may be shown alone
    ]
    if len(text.lines) > len(marked):
        file.note = (
            f"{len(text.lines) - len(marked):,} more lines are not shown here{'; ' if text.note else ''}{text.note}"
        )
    for finding in findings:
        line = finding.get("line")
        there = isinstance(line, int) and 1 <= line <= len(file.lines)
        (file.lines[line - 1].findings if there else file.findings).append(finding)  # type: ignore[operator] # `there`: an int
    for thread in threads:
        line = thread.shown_line
        (file.lines[line - 1].threads if line and line <= len(file.lines) else file.threads).append(thread)
    file.open = sum(not thread.resolved for thread in threads)
    severities = {finding.get("severity") for finding in findings}
    file.severity = next((one for one in ("error", "warning", "note") if one in severities), "")
    return file


def about(comment: Comment) -> str:
    """Where a comment's thread is on a page, as a fragment of an address."""
    place = Comment.objects.filter(revision=comment.revision_id, path=comment.path, line=comment.line)
    first = place.order_by("created", "pk").values_list("pk", flat=True).first()
    return f"c{first}"
