"""In a browser: trees, copying, keyboard, phone, dark, without script, accessibility."""

import io
import re

import numpy as np
import pytest
from django.urls import reverse

from brainscore_core.statistics.stimuli import StimulusOutcomes
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard import outcomes
from brainscore_web.leaderboard.models import Benchmark, LayerProfile, Score, StimulusSample, VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard

from .._browsing import barriers, follow, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
FIRST = "Simulated000.V1-pls"


@pytest.fixture
def shown(transactional_db, settings, tmp_path, request):
    """A site with all that cards can show."""
    from django.core.files.base import ContentFile
    from PIL import Image

    settings.MEDIA_ROOT = tmp_path
    made = simulate_leaderboard(models=12, benchmarks=getattr(request, "param", 60), versions=2, private=1)
    owner = User.objects.create_user("owner@example.org", "correct horse battery")
    model = VisionModel.objects.get(identifier=made.models[0])
    model.owner, model.details = owner, {"notes": ["One."], "code_licence": "MIT"}
    model.identifier = model.title = "convnet"  # there is no code to show of a simulated one
    model.save()
    made = made._replace(models=["convnet", *made.models[1:]])
    layers = [f"layer{number}" for number in range(1, 9)]
    scores = [
        {
            "layer": layer,
            "features": 10,
            "score": place / 20,
            "error": 0.01,
            "ci": [place / 20 - 0.02, place / 20 + 0.02],
        }
        for place, layer in enumerate(layers)
    ]
    for region in ("V1", "IT"):
        document = {"scores": scores, "best": "layer8", "ceiling": 0.8, "stimuli": 300}
        LayerProfile.objects.create(model=model, region=region, benchmark=f"Some.{region}", document=document)
    buffer = io.BytesIO()
    Image.new("RGB", (40, 40), "grey").save(buffer, "PNG")
    for place in range(3):
        sample = StimulusSample(benchmark=Benchmark.objects.get(identifier=FIRST), caption=f"grey {place}", place=place)
        sample.image.save("grey.png", ContentFile(buffer.getvalue()))
    Score.objects.filter(benchmark__identifier=FIRST, model=model).update(
        document={
            "environment": {"packages": {"numpy": "2.3"}},
            "files": [{"url": "https://example.org/" + "long/" * 40}],
        }
    )
    return made


def pages(shown):
    receipt = Score.objects.filter(benchmark__identifier=FIRST, model__identifier=shown.models[0]).first().receipt
    return {
        "model": f"/vision/model/{shown.models[0]}/",
        "benchmark": f"/vision/benchmark/{FIRST}/",
        "mean": "/vision/benchmark/neural_vision/",
        "receipt": f"/vision/receipt/{receipt}/",
        "benchmarks": "/vision/benchmarks/?region=V1",
        "models": "/vision/models/?q=simulated",
    }


def test_a_visit(shown, page, new_page):
    """Trees, copying, from the list to the receipt, and without script."""
    expect = pytest.importorskip("playwright.sync_api").expect
    page.goto(f"/vision/model/{shown.models[0]}/")
    row = page.locator(f'[data-node="{FIRST}"]')
    expect(row).to_have_count(0)
    page.get_by_role("link", name="Open V1", exact=True).click()
    expect(row).to_be_visible()
    expect(page.get_by_role("link", name="Close V1", exact=True)).to_have_attribute("aria-expanded", "true")
    assert "open=V1" in page.url
    page.reload()
    expect(row).to_be_visible()

    toggle = page.get_by_role("link", name="Close Neural", exact=True)
    toggle.focus()
    page.keyboard.press("Enter")
    expect(page.locator('[data-node="V1"]')).to_be_hidden()
    expect(row).to_be_hidden()
    page.get_by_role("link", name="Open Neural", exact=True).click()
    expect(row).to_be_visible()  # V1 stayed open

    page.get_by_role("link", name="Open all").click()
    expect(page.locator("[data-node]:visible")).to_have_count(Benchmark.objects.count())
    page.get_by_role("link", name="Close all").click()
    expect(page.locator("[data-node]:visible")).to_have_count(2)
    page.reload()
    assert page.locator("[data-node]:visible").count() == 2

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/vision/model/{shown.models[0]}/")
    page.locator(".snippet", has=page.locator("#code-python")).get_by_role("button").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#code-python").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("link", name=re.compile(r"^Download .*\.bib$")).click()
    assert waiting.value.suggested_filename == f"{shown.models[0]}.bib"

    page.goto("/vision/benchmarks/")
    page.get_by_label("Region").select_option("V1")
    follow(page.get_by_role("button", name="Filter"))
    assert "region=V1" in page.url
    follow(page.get_by_role("link", name=FIRST, exact=True))
    assert page.inner_text("h1") == FIRST
    assert page.locator(".samples img").count() == 3
    page.locator(".samples").scroll_into_view_if_needed()
    wait_until(page, "[...document.querySelectorAll('.samples img')].every((image) => image.naturalWidth === 40)")
    follow(page.locator(".models tbody a[href^='/vision/receipt/']").first)
    assert page.inner_text("h1") == "Receipt"

    page = new_page(java_script_enabled=False)
    page.goto(f"/vision/model/{shown.models[0]}/")
    assert page.locator(f'[data-node="{FIRST}"]').is_hidden()
    follow(page.get_by_role("link", name="Open V1", exact=True))
    assert page.locator(f'[data-node="{FIRST}"]').is_visible()
    assert page.get_by_role("button", name="Copy").count() == 0


@pytest.mark.parametrize("shown", [24], indirect=True)
def test_nothing_is_in_the_way_of_anyone(shown, new_page):
    page = new_page(refused=True)
    scores = Score.objects.filter(model__identifier=shown.models[0], state="scored", benchmark__access="public")[:2]
    values = np.array([0.25, 1.0])
    made = StimulusOutcomes("choice", ("x", "y"), values, values), StimulusOutcomes("response", ("x", "y"), values)
    outcomes.write_outcomes([(score.pk, each) for score, each in zip(scores, made, strict=True)])
    by_stimulus = [reverse("cards:stimuli", args=["vision", score.receipt]) for score in scores]
    wrong = [
        line
        for address in (*pages(shown).values(), "/vision/model/none/", *by_stimulus, "/vision/leaderboard/?picks=1")
        for line in barriers(page, address, opened=True)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_walk_through_both_domains(shown, new_page):
    """From the leaderboard of vision by a tab to that of language, its cards, and a comparison; axe finds nothing."""
    made = simulate_leaderboard(models=6, benchmarks=8, private=0, units=20, domain="language")
    page = new_page(refused=True)
    wrong = barriers(page, "/")
    follow(page.get_by_role("link", name="Leaderboard", exact=True))
    follow(page.get_by_role("link", name="Language", exact=True))
    assert page.url.endswith("/language/leaderboard/")
    page.get_by_text(f"{len(made.models)} of {len(made.models)} models").wait_for()
    wrong += barriers(page)
    follow(page.get_by_role("link", name="Models", exact=True))
    follow(page.get_by_role("link", name=made.models[0], exact=True))
    assert page.url.endswith(f"/language/model/{made.models[0]}/")
    wrong += barriers(page, opened=True)
    follow(page.get_by_role("link", name="Compare with another model"))
    assert "/language/compare/" in page.url
    wrong += barriers(page)
    follow(page.get_by_role("link", name="Vision", exact=True))
    assert page.url.endswith("/vision/compare/")
    wrong += barriers(page, f"/language/benchmark/{made.benchmarks[0]}/", opened=True)
    wrong += barriers(page, "/competitions/")
    assert not wrong, "\n".join(wrong)
