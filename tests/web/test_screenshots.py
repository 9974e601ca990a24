"""Pictures of every page; ``BRAINSCORE_SCREENSHOTS=docs/screenshots`` keeps them for the documentation."""

import io
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone
from PIL import Image

from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard
from brainscore_web.pages.models import News
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Step

from ._assessments import add_assessments
from ._browsing import wait_until
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
    "benchmark_validity": (f"/vision/benchmark/{BENCHMARK}/?models=all#validity", DESK, "light"),
    "benchmark_validity_phone": (f"/vision/benchmark/{BENCHMARK}/#validity", PHONE, "light"),
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
    """Simulated scores, all public, and some assessments."""
    made = simulate_leaderboard(models=40, benchmarks=60, versions=2, private=0, units=100)
    add_assessments(BENCHMARK, MODEL, others=(OTHER,))
    add_assessments(SECOND, OTHER, clean=True)
    return made


@pytest.fixture
def news(db):
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
    """A benchmark that waits for review, and pairs in every state; its owner and a reviewer."""
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
    return {"owner": owner, "reviewer": member}


def test_pages_have_a_picture(shown, news, new_page):
    page = new_page()
    for name, what in PAGES.items():
        take(page, name, *what)


def test_pages_of_submissions_have_a_picture(submitted, new_page):
    pages = {who: new_page(user) for who, user in submitted.items()}
    for name, what in OWN.items():
        take(pages["reviewer" if name == "review" else "owner"], name, *what)


DRAWN = """() => [...document.images].every((one) => one.loading === "lazy" || one.complete)
    && !document.querySelector("#leaderboard:not(.live), #leaderboard.busy, td.waiting")"""


def take(page, name, address, size, scheme):
    """Take a picture of a page; it must be there, and fit."""
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    assert page.goto(address).status == 200, name
    wait_until(page, DRAWN)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, f"{name} is {overflow} pixels wider than the window"
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    assert picture.size == (width, height)
    assert len(picture.getcolors(width * height)) > 20, name  # something is there
    if folder := os.environ.get("BRAINSCORE_SCREENSHOTS"):
        picture.quantize(128, method=Image.Quantize.FASTOCTREE).save(Path(folder) / f"{name}.png", optimize=True)
