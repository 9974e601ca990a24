"""The pipeline of submissions: check, test, review, publish, score. Only this package writes their states.

The rows of steps are the record; tasks only wake a worker to look at them. See docs/pipeline.md.
"""

from brainscore_web.submissions.pipeline.assessing import resume_assessments
from brainscore_web.submissions.pipeline.runner import (
    close_scored,
    delete_submissions_of,
    remove_leftovers,
    withdraw_of_deleted_accounts,
)
from brainscore_web.submissions.pipeline.transitions import (
    approve,
    cancel,
    reject,
    request_changes,
    retry,
    scoring_ended,
    start,
    withdraw,
)

__all__ = [
    "approve",
    "cancel",
    "close_scored",
    "delete_submissions_of",
    "reject",
    "remove_leftovers",
    "request_changes",
    "resume_assessments",
    "retry",
    "scoring_ended",
    "start",
    "withdraw",
    "withdraw_of_deleted_accounts",
]
