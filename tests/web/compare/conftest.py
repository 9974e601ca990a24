"""Tables of the database, read without the site's own code."""

import pandas as pd
import pytest


@pytest.fixture
def scores(board):
    """The scores that count, one row each: of public models, of the benchmarks' second version."""
    from brainscore_web.leaderboard.models import Score

    fields = (
        "model__identifier",
        "benchmark__identifier",
        "state",
        "value",
        "error",
        "low",
        "high",
        "raw",
        "raw_error",
    )
    rows = Score.objects.filter(version="2", model__visibility="public").values_list(*fields)
    return pd.DataFrame(rows, columns=["model", "benchmark", *fields[2:]]).astype(dict.fromkeys(fields[3:], float))
