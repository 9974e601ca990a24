"""Pages of scoring in a browser: nothing for axe to find, nothing wider than a phone."""

import pytest
from django.utils import timezone

from brainscore_web.scoring.models import Job

from .._browsing import barriers
from .._plugins import model_files
from ._site import in_tree, submit

pytestmark = pytest.mark.django_db(transaction=True)
STATES = ("waiting", "running", "scored", "failed", "cancelled", "not applicable", "undefined")
LONG = "RuntimeError: " + "long" * 60


@pytest.fixture
def pairs(owner):
    """A pair in every state, the last of them with much to say."""
    (model, other), benchmarks = in_tree(models=("pixels", "gabor"))
    submission = submit(owner, model_files())
    now, made = timezone.now(), []
    for number, state in enumerate(STATES):
        job = Job.objects.create(
            model=(model, other)[number % 2], benchmark=benchmarks[number // 2 % 2], why="new model", state=state,
            reason=LONG if state == "failed" else "", log="wide " * 100 + "\nand more\n" * 30,
            started=None if state == "waiting" else now, ended=now if number > 1 else None,
        )  # fmt: skip
        job.submissions.add(submission)
        made.append(job)
    return made


def test_everybody_can_use_the_pages(new_page, pairs, staff):
    page = new_page(staff)  # who sees most
    wrong = []
    for address in ("/scoring/", *(f"/scoring/{pair.pk}/" for pair in pairs if pair.state in STATES[:4])):
        wrong += barriers(page, address, opened=True)
        assert page.url.endswith(address)
    assert not wrong, "\n".join(wrong)
