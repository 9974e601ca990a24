"""The website: leaderboard, cards, comparison and API, as a Django project."""
