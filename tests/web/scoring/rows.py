"""Who may do what with pairs."""

from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Revision, Submission

LOGIN, BACK = "/accounts/login/", "/scoring/#pairs"
OPEN = (200,) * 6
READ_ONLY = (405,) * 6
MEMBERS_READ_ONLY = (LOGIN, *(405,) * 5)
OWNER = (404, 404, 200, 404, 404, 200)  # and administrators
CHANGED = (LOGIN, 404, BACK, 404, 404, BACK)
TO_BACK = {"back": "/scoring/"}

ROWS = {
    "scoring:home": ({}, {}, OPEN, READ_ONLY),
    "scoring:live": ({}, {}, OPEN, READ_ONLY),
    "scoring:job": ("pair_failed", {}, OWNER, READ_ONLY),
    "scoring:retry": ("pair_failed", TO_BACK, MEMBERS_READ_ONLY, CHANGED, MEMBERS_READ_ONLY),
    "scoring:cancel": ("pair_waiting", TO_BACK, MEMBERS_READ_ONLY, CHANGED, MEMBERS_READ_ONLY),
    "scoring:submission": ("pairs_of", {}, (LOGIN, 404, 200, 404, 404, 200), MEMBERS_READ_ONLY),
    "scoring:cancel-all": ("pairs_of", TO_BACK, MEMBERS_READ_ONLY, CHANGED, MEMBERS_READ_ONLY),
}


def build(people):
    """Two pairs of a private model of the owner's, and the submission for which they are done."""
    owner = people["owner"]
    model = VisionModel.objects.create(identifier="serval-hidden", visibility="private", owner=owner)
    submission = Submission.objects.create(owner=owner, title="serval", visibility="private", state="scoring")
    Revision.objects.create(submission=submission, number=1, by=owner, archive=b"", digest="0" * 64, size=0)
    benchmarks = Benchmark.objects.filter(is_mean=False).order_by("identifier")[:2]
    made = []
    for benchmark, state in zip(benchmarks, ("failed", "waiting"), strict=True):
        job = Job.objects.create(model=model, benchmark=benchmark, why="new model", state=state, reason="dhole")
        job.submissions.add(submission)
        made.append(job)
    return {
        "pair_failed": {"pk": made[0].pk}, "pair_waiting": {"pk": made[1].pk}, "pairs_of": {"key": submission.pk},
    }  # fmt: skip
