"""The website: leaderboard, cards, comparison and programming interface, as a Django project."""

import brainscore_core  # noqa: F401 - so that earlier paths of modules work
