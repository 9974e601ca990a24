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
from brainscore_web.accounts.models import User, owns
from brainscore_web.submissions.models import Comment, Revision, Submission, reviews_submissions
from brainscore_web.submissions.source_code import FileText, escape_invisible, highlighted, relocated_lines, texts_of

MAX_COMMENT_LENGTH = 10_000
_MOST = 500


@dataclass
class Thread:
    """The comments on one place."""

    revision: Revision  # the revision that was commented on; replies go there
    # path, line: the place in that revision
    path: str
    line: int | None
    comments: list[Comment] = field(default_factory=list)  # the comments in order
    # shown_path, shown_line: the place in the revision that is shown; empty if the text no longer exists there
    shown_path: str = ""
    shown_line: int | None = None
    carried: bool = False  # whether the comments are on an earlier revision

    @property
    def resolved(self) -> bool:
        """Whether all of its comments are resolved."""
        return all(comment.resolved for comment in self.comments)

    @property
    def place(self) -> str:
        """The place in words."""
        if not self.path:
            return "in general"
        return f"{self.path}, line {self.line}" if self.line else self.path

    @property
    def gone(self) -> bool:
        """Whether the text that was commented on no longer exists."""
        return self.carried and bool(self.path) and (not self.shown_path or bool(self.line and not self.shown_line))


def threads_of(revision: Revision, texts: Mapping[str, FileText]) -> list[Thread]:
    """Return the threads on a revision, and the open ones on earlier revisions."""
    comments = Comment.objects.filter(
        revision__submission=revision.submission_id, revision__number__lte=revision.number
    )
    comments = comments.select_related("author", "revision").defer("revision__archive").order_by("created", "pk")
    threads = [thread for thread in _threads(comments) if thread.revision.pk == revision.pk or not thread.resolved]
    earlier: dict[int, Mapping[str, FileText]] = {}
    moved: list[tuple[Thread, tuple[str, ...], int]] = []
    for thread in threads:
        thread.carried = thread.revision.pk != revision.pk
        thread.shown_path = thread.path if thread.path in texts else ""
        thread.shown_line = thread.line if thread.shown_path else None
        if thread.carried and thread.shown_line:
            if thread.revision.pk not in earlier:
                earlier[thread.revision.pk] = texts_of(thread.revision)
            if before := earlier[thread.revision.pk].get(thread.path):
                moved.append((thread, before.lines, thread.shown_line))
            thread.shown_line = None
    lines = relocated_lines([(before, texts[thread.path].lines, line) for thread, before, line in moved])
    for (thread, _, _), line in zip(moved, lines, strict=True):
        thread.shown_line = line
    return threads


def open_threads(submission: Submission) -> list[Thread]:
    """Return the open threads on all revisions."""
    comments = Comment.objects.filter(revision__submission=submission).select_related("author", "revision")
    ordered = comments.defer("revision__archive").order_by("revision__number", "created", "pk")
    return [thread for thread in _threads(ordered) if not thread.resolved]


def add_comment(revision: Revision, author: User, text: str, *, path: str = "", line: int | None = None) -> Comment:
    """Store a comment."""
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise UserError("the comment is empty", remedy="write a comment")
    if len(text) > MAX_COMMENT_LENGTH:
        raise UserError(f"the comment has more than {MAX_COMMENT_LENGTH:,} characters", remedy="shorten it")
    if "\0" in text:
        raise UserError("the comment contains NUL characters", remedy="remove them")
    if path:
        file = texts_of(revision).get(path)
        if file is None:
            raise UserError(f"revision {revision.number} has no file {path!r}", remedy="choose one of its files")
        if line is not None and not 1 <= line <= max(len(file.lines), 1):
            raise UserError(f"{path} has no line {line}", remedy=f"choose one of its {len(file.lines)} lines")
    elif line is not None:
        raise UserError(f"line {line} is given without a file", remedy="choose a file as well")
    if Comment.objects.filter(revision=revision, author=author).count() >= _MOST:
        message = f"you have written {_MOST} comments on this revision"
        raise UserError(message, remedy="write the rest with your decision")
    return Comment.objects.create(revision=revision, author=author, path=path, line=line, text=text)


def may_resolve(comment: Comment, user: User) -> bool:
    """Whether a user may resolve a thread: the author of its first comment, and reviewers of others' submissions."""
    if comment.author_id == user.pk:
        return True
    return reviews_submissions(user) and not owns(user, comment.revision.submission)


def resolve(comment: Comment, *, again: bool = False) -> int:
    """Resolve the thread of a comment, or reopen it; return the number of comments changed."""
    thread = Comment.objects.filter(revision=comment.revision_id, path=comment.path, line=comment.line)
    if again:
        return thread.exclude(resolved=None).update(resolved=None)
    return thread.filter(resolved=None).update(resolved=timezone.now())


def _threads(comments: Iterable[Comment]) -> list[Thread]:
    threads: dict[tuple[int, str, int | None], Thread] = {}
    for comment in comments:
        key = (comment.revision_id, comment.path, comment.line)
        thread = threads.setdefault(key, Thread(comment.revision, comment.path, comment.line))
        thread.comments.append(comment)
    return list(threads.values())


LINES_OF_ONE_FILE = 10_000
"""Lines of a file that are shown on a page of its own; a page takes 25 µs for each."""
_LINES_OF_A_FILE = 2_000
_LINES_OF_A_PAGE = 6_000


def anchor_of(path: str, line: int | None = None) -> str:
    """The id of a file, or of one of its lines, on pages that show files.

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
    """Return the context for `submissions/_file.html` and `review/_comments.html`."""
    texts = texts_of(revision) if texts is None else texts
    threads = threads_of(revision, texts)
    for thread in threads:
        for comment in thread.comments:
            comment.revision.submission = revision.submission
    shown = {path: file for path, file in texts.items() if only is None or path == only}
    is_own = owns(user, revision.submission)
    return {
        "revision": revision,
        "files": shown_files(shown, revision.findings, threads, lines=lines),
        "general": [thread for thread in threads if not thread.shown_path],
        "open": sum(not thread.resolved for thread in threads),
        "may_comment": is_own or reviews_submissions(user),
        "resolvable": {thread.comments[0].pk for thread in threads if may_resolve(thread.comments[0], user)},
        "back": back,
    }


def shown_files(
    texts: Mapping[str, FileText],
    findings: Iterable[Mapping[str, Any]] = (),
    threads: Iterable[Thread] = (),
    *,
    lines: int = _LINES_OF_A_FILE,
) -> list[dict[str, Any]]:
    """Return files for `submissions/_file.html`, highlighted."""
    findings_in, threads_in = defaultdict(list), defaultdict(list)
    for finding in findings:
        findings_in[finding.get("file") or ""].append(finding)
    for thread in threads:
        threads_in[thread.shown_path].append(thread)
    remaining, shown = max(lines, _LINES_OF_A_PAGE), {}
    for path, text in texts.items():
        shown[path] = text.lines[: min(lines, remaining)]
        remaining -= len(shown[path])
    marked = highlighted(shown)
    return [_file(text, marked[path], findings_in[path], threads_in[path]) for path, text in texts.items()]


def _file(
    text: FileText, marked: list[SafeString], findings: list[Mapping[str, Any]], threads: list[Thread]
) -> dict[str, Any]:
    lines: list[dict[str, Any]] = [
        {"number": n, "anchor": anchor_of(text.path, n), "html": html, "findings": [], "threads": []}
        for n, (_, html) in enumerate(zip(text.lines, marked, strict=False), 1)  # only the first lines may be shown
    ]
    elsewhere: dict[str, Any] = {"findings": [], "threads": []}  # what belongs to no shown line
    placed: list[tuple[str, Any, Any]] = [("findings", finding, finding.get("line")) for finding in findings]
    placed += [("threads", thread, thread.shown_line) for thread in threads]
    for name, item, line in placed:
        there = isinstance(line, int) and 1 <= line <= len(lines)
        (lines[line - 1] if there else elsewhere)[name].append(item)
    missing = len(text.lines) - len(marked)
    note = f"{missing:,} more lines are not shown here{'; ' if text.note else ''}" if missing > 0 else ""
    severities = {finding.get("severity") for finding in findings}
    return elsewhere | {
        "path": escape_invisible(text.path),
        "size": text.size,
        "anchor": anchor_of(text.path),
        "lines": lines,
        "note": note + text.note,
        "open": sum(not thread.resolved for thread in threads),
        "severity": next((one for one in ("error", "warning", "note") if one in severities), ""),
    }


def comment_anchor(comment: Comment) -> str:
    """The fragment of the address of a comment's thread on its page."""
    thread = Comment.objects.filter(revision=comment.revision_id, path=comment.path, line=comment.line)
    first = thread.order_by("created", "pk").values_list("pk", flat=True).first()
    return f"c{first}"
