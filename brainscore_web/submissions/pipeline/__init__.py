"""The pipeline of submissions: check, test, review, publish, score. Only this package writes their states.

The rows of steps are the record; tasks only wake a worker to look at them. See docs/pipeline.md.
"""

from brainscore_web.submissions.declared_files import delete_old_files, files_home, files_of
from brainscore_web.submissions.pipeline.runner import remove_leftovers, sweep
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
from brainscore_web.submissions.plugin_folders import delete_old_folders, published_folder, unpacked

__all__ = [
    "approve",
    "cancel",
    "delete_old_files",
    "delete_old_folders",
    "files_home",
    "files_of",
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
