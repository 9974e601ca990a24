"""Letters about reviews: what waits goes to reviewers, verdicts and comments to the other side, gathered."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from brainscore_web.accounts.models import User
from brainscore_web.submissions.letters import reviewers, subject_of, text_of, write, write_all
from brainscore_web.submissions.models import ASPECTS, Comment, Letter, Review, Revision, Step, Submission
from brainscore_web.submissions.review.claims import hand_on, reviewer_key
from brainscore_web.submissions.review.threads import open_threads

__all__ = ["GATHERED", "review_waits", "tell_comment", "tell_verdict"]

GATHERED = timedelta(minutes=10)
"""For so long comments are gathered into one letter."""
_MAIL = "submissions/email/"


def review_waits(revision: Revision) -> int:
    """Tell reviewers that a revision waits for them; return how many are told.

    The first time all reviewers are told; later those who took part, if there are any. Called in the transaction in
    which the step of review becomes due.

    Parameters
    ----------
    revision : Revision
        Which.
    """
    submission = revision.submission
    hand_on(revision)
    readers = _took_part(submission) if revision.number > 1 else []
    return write_all(
        readers or reviewers(but=submission.owner),
        f"Waits for review{' again' if revision.number > 1 else ''}: {submission}",
        f"{_MAIL}review_waits.txt",
        {"revision": revision},
        submission,
    )


def tell_verdict(review: Review) -> None:
    """Tell the submitter what was decided, with all comments that are open; letters of comments are then not needed."""
    submission = review.revision.submission
    if submission.owner is None:
        return
    _pending(submission.owner, submission).delete()
    words = {"approved": "Approved", "changes": "Changes requested", "rejected": "Rejected"}[review.verdict]
    aspects = [(label, review.aspects.get(name, {})) for name, label in ASPECTS.items()]
    notes = [(label, one) for label, one in aspects if one.get("note") or one.get("fine") is False]
    context = {"review": review, "revision": review.revision, "threads": open_threads(submission), "notes": notes}
    write(submission.owner, f"{words}: {submission}", f"{_MAIL}{review.verdict}.txt", context, submission)


def tell_comment(comment: Comment) -> None:
    """Tell the other side of a comment, together with others that come within a few minutes.

    The caller holds the submission's row.
    """
    submission = comment.revision.submission
    by_submitter = comment.author_id is not None and comment.author_id == submission.owner_id
    owner = [submission.owner] if submission.owner is not None and not by_submitter else []
    for reader in owner or (_took_part(submission) if by_submitter else []):
        letter = _pending(reader, submission).order_by("pk").first()
        first = letter.created if letter is not None else comment.created
        said = Comment.objects.filter(revision__submission=submission, created__gte=first).exclude(author=reader)
        context = {"comments": said.select_related("author", "revision").order_by("created", "pk")}
        if letter is None:
            letter = write(reader, _subject(submission), f"{_MAIL}comments.txt", context, submission)
            if letter is not None:
                Letter.objects.filter(pk=letter.pk).update(created=first, due=timezone.now() + GATHERED)
        else:
            Letter.objects.filter(pk=letter.pk).update(
                body=text_of(reader, f"{_MAIL}comments.txt", context, submission)
            )


def _subject(submission: Submission) -> str:
    return f"Comments on {submission}"


def _pending(reader: User, submission: Submission) -> QuerySet[Letter]:
    return Letter.objects.filter(
        to=reader,
        submission=submission,
        subject=subject_of(_subject(submission)),
        sent=None,
        attempts=0,
        due__gt=timezone.now(),
    )


def _took_part(submission: Submission) -> list[User]:
    """Reviewers who said something about it, or look at it."""
    steps = Step.objects.filter(revision__submission=submission, kind=Step.Kind.REVIEW).values_list("result", flat=True)
    holders = [key for key in map(reviewer_key, steps) if key]
    said = Q(submission_comments__revision__submission=submission) | Q(reviews__revision__submission=submission)
    keys = User.objects.filter(said | Q(pk__in=holders)).values("pk")
    return list(reviewers(but=submission.owner).filter(pk__in=keys))
