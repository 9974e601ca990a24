"""The way of a submission: check, test, review, publish, score. The only place that writes states.

Truth is in the rows of steps; tasks only wake somebody up to look at them. docs/pipeline.md describes it.
"""

from brainscore_web.submissions.pipeline._files import files_home, files_of, forget_old_files
from brainscore_web.submissions.pipeline._sweeping import remove_leftovers, sweep
from brainscore_web.submissions.pipeline._transitions import (
    approve,
    cancel,
    reject,
    request_changes,
    retry,
    scoring_ended,
    start,
    withdraw,
)
from brainscore_web.submissions.publishing import forget_old_folders, published_folder, unpacked

__all__ = [
    "approve",
    "cancel",
    "files_home",
    "files_of",
    "forget_old_files",
    "forget_old_folders",
    "published_folder",
    "reject",
    "remove_leftovers",
    "request_changes",
    "retry",
    "scoring_ended",
    "start",
    "sweep",
    "unpacked",
    "withdraw",
]
