"""Who may do what in reviews."""

from brainscore_web.leaderboard.models import VisionModel  # noqa: F401 # apps are there

from ._made import FINE, make

LOGIN = "/accounts/login/"
REVIEWERS = (LOGIN, 404, 404, 404, 200, 200)
REVIEWERS_READ_ONLY = (LOGIN, 404, 404, 404, 405, 405)
MEMBERS_READ_ONLY = (LOGIN, *(405,) * 5)

ROWS = {
    "review:queue": ({}, {}, REVIEWERS, REVIEWERS_READ_ONLY),
}


def build(people):
    return {}
