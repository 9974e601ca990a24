"""The tables of competitions: what is announced, what competes, who entered, frozen standings, winners."""

from __future__ import annotations

from brainscore_web.competitions.models._competition import (
    Competition,
    Milestone,
    Person,
    ProgrammeItem,
    Question,
    manages_competitions,
)
from brainscore_web.competitions.models._results import Award, Entry, Snapshot
from brainscore_web.competitions.models._track import Track

__all__ = [
    "Award",
    "Competition",
    "Entry",
    "Milestone",
    "Person",
    "ProgrammeItem",
    "Question",
    "Snapshot",
    "Track",
    "manages_competitions",
]
