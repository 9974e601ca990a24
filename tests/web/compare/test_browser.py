"""In a browser: changing modes, pointing, downloading, keyboard, phone, dark, accessibility."""

import csv
import re
import xml.etree.ElementTree as ET

import pytest

from brainscore_web.leaderboard import simulation

from .._browsing import LOOKS, PHONE, barriers, follow

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/vision/compare/"
X, Y = "Simulated000.V1-pls", "Simulated003.IT-pls"


@pytest.fixture
def shown(transactional_db):
    return simulation.simulate_leaderboard(models=12, benchmarks=42, versions=2, private=0)


def test_a_visit(shown, page, new_page, tmp_path):
    expect = pytest.importorskip("playwright.sync_api").expect
    page.goto(PAGE)
    page.get_by_label("Horizontal axis").fill(X)
    page.get_by_label("Vertical axis").fill(Y)
    follow(page.get_by_role("button", name="Compare"))
    assert f"x={X}" in page.url
    assert page.get_by_role("heading", level=2).first.inner_text() == f"{Y} against {X}"

    # pointing at a mark, or going to it by keyboard, says what it is; Escape hides that
    tip = page.locator(".chart-tip")
    mark = page.locator(".chart-points a").first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    expect(tip).to_contain_text(X)
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    mark.focus()
    expect(tip).to_contain_text(Y)
    said = tip.inner_text()
    assert said.startswith("simulated-")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert said.splitlines()[0] in mark.get_attribute("href")

    with page.expect_download() as waiting:
        page.get_by_role("link", name="SVG").click()
    waiting.value.save_as(tmp_path / "chart.svg")
    assert ET.parse(tmp_path / "chart.svg").getroot().get("width") == "85mm"
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
    waiting.value.save_as(tmp_path / "chart.csv")
    with (tmp_path / "chart.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 12

    # the other modes keep what was chosen; filters narrow it down
    follow(page.get_by_role("link", name="Models", exact=True).and_(page.locator(".tabs a")))
    page.get_by_label("Model 1").fill(shown.models[0])
    page.get_by_label("Model 2").fill(shown.models[5])
    follow(page.get_by_role("button", name="Compare"))
    assert page.locator(".chart-heading").first.text_content() == "Means"
    page.get_by_text("Filters", exact=True).click()
    page.locator(".facet").get_by_label("IT").first.check()
    follow(page.get_by_role("button", name="Apply"))
    assert "region=IT" in page.url
    expect(page.locator(".chart-heading")).to_have_text(["Means", re.compile("^IT: ")])
    follow(page.get_by_role("link", name="region: IT"))
    assert "region" not in page.url
    follow(page.get_by_role("link", name="Two benchmarks"))
    assert page.get_by_label("Horizontal axis").input_value() == X

    # cells of a large matrix say what they are
    page.goto(f"{PAGE}?mode=matrix&level=benchmarks&least=3")
    page.emulate_media(reduced_motion="reduce")  # what scrolls does so at once
    page.locator("figcaption").scroll_into_view_if_needed()
    labels = page.evaluate("JSON.parse(document.getElementById('matrix-values').textContent).labels")
    for row, column in ((30, 30), (33, 40), (40, 33), (41, 38)):
        beside, above = (page.locator(".chart-row-label").nth(place) for place in (2 * row, 2 * column + 1))
        beside, above = beside.bounding_box(), above.bounding_box()
        page.mouse.move(above["x"] + above["width"] / 2, beside["y"] + beside["height"] / 2)
        number = "1\\.00" if row == column else "−?[01]\\.[0-9]{2}"
        names = re.escape(f"{labels[row]} × {labels[column]}")
        expect(page.locator(".chart-tip")).to_have_text(re.compile(f"^{names}\\s+r = {number}$"))

    # on a phone, without script
    page = new_page(viewport=PHONE, java_script_enabled=False)
    for query in ("", "?mode=models", "?mode=matrix", "?mode=matrix&level=benchmarks&least=3"):
        page.goto(PAGE + query)
        chart = page.locator(".chart").bounding_box()
        held = page.locator(".chart-scroll, figure").last.bounding_box()
        assert held["x"] + held["width"] <= 360
        assert chart["width"] >= 300
        small = [one.bounding_box()["height"] for one in page.locator(".chart .chart-tick").all()[:5]]
        assert min(small) >= 8 or "benchmarks" in query
    page.goto(PAGE)
    page.get_by_label("Horizontal axis").fill(X)
    follow(page.get_by_role("button", name="Compare"))
    assert X in page.get_by_role("heading", level=2).first.inner_text()


def test_nothing_is_in_the_way_of_anyone(shown, new_page):
    page, wrong = new_page(refused=True), []
    for query in ("", f"?mode=models&first={shown.models[0]}", "?mode=matrix"):
        wrong += barriers(page, PAGE + query, opened=True)
    wrong += barriers(page, f"{PAGE}?mode=matrix&level=benchmarks&least=3&region=nowhere", looks=LOOKS[:1], opened=True)
    assert not wrong, "\n".join(wrong)
