"""The rules of competitions as pure functions: who may enter, what counts, who stands where, who wins what.

They know neither the site nor its database; pages show what comes out of them.
"""

from __future__ import annotations

from brainscore_web.competitions.rules._dates import Phase, deadline_end, phase_of
from brainscore_web.competitions.rules._eligibility import (
    REGIONS,
    TASKS,
    EntryFacts,
    Finding,
    Terms,
    check_entry,
    species_group,
    task_kind,
)
from brainscore_web.competitions.rules._ranking import places, prizes_of
from brainscore_web.competitions.rules._standings import (
    Cell,
    Direction,
    Entered,
    NotApplicable,
    Rule,
    Standing,
    StandingRow,
    standings,
    team_key,
)

__all__ = [
    "REGIONS",
    "TASKS",
    "Cell",
    "Direction",
    "Entered",
    "EntryFacts",
    "Finding",
    "NotApplicable",
    "Phase",
    "Rule",
    "Standing",
    "StandingRow",
    "Terms",
    "check_entry",
    "deadline_end",
    "phase_of",
    "places",
    "prizes_of",
    "species_group",
    "standings",
    "task_kind",
    "team_key",
]
