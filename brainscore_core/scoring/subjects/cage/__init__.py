"""Cages: code that nobody has read runs without network, and sees and uses only what it is given.

Bubblewrap makes them, from namespaces of Linux; as root, an unprivileged user enters them.
"""

from brainscore_core.scoring.subjects.cage._cage import FOLDERS, HOME, Cage, OpenCage, Verdict
from brainscore_core.scoring.subjects.cage._exchange import Exchange, Loan
from brainscore_core.scoring.subjects.cage._require import require_cage
from brainscore_core.scoring.subjects.cage._run import Ended, run_in_cage

__all__ = [
    "FOLDERS",
    "HOME",
    "Cage",
    "Ended",
    "Exchange",
    "Loan",
    "OpenCage",
    "Verdict",
    "require_cage",
    "run_in_cage",
]
