"""In a browser: pages of citing and following have no barriers, on a desktop and a phone, light and dark."""

import pytest

from brainscore_core.domains import domain
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.snapshots.freezing import freeze

from .._browsing import barriers


@pytest.mark.slow(reason="loads six pages in a browser")
def test_no_page_has_barriers(transactional_db, board, new_page, owner):
    row = freeze(owner, domain("vision"), BoardState(), title="All models", authors=["Lovelace, Ada"])
    page = new_page(owner)
    addresses = (
        "/vision/cite/", "/snapshots/", row.get_absolute_url(), "/following/", "/following/vision/benchmark/IT/",
        f"/following/vision/model/{board.models[0]}/",
    )  # fmt: skip
    for address in addresses:
        assert barriers(page, address) == []
