"""Inspection of uploaded files in a separate process, without access to the site, its database or its secrets."""

from brainscore_web.uploads.inspection._inspect import inspect
from brainscore_web.uploads.inspection._report import Found, Question, Report

__all__ = ["Found", "Question", "Report", "inspect"]
