"""Comments on revisions: threads, and the files of a revision with findings and comments at each line."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone
from django.utils.safestring import SafeString

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Comment, Revision, Submission, reviews_submissions
from brainscore_web.submissions.source_code import FileText, escape_invisible, highlighted, relocated_line, texts_of

__all__ = [
    "MAX_COMMENT_LENGTH",
    "Line",
    "ShownFile",
    "Thread",
    "add_comment",
    "anchor_of",
    "comment_anchor",
    "discussion",
    "may_resolve",
    "open_threads",
    "resolve",
    "threads_of",
]

MAX_COMMENT_LENGTH = 10_000
_MOST = 500


@dataclass
class Thread:
    """What is said about one place.

    Attributes
    ----------
    revision : Revision
        About which it was said: answers go there.
    path, line : str, int or None
        Where, then.
    comments : list of Comment
        In their order.
    shown_path, shown_line : str, int or None
        Where that is in the revision that is looked at; both empty where its text is gone.
    carried : bool
        Whether it was said about an earlier revision.
    """

    revision: Revision
    path: str
    line: int | None
    comments: list[Comment] = field(default_factory=list)
    shown_path: str = ""
    shown_line: int | None = None
    carried: bool = False

    @property
    def resolved(self) -> bool:
        """Whether nothing of it is open."""
        return all(comment.resolved for comment in self.comments)

    @property
    def place(self) -> str:
        """Where, in words."""
        if not self.path:
            return "in general"
        return f"{self.path}, line {self.line}" if self.line else self.path

    @property
    def gone(self) -> bool:
        """Whether what it was said about is not there any more."""
        return self.carried and bool(self.path) and (not self.shown_path or bool(self.line and not self.shown_line))


def threads_of(revision: Revision, texts: Mapping[str, FileText]) -> list[Thread]:
    """What was said about a revision, and what is open from those before it.

    Parameters
    ----------
    revision : Revision
        Which.
    texts : mapping of str to FileText
        Its files.
    """
    comments = Comment.objects.filter(
        revision__submission=revision.submission_id, revision__number__lte=revision.number
    )
    comments = comments.select_related("author", "revision").defer("revision__archive").order_by("created", "pk")
    found = [one for one in _gathered(comments) if one.revision.pk == revision.pk or not one.resolved]
    earlier: dict[int, Mapping[str, FileText]] = {}
    for thread in found:
        thread.carried = thread.revision.pk != revision.pk
        thread.shown_path = thread.path if thread.path in texts else ""
        thread.shown_line = thread.line if thread.shown_path else None
        if thread.carried and thread.shown_line:
            if thread.revision.pk not in earlier:
                earlier[thread.revision.pk] = texts_of(thread.revision)
            was = earlier[thread.revision.pk].get(thread.path)
            thread.shown_line = relocated_line(was.lines, texts[thread.path].lines, thread.shown_line) if was else None
    return found


def open_threads(submission: Submission) -> list[Thread]:
    """What nobody resolved yet, of all revisions."""
    comments = Comment.objects.filter(revision__submission=submission).select_related("author", "revision")
    return [
        one
        for one in _gathered(comments.defer("revision__archive").order_by("revision__number", "created", "pk"))
        if not one.resolved
    ]


def add_comment(revision: Revision, author: User, text: str, *, path: str = "", line: int | None = None) -> Comment:
    """Keep what somebody says.

    Raises
    ------
    UserError
        If it is empty, too long or too much, or there is no such file or line.
    """
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise UserError("the comment is empty", remedy="write what you mean")
    if len(text) > MAX_COMMENT_LENGTH:
        raise UserError(f"the comment has more than {MAX_COMMENT_LENGTH:,} characters", remedy="shorten it")
    if "\0" in text:
        raise UserError("the comment has characters that are no text", remedy="leave them out")
    if path:
        file = texts_of(revision).get(path)
        if file is None:
            raise UserError(f"revision {revision.number} has no file {path!r}", remedy="choose one of its files")
        if line is not None and not 1 <= line <= max(len(file.lines), 1):
            raise UserError(f"{path} has no line {line}", remedy=f"choose one of its {len(file.lines)} lines")
    elif line is not None:
        raise UserError(f"line {line} of no file", remedy="choose a file too")
    if Comment.objects.filter(revision=revision, author=author).count() >= _MOST:
        raise UserError(f"you said {_MOST} things about this revision", remedy="say the rest in the verdict")
    return Comment.objects.create(revision=revision, author=author, path=path, line=line, text=text)


def may_resolve(comment: Comment, user: User) -> bool:
    """Whether somebody may resolve a thread: who began it, and reviewers of what is not their own."""
    if comment.author_id == user.pk:
        return True
    return reviews_submissions(user) and comment.revision.submission.owner_id != user.pk


def resolve(comment: Comment, *, again: bool = False) -> int:
    """Resolve the thread of a comment, or open it again; return how many comments that concerns."""
    place = Comment.objects.filter(revision=comment.revision_id, path=comment.path, line=comment.line)
    if again:
        return place.exclude(resolved=None).update(resolved=None)
    return place.filter(resolved=None).update(resolved=timezone.now())


def _gathered(comments: Iterable[Comment]) -> list[Thread]:
    found: dict[tuple[int, str, int | None], Thread] = {}
    for comment in comments:
        key = (comment.revision_id, comment.path, comment.line)
        thread = found.setdefault(key, Thread(comment.revision, comment.path, comment.line))
        thread.comments.append(comment)
    return list(found.values())


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
    file = ShownFile(escape_invisible(text.path), text.size, anchor_of(text.path), note=text.note)
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


def comment_anchor(comment: Comment) -> str:
    """Where a comment's thread is on a page, as a fragment of an address."""
    place = Comment.objects.filter(revision=comment.revision_id, path=comment.path, line=comment.line)
    first = place.order_by("created", "pk").values_list("pk", flat=True).first()
    return f"c{first}"
