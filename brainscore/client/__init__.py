"""A client of the site's API.

>>> from brainscore.client import Client
>>> Client("https://www.example.org")
Client('https://www.example.org')
"""

from brainscore.client.client import Client
from brainscore.client.leaderboard import Compared, Leaderboard, Node, RankedModel
from brainscore.client.records import (
    AskedQuestion,
    Assessment,
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
from brainscore.client.submissions import (
    Pairs,
    Posted,
    Refused,
    Submission,
    SubmissionCard,
    SubmissionFinding,
    SubmissionRevision,
    SubmissionStep,
)

__all__ = [
    "AskedQuestion",
    "Assessment",
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
