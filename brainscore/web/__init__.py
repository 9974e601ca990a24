"""A client of the site's programming interface.

>>> from brainscore.web import Client
>>> Client("https://www.example.org")
Client('https://www.example.org')
"""

from brainscore.web._client import Client
from brainscore.web._comparing import Compared
from brainscore.web._leaderboard import Leaderboard, Node, RankedModel
from brainscore.web._posting import Posted, Refused
from brainscore.web._records import (
    Benchmark,
    BenchmarkCard,
    Ceiling,
    Me,
    Model,
    ModelCard,
    Profile,
    Score,
    Token,
    Version,
)
from brainscore.web._submitting import (
    Pairs,
    Submission,
    SubmissionCard,
    SubmissionFinding,
    SubmissionRevision,
    SubmissionStep,
)

__all__ = [
    "Benchmark",
    "BenchmarkCard",
    "Ceiling",
    "Client",
    "Compared",
    "Leaderboard",
    "Me",
    "Model",
    "ModelCard",
    "Node",
    "Pairs",
    "Posted",
    "Profile",
    "RankedModel",
    "Refused",
    "Score",
    "Submission",
    "SubmissionCard",
    "SubmissionFinding",
    "SubmissionRevision",
    "SubmissionStep",
    "Token",
    "Version",
]
