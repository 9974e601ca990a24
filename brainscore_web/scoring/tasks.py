"""Tasks of django-tasks for results of remote workers."""

from django.conf import settings
from django_tasks import task

from brainscore_core.scoring import ResultsStore
from brainscore_web.leaderboard.influence import keep_influences
from brainscore_web.leaderboard.models import Score
from brainscore_web.scoring.completion import receipt_of
from brainscore_web.scoring.models import RemoteResult

_MOST = 100


@task()
def read_influences() -> int:
    """Read the arrays that remote workers uploaded, by which models are compared; return the number of new rows."""
    uploaded = RemoteResult.objects.order_by("-pk").values_list("receipt", flat=True)[: 10 * _MOST]
    missing = Score.objects.filter(receipt__in=list(uploaded), state=Score.State.SCORED, influence=None)
    rows = missing.order_by("-pk").values_list("model__identifier", "benchmark__identifier", "receipt")[:_MOST]
    store = ResultsStore(settings.SUBMISSIONS["results"])
    receipts = [receipt_of(store, *row) for row in rows]
    return keep_influences(store, [receipt for receipt in receipts if receipt is not None])
