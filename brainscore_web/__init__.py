"""The website: leaderboard, cards, comparison and API, as a Django project."""

import brainscore_core  # noqa: F401 - so that earlier paths of modules work
