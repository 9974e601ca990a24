"""Tasks of django-tasks for results of remote workers."""

from django.conf import settings
from django_tasks import task

from brainscore_core.scoring import ResultsStore
from brainscore_web.leaderboard.influence import keep_influences
from brainscore_web.leaderboard.models import Score
from brainscore_web.leaderboard.outcomes import keep_outcomes, scores_without_outcomes
from brainscore_web.scoring.completion import receipt_of
from brainscore_web.scoring.models import RemoteResult

_MOST = 100


@task()
def read_influences() -> int:
    """Read the arrays that remote workers uploaded; return the number of new rows by which models are compared."""
    uploaded = RemoteResult.objects.order_by("-pk").values_list("receipt", flat=True)[: 10 * _MOST]
    scored = Score.objects.filter(state=Score.State.SCORED, influence=None) | scores_without_outcomes()
    rows = scored.filter(receipt__in=list(uploaded)).order_by("-pk")
    names = rows.values_list("model__identifier", "benchmark__identifier", "receipt")[:_MOST]
    store = ResultsStore(settings.SUBMISSIONS["results"])
    receipts = [receipt for row in names if (receipt := receipt_of(store, *row)) is not None]
    keep_outcomes(store, receipts)
    return keep_influences(store, receipts)
