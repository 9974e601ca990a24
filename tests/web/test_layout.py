"""Nothing is cut off, on desktops, phones and paper, on the small sites of `test_sentences.py`."""

import re
from pathlib import Path

import pytest

import brainscore_web

from ._browsing import too_wide
from .test_sentences import SENTENCES, build

DESK, PHONE, PAPER = ({"width": width, "height": 900} for width in (1440, 390, 700))
OTHERS = pytest.mark.slow(reason="opens the same pages of other sites")


@pytest.mark.parametrize(
    "site", ["sparse", *(pytest.param(site, marks=OTHERS) for site in SENTENCES if site != "sparse")]
)
def test_no_table_is_cut_off(site, transactional_db, new_page):
    build(site)
    page, wrong = new_page(refused=True), []
    for address in SENTENCES[site]:
        page.goto(address)
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            wrong += [f"{address}, {size['width']} pixels: {problem}" for problem in too_wide(page)]
    assert not wrong, "\n".join(wrong)


def test_print(board, new_page):
    page = new_page(viewport=PAPER)
    page.emulate_media(media="print")
    model, other = board.models[:2]
    card = f"/vision/model/{model}/"
    page.goto(card)
    receipt = page.locator("a[href^='/vision/receipt/']").first
    address = receipt.get_attribute("href")
    assert receipt.evaluate("link => getComputedStyle(link, '::after').content") == f'"{address}"'
    for path in (card, address, "/vision/benchmark/V1/", f"/vision/compare/?mode=models&first={model}&second={other}"):
        page.goto(path)
        assert too_wide(page) == [], path
        shown = "things => things.filter(thing => thing.checkVisibility()).map(thing => thing.outerHTML)"
        assert page.locator("header.head, nav:not(.path), form, button, footer").evaluate_all(shown) == [], path
        written = page.locator("main").evaluate("main => getComputedStyle(main, '::after').content")
        assert written.endswith(f'{path}"')


def test_numbers_and_times_are_written_by_one_filter_each():
    for path in Path(brainscore_web.__file__).parent.rglob("*.html"):
        others = re.findall(r'\|(?:date:"[^"]*[gGhHiP][^"]*"|time\b|floatformat:(?!"0")|intcomma)', path.read_text())
        assert not others, (path, others)
