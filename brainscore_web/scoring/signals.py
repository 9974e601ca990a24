"""Signals that scoring sends to other apps."""

from django.dispatch import Signal

jobs_ended = Signal()
"""Sent after the transaction in which a job of a submission ended, with the submission's key as `submission_id`."""
