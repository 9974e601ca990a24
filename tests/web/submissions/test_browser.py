"""Pages of submissions in a browser: what comes anew, and who cannot see or use a mouse."""

import pytest
from django.utils import timezone

from brainscore_web.submissions.models import Step, Submission
from tests.web._plugins import model_files

from .conftest import confirm

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def logged_in(page, owner):
    confirm(owner)
    page.goto("/accounts/login/")
    page.fill("[name=login]", owner.email)
    page.fill("[name=password]", "correct horse battery")
    page.click("main button[type=submit]")
    page.wait_for_url("**/accounts/profile/")
    return page


def test_a_log_grows_while_it_is_read(owner, submitted, logged_in):
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


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_everybody_can_use_the_pages(owner, submitted, logged_in, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    files = model_files()
    files["models/tiles_8/model.py"] = files["models/tiles_8/model.py"].replace("SIZE = 8", "SIZE = = 8")
    row = submitted(owner, files, note="Tiles.").submission
    submitted(owner, model_files(size=16), submission=row)
    logged_in.emulate_media(color_scheme=scheme)
    logged_in.set_viewport_size({"width": width, "height": 800})
    for address in ("", "new/", f"{row.pk}/", f"{row.pk}/?revision=1", f"{row.pk}/1/code/", f"{row.pk}/2/changes/"):
        logged_in.goto(f"/submissions/{address}")
        assert logged_in.url.endswith(f"/submissions/{address}")
        assert logged_in.evaluate("document.documentElement.scrollWidth") <= width, address
        found = axe.Axe().run(logged_in)
        assert found.violations_count == 0, f"{address}: {found.generate_report()}"
