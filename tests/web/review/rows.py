"""Who may do what in reviews."""

import uuid

from ._made import FINE, make

KEY, COMMENT = uuid.UUID(int=2026), 20_260
SHOWN, SAID = f"/review/{KEY}/1/", f"/review/{KEY}/1/#c{COMMENT}"
LOGIN = "/accounts/login/"
REVIEWERS = (LOGIN, 404, 404, 404, 200, 200)
READ_ONLY = (LOGIN, 404, 404, 404, 405, 405)
WRITE_ONLY = (LOGIN, 404, 404, 404, 405, 405)
MEMBERS_WRITE_ONLY = (LOGIN, *(405,) * 5)
"""By visitor, member, owner, another owner, reviewer, administrator."""

ROWS = {
    "review:queue": ({}, {}, REVIEWERS, READ_ONLY),
    "review:newest": ("review", {}, (LOGIN, 404, 404, 404, SHOWN, SHOWN), READ_ONLY),
    "review:show": ("review-revision", {}, REVIEWERS, READ_ONLY),
    "review:file": ("review-revision", {"path": "benchmarks/author2026/test.py"}, REVIEWERS, READ_ONLY),
    "review:changes": ("review-revision", {}, REVIEWERS, READ_ONLY),
    "review:claim": ("review", {}, WRITE_ONLY, (LOGIN, 404, 404, 404, SHOWN, SHOWN), WRITE_ONLY),
    "review:judge": (
        "review-revision",
        {"verdict": "approved", **FINE},
        WRITE_ONLY,
        (LOGIN, 404, 404, 404, "/review/", "/review/"),
        WRITE_ONLY,
    ),
    "review:comment": (
        "review-revision",
        {"text": "Why?"},
        MEMBERS_WRITE_ONLY,
        (LOGIN, 404, f"/submissions/{KEY}/#c{COMMENT}", 404, SAID, SAID),
        MEMBERS_WRITE_ONLY,
    ),
    "review:resolve": (
        "review-comment",
        {},
        MEMBERS_WRITE_ONLY,
        (LOGIN, 404, 403, 404, SAID, SAID),
        MEMBERS_WRITE_ONLY,
    ),
}


def build(people):
    """A benchmark of the owner's that waits for review, with a comment of a reviewer's."""
    made = make(people["owner"], key=KEY)
    made.latest.comments.create(pk=COMMENT, author=people["reviewer"], text="Why?")
    return {
        "review": {"key": KEY},
        "review-revision": {"key": KEY, "number": 1},
        "review-comment": {"key": KEY, "comment": COMMENT},
    }
