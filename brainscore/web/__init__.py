"""A client of the site's programming interface.

>>> from brainscore.web import Client
>>> Client("https://www.example.org")
Client('https://www.example.org')
"""

from brainscore.web._client import Client
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

__all__ = [
    "Benchmark",
    "BenchmarkCard",
    "Ceiling",
    "Client",
    "Leaderboard",
    "Me",
    "Model",
    "ModelCard",
    "Node",
    "Posted",
    "Profile",
    "RankedModel",
    "Refused",
    "Score",
    "Token",
    "Version",
]
