"""Review of submissions: the queue, the computed checklist, comments, and decisions.

``comments`` is also used by submitters' pages.
"""
