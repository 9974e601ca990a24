"""Tables of the database, read without the site's own code."""

import pandas as pd
import pytest

from brainscore_web.compare import found
from brainscore_web.leaderboard import snapshot


@pytest.fixture(autouse=True)
def nothing_kept():
    """A test's database is not that of the test before."""
    snapshot.forget()
    found.forget()
    yield
    snapshot.forget()
    found.forget()


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
