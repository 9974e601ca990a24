"""Claims of steps, as workers make them."""

from django.db.models import Q

from brainscore_web.jobs.leases import claim
from brainscore_web.submissions.steps import LANES, LONG_LANE


def claim_next_step(only=None, *, long=None):
    """Claim the next due step, or the given one, of the long or the short ones."""
    where = None if only is None else Q(pk=only)
    queues = [queue for queue in LANES if long is None or long == (queue.lane == LONG_LANE)]
    return next((leases[0] for queue in queues if (leases := claim(queue, where=where))), None)
