"""Fixtures of the tests of the search."""

import pytest

from brainscore_web.search.index import SOURCES


@pytest.fixture(autouse=True)
def _without_documentation(request, monkeypatch):
    """Indexing the documentation takes seconds, which one test does."""
    if "documentation" not in request.node.name:
        monkeypatch.delitem(SOURCES, "tutorial")
