"""In a browser: trees, copying, keyboard, phone, dark, without script, accessibility."""

import io
import re

import pytest

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Benchmark, LayerProfile, Score, StimulusSample, VisionModel
from brainscore_web.leaderboard.simulated import fill

pytestmark = pytest.mark.django_db(transaction=True)
FIRST = "Simulated000.V1-pls"


@pytest.fixture
def shown(transactional_db, settings, tmp_path):
    """A site with all that cards can show."""
    from django.core.files.base import ContentFile
    from PIL import Image

    settings.MEDIA_ROOT = tmp_path
    made = fill(models=12, benchmarks=60, versions=2, private=1)
    owner = User.objects.create_user("owner@example.org", "correct horse battery")
    model = VisionModel.objects.get(identifier=made.models[0])
    model.owner, model.details = owner, {"notes": ["One."], "code_licence": "MIT"}
    model.save()
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


def test_a_tree_opens_and_the_address_says_how(shown, page):
    expect = pytest.importorskip("playwright.sync_api").expect
    page.goto(f"/vision/model/{shown.models[0]}/")
    row = page.locator(f'[data-node="{FIRST}"]')
    expect(row).to_be_hidden()
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

    page.get_by_role("button", name="Open all").click()
    assert page.locator("[data-node]:visible").count() == Benchmark.objects.count()
    page.get_by_role("button", name="Close all").click()
    assert page.locator("[data-node]:visible").count() == 2
    page.reload()
    assert page.locator("[data-node]:visible").count() == 2


def test_code_can_be_copied(shown, page):
    expect = pytest.importorskip("playwright.sync_api").expect
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/vision/model/{shown.models[0]}/")
    page.locator(".snippet", has=page.locator("#code-python")).get_by_role("button").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#code-python").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("link", name=re.compile(r"^Download .*\.bib$")).click()
    assert waiting.value.suggested_filename == f"{shown.models[0]}.bib"


def test_from_the_list_to_the_receipt(shown, page):
    page.goto("/vision/benchmarks/")
    page.get_by_label("Region").select_option("V1")
    page.get_by_role("button", name="Filter").click()
    assert "region=V1" in page.url
    page.get_by_role("link", name=FIRST, exact=True).click()
    assert page.inner_text("h1") == FIRST
    assert page.locator(".samples img").count() == 3
    page.locator(".samples").scroll_into_view_if_needed()
    page.wait_for_function("[...document.querySelectorAll('.samples img')].every((image) => image.naturalWidth === 40)")
    page.locator(".models tbody a[href^='/vision/receipt/']").first.click()
    assert page.inner_text("h1") == "Receipt"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way_of_anyone(shown, browser, live_server, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(base_url=live_server.url, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    for name, address in {**pages(shown), "unknown": "/vision/model/none/"}.items():
        page.goto(address)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found = axe.Axe().run(page)
        assert found.violations_count == 0, f"{name}: {found.generate_report()}"
    context.close()


def test_on_a_phone(shown, browser, live_server):
    context = browser.new_context(base_url=live_server.url, viewport={"width": 360, "height": 740})
    page = context.new_page()
    for name, address in pages(shown).items():
        page.goto(address)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") == 360, name
    context.close()


def test_without_script(shown, browser, live_server):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/vision/model/{shown.models[0]}/")
    assert page.locator(f'[data-node="{FIRST}"]').is_hidden()
    page.get_by_role("link", name="Open V1", exact=True).click()
    assert page.locator(f'[data-node="{FIRST}"]').is_visible()
    assert page.get_by_role("button", name="Copy").count() == 0
    context.close()
