"""Pictures of every page; ``BRAINSCORE_SCREENSHOTS=docs/screenshots`` keeps them for the documentation."""

import io
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
from PIL import Image

from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.leaderboard.simulated import fill
from brainscore_web.pages.models import News
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Step

from ._plugins import benchmark_files
from .review._made import make
from .submissions.conftest import confirm

DESK, PHONE = (1280, 800), (390, 844)
MODEL, OTHER = "simulated-vit-006", "simulated-resnet-005"
BENCHMARK, SECOND = "Simulated003.IT-pls", "Simulated000.V1-pls"
PAGES = {
    "home": ("/", DESK, "light"),
    "leaderboard": ("/vision/leaderboard/", DESK, "light"),
    "leaderboard_dark": ("/vision/leaderboard/", DESK, "dark"),
    "leaderboard_open": (
        "/vision/leaderboard/?open=average_vision&open=neural_vision&open=V1&open=IT&sort=IT&errors=1",
        DESK,
        "light",
    ),
    "leaderboard_phone": ("/vision/leaderboard/", PHONE, "light"),
    "model": (f"/vision/model/{MODEL}/", DESK, "light"),
    "model_dark": (f"/vision/model/{MODEL}/", DESK, "dark"),
    "model_phone": (f"/vision/model/{MODEL}/", PHONE, "light"),
    "benchmark": (f"/vision/benchmark/{BENCHMARK}/", DESK, "light"),
    "benchmarks": ("/vision/benchmarks/", DESK, "light"),
    "models": ("/vision/models/", DESK, "light"),
    "compare_benchmarks": (f"/vision/compare/?x={SECOND}&y={BENCHMARK}", DESK, "light"),
    "compare_models": (f"/vision/compare/?mode=models&first={MODEL}&second={OTHER}", DESK, "light"),
    "compare_matrix": ("/vision/compare/?mode=matrix", DESK, "light"),
    "interface": ("/api/v1/docs", DESK, "light"),
    "competitions": ("/competitions/", DESK, "light"),
    "competition": ("/competition2024/", DESK, "light"),
    "news": ("/news/", DESK, "light"),
    "tutorials": ("/tutorials/", DESK, "light"),
    "citation": ("/citation/", DESK, "light"),
    "about": ("/about/", DESK, "light"),
}
KEY = UUID(int=2026)
OWN = {
    "submission_new": ("/submissions/new/", DESK, "light"),
    "submission": (f"/submissions/{KEY}/", DESK, "light"),
    "submission_phone": (f"/submissions/{KEY}/", PHONE, "light"),
    "review": (f"/review/{KEY}/1/", DESK, "light"),
    "scoring": ("/scoring/", DESK, "light"),
}
"""Pages of a submission, as its owner or, where it is reviewed, a reviewer sees them."""


@pytest.fixture
def shown(transactional_db):
    """Simulated scores, all public."""
    return fill(models=40, benchmarks=60, versions=2, private=0)


@pytest.fixture
def told(db):
    """Two news."""
    for day, title, body in (
        (3, "Submissions are open", "Models and benchmarks are *tested*, reviewed and scored on the site."),
        (9, "Four new benchmarks", "Behaviour and IT, from two laboratories. See the [list](/vision/benchmarks/)."),
    ):
        News.objects.create(
            slug=f"news-{day}", title=title, body=body, draft=False, published=datetime(2026, 3, day, 9, tzinfo=UTC)
        )


@pytest.fixture
def submitted(shown, owner, member):
    """A benchmark that waits for review, and pairs in every state; the sessions of its owner and of a reviewer."""
    member.user_permissions.add(Permission.objects.get(codename="review_submissions"))
    confirm(owner)
    submission = make(owner, benchmark_files(), key=KEY)
    logs = {
        "check": "examined: no errors\nrequirements: none\nfiles: 2 of 2 verified\n",
        "test": "test.py::test_it_loads PASSED\ntest.py::test_ceiling PASSED\n2 passed in 3.41s\n",
    }
    now = timezone.now()
    for step in Step.objects.filter(revision=submission.latest):
        step.log = logs.get(step.kind, "")
        if step.log:
            step.started, step.ended = now - timedelta(minutes=5), now - timedelta(minutes=4)
        step.save()
    submission.latest.comments.create(
        author=member, path="benchmarks/author2026/benchmark.py", line=4, text="Where is this constant from?"
    )
    models = VisionModel.objects.filter(runnable=True).order_by("identifier")[:4]
    benchmarks = Benchmark.objects.filter(is_mean=False).order_by("identifier")[:3]
    states = ("scored", "scored", "running", "waiting", "failed", "scored", "waiting", "waiting")
    pairs = [(model, benchmark) for model in models for benchmark in benchmarks]
    for (model, benchmark), state in zip(pairs, states, strict=False):
        times = {"started": now - timedelta(minutes=3)} if state not in ("waiting",) else {}
        if state in ("scored", "failed"):
            times["ended"] = now - timedelta(minutes=1)
        reason = "the model used more than 16 GB of memory" if state == "failed" else ""
        job = Job.objects.create(
            model=model, benchmark=benchmark, why="new benchmark", state=state, reason=reason, **times
        )
        job.submissions.add(submission)
    return {"owner": session_of(owner), "reviewer": session_of(member)}


def session_of(user):
    client = Client()
    client.force_login(user)
    return client.session.session_key


@pytest.mark.parametrize("name", PAGES)
def test_pages_have_a_picture(shown, told, browser, live_server, tmp_path, name):
    take(name, PAGES[name], browser, live_server, tmp_path)


@pytest.mark.parametrize("name", OWN)
def test_pages_of_submissions_have_a_picture(submitted, browser, live_server, tmp_path, name):
    take(
        name, OWN[name], browser, live_server, tmp_path, session=submitted["reviewer" if name == "review" else "owner"]
    )


def take(name, what, browser, live_server, tmp_path, *, session=None):
    """Take a picture of a page; it must be there, and fit."""
    address, (width, height), scheme = what
    context = browser.new_context(
        base_url=live_server.url, viewport={"width": width, "height": height}, color_scheme=scheme
    )
    if session is not None:
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()
    answer = page.goto(address)
    assert answer.status == 200
    if session is None:
        page.wait_for_load_state("networkidle")  # which never comes where a page asks again and again
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, f"{name} is {overflow} pixels wider than the window"
    picture = Image.open(io.BytesIO(page.screenshot()))
    context.close()
    assert picture.size == (width, height)
    assert len(picture.convert("RGB").getcolors(width * height)) > 20  # something is there
    folder = Path(os.environ.get("BRAINSCORE_SCREENSHOTS") or tmp_path)
    picture.convert("RGB").quantize(128).save(folder / f"{name}.png", optimize=True)
