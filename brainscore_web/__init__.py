"""The website: leaderboard, cards, comparison and programming interface, as a Django project."""
