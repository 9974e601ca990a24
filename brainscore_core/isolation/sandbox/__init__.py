"""Sandboxes: code runs without network access, sees only what it is given, and has limited resources.

Bubblewrap creates them from namespaces of Linux. If started as root, the code runs as an unprivileged user.
"""

from brainscore_core.isolation.sandbox.commands import Ended, run_in_sandbox
from brainscore_core.isolation.sandbox.sandbox import (
    FOLDERS,
    HOME,
    Exchange,
    Loan,
    OpenSandbox,
    Sandbox,
    Verdict,
    require_sandbox,
)

__all__ = [
    "FOLDERS",
    "HOME",
    "Ended",
    "Exchange",
    "Loan",
    "OpenSandbox",
    "Sandbox",
    "Verdict",
    "require_sandbox",
    "run_in_sandbox",
]
