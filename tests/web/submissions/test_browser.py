"""Pages of submissions in a browser: what comes anew, and who cannot see or use a mouse."""

import pytest
from django.utils import timezone

from brainscore_web.submissions.models import Step, Submission
from tests.web._browsing import barriers
from tests.web._plugins import model_files

from .conftest import confirm

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_log_grows_while_it_is_read(owner, submitted, new_page):
    logged_in = new_page(confirm(owner))
    row = submitted(owner).submission
    step = Step.objects.filter(revision=row.latest, kind="check")
    step.update(state="running", started=timezone.now(), log="first line\n")
    logged_in.goto(f"/submissions/{row.pk}/")
    logged_in.click("#log-check summary")
    step.update(log="first line\nsecond line\n")
    logged_in.wait_for_selector("text=second line")
    assert logged_in.get_attribute("#log-check", "open") is not None
    step.update(state="failed", reason="no wheel", ended=timezone.now())
    Submission.objects.update(state="changes")
    logged_in.wait_for_selector("text=The checks failed")
    assert logged_in.get_attribute("#progress", "hx-trigger") is None


def test_everybody_can_use_the_pages(owner, submitted, new_page):
    files = model_files()
    files["models/tiles_8/model.py"] = files["models/tiles_8/model.py"].replace("SIZE = 8", "SIZE = = 8")
    row = submitted(owner, files, note="Tiles.").submission
    submitted(owner, model_files(size=16), submission=row)
    page, wrong = new_page(owner), []
    for address in ("", "new/", f"{row.pk}/", f"{row.pk}/?revision=1", f"{row.pk}/1/code/", f"{row.pk}/2/changes/"):
        wrong += barriers(page, f"/submissions/{address}")
        assert page.url.endswith(f"/submissions/{address}")
    assert not wrong, "\n".join(wrong)
