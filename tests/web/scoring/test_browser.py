"""Pages of scoring in a browser: nothing for axe to find, nothing wider than a phone."""

import pytest
from django.test import Client
from django.utils import timezone

from brainscore_web.scoring.models import Job

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


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_everybody_can_use_the_pages(browser, live_server, pairs, staff, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    client = Client()
    client.force_login(staff)  # who sees most
    context = browser.new_context(
        base_url=live_server.url, viewport={"width": width, "height": 700}, color_scheme=scheme, bypass_csp=True
    )
    context.add_cookies([{"name": "sessionid", "value": client.session.session_key, "url": live_server.url}])
    page = context.new_page()
    page.set_default_timeout(20_000)
    wrong = []
    try:
        for address in ("/scoring/", *(f"/scoring/{pair.pk}/" for pair in pairs if pair.state in STATES[:4])):
            assert page.goto(address).status == 200
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            found = [f"{one['id']}: {one['nodes'][0]['html']}" for one in axe.run(page).response["violations"]]
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if wide > 0:
                found.append(f"{wide} pixels too wide")
            if page.evaluate("document.querySelectorAll('script:not([src]), style, [style]').length"):
                found.append("scripts or styles in the page")
            wrong += [f"{address}: {one}" for one in found]
    finally:
        context.close()
    assert not wrong, "\n".join(wrong)
