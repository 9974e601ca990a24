"""Models, benchmarks and scores, as they were ingested from receipts."""

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.leaderboard"
    label = "leaderboard"
    verbose_name = "Leaderboard"

    def ready(self) -> None:
        """Count revisions whenever something changes."""
        from brainscore_web.leaderboard import revision

        revision.connect()
