"""What the other apps call."""

from __future__ import annotations

from brainscore_web.scoring.changing import cancel_all, cancel_job, may_change, retry_job
from brainscore_web.scoring.planning import plan_for
from brainscore_web.scoring.progress import Progress, progress

__all__ = ["Progress", "cancel_all", "cancel_job", "may_change", "plan_for", "progress", "retry_job"]
