"""Look into uploaded files, in a process of its own: nothing here knows the site, its database or its secrets."""

from brainscore_web.uploads.inspection._inspect import inspect
from brainscore_web.uploads.inspection._report import Found, Question, Report

__all__ = ["Found", "Question", "Report", "inspect"]
