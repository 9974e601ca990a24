"""What is said about a revision: threads at lines, files and all of it, also those that are open from earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.submissions.differing import same_place
from brainscore_web.submissions.models import Comment, Revision, Submission, reviews_submissions
from brainscore_web.submissions.texts import FileText, texts_of

__all__ = ["LONGEST", "Thread", "may_resolve", "open_threads", "resolve", "say", "threads_of"]

LONGEST = 10_000
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
            thread.shown_line = same_place(was.lines, texts[thread.path].lines, thread.shown_line) if was else None
    return found


def open_threads(submission: Submission) -> list[Thread]:
    """What nobody resolved yet, of all revisions."""
    comments = Comment.objects.filter(revision__submission=submission).select_related("author", "revision")
    return [
        one
        for one in _gathered(comments.defer("revision__archive").order_by("revision__number", "created", "pk"))
        if not one.resolved
    ]


def say(revision: Revision, author: User, text: str, *, path: str = "", line: int | None = None) -> Comment:
    """Keep what somebody says.

    Raises
    ------
    UserError
        If it is empty, too long or too much, or there is no such file or line.
    """
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise UserError("the comment is empty", remedy="write what you mean")
    if len(text) > LONGEST:
        raise UserError(f"the comment has more than {LONGEST:,} characters", remedy="shorten it")
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
