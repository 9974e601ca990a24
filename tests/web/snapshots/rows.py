"""Who may do what at the addresses of snapshots; see tests/web/test_authorisation.py."""

LOGIN = "/accounts/login/"
OPEN = (200,) * 6
READ_ONLY = (405,) * 6

ROWS = {
    "citing:cite": ({}, {}, OPEN, (LOGIN, *(400,) * 5), READ_ONLY),
    "snapshots:overview": ({}, {}, OPEN, READ_ONLY),
    "snapshots:task": ("task", {}, (LOGIN, 404, 200, 404, 404, 404), (LOGIN, *(405,) * 5)),
    **{f"snapshots:{name}": ("snapshot", {}, OPEN, READ_ONLY) for name in ("show", "json", "csv", "bibtex", "deposit")},
}


def build(people):
    """A snapshot of the whole leaderboard, made by the owner of a private model."""
    from brainscore_core.domains import domain
    from brainscore_web.leaderboard.state import BoardState
    from brainscore_web.snapshots.freezing import freeze, queue_snapshot

    view = (people["owner"], domain("vision"), BoardState())
    words = {"title": "All models", "authors": ["Lovelace, Ada"]}
    return {"snapshot": {"key": freeze(*view, **words).key}, "task": {"key": queue_snapshot(*view, **words).pk}}
