"""The leaderboard: models, benchmarks and scores that are ingested from receipts."""

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.leaderboard"
    label = "leaderboard"
    verbose_name = "Leaderboard"

    def ready(self) -> None:
        """Increment the revision whenever something changes."""
        from brainscore_web.leaderboard import revision

        revision.connect()
