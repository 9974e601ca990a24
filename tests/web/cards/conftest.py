"""Tables of the database, read without the site's own code; pages, read as HTML."""

import html
import re
from types import SimpleNamespace

import pytest

from brainscore_core.results.aggregates import LeafResult, Tree, TreeNode, aggregate


def as_read(content):
    """The content of a page as templates read it: keys of dictionaries are attributes."""
    if isinstance(content, dict):
        return SimpleNamespace(**{name: as_read(value) for name, value in content.items()})
    return type(content)(map(as_read, content)) if type(content) in (list, tuple) else content


@pytest.fixture
def averaged(board):
    """Averages of public models by the core's function, from rows of the database."""
    from brainscore_web.leaderboard.influence import unpack
    from brainscore_web.leaderboard.models import Benchmark, Score, StoredInfluence

    def compute(**scores):
        nodes = [
            TreeNode(
                identifier=row.identifier,
                parent=row.parent and row.parent.identifier,
                benchmark=not row.is_mean,
                version=row.version or None,
                order=row.order,
            )
            for row in Benchmark.objects.select_related("parent")
        ]
        influences = {
            row.score_id: unpack(row, row.score.value) for row in StoredInfluence.objects.select_related("score")
        }
        results = [
            LeafResult(
                model=row.model.identifier,
                benchmark=row.benchmark.identifier,
                state=row.state,
                score=row.value,
                error=row.error,
                ci=None if row.low is None else (row.low, row.high),
                version=row.version or None,
                created=row.created.isoformat(),
                influence=influences.get(row.pk),
            )
            for row in Score.objects.filter(**scores).select_related("model", "benchmark")
        ]
        return {one.model: one for one in aggregate(Tree(nodes), results)}

    return compute


@pytest.fixture
def get(client):
    """Get an address, with or without a login; return the text of the page without its tags."""

    def ask(address, who=None, status=200):
        client.logout()
        if who is not None:
            client.force_login(who)
        answer = client.get(address)
        assert answer.status_code == status, answer.content[:2000]
        return answer

    return ask


def text_of(answer):
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", answer.content.decode(), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.fixture
def read():
    return text_of
