"""Pictures of every page; ``BRAINSCORE_SCREENSHOTS=docs/screenshots`` keeps them for the documentation."""

import io
import os
from pathlib import Path

import pytest
from PIL import Image

from brainscore_web.leaderboard.simulated import fill

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
    "tutorials": ("/tutorials/", DESK, "light"),
    "citation": ("/citation/", DESK, "light"),
    "about": ("/about/", DESK, "light"),
}


@pytest.fixture
def shown(transactional_db):
    """Simulated scores, all public."""
    return fill(models=40, benchmarks=60, versions=2, private=0)


@pytest.mark.parametrize("name", PAGES)
def test_pages_have_a_picture(shown, browser, live_server, tmp_path, name):
    address, (width, height), scheme = PAGES[name]
    context = browser.new_context(
        base_url=live_server.url, viewport={"width": width, "height": height}, color_scheme=scheme
    )
    page = context.new_page()
    answer = page.goto(address)
    assert answer.status == 200
    page.wait_for_load_state("networkidle")
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, f"{name} is {overflow} pixels wider than the window"
    picture = Image.open(io.BytesIO(page.screenshot()))
    context.close()
    assert picture.size == (width, height)
    assert len(picture.convert("RGB").getcolors(width * height)) > 20  # something is there
    folder = Path(os.environ.get("BRAINSCORE_SCREENSHOTS") or tmp_path)
    picture.convert("RGB").quantize(128).save(folder / f"{name}.png", optimize=True)
