"""The page in a browser."""

import json
import re

import pytest
from scipy import stats

from brainscore.report import report_of, write_report

CELLS = "[...document.querySelectorAll('#board tbody tr')].map((row) => row.cells[{}].firstChild.textContent)"
MODELS = "[...document.querySelectorAll('#board tbody th')].map((cell) => cell.textContent)"


@pytest.fixture
def show(browser, tmp_path):
    """``show(receipts)`` opens the report of them; it must ask for nothing but itself, and the browser not complain."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    complaints, asked = [], []

    def write(receipts):
        path = tmp_path / "report.html"
        write_report(report_of(receipts), path)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda note: complaints.append(note.text) if note.type in ("error", "warning") else None)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield write
    context.close()
    assert complaints == []
    assert asked == [(tmp_path / "report.html").as_uri()]


def test_a_small_report(simulated, show):
    receipts = simulated.many()
    page = show(receipts)
    header = json.loads(
        page.evaluate("JSON.stringify([...document.querySelectorAll('#board thead th')].map((c) => c.textContent))")
    )
    assert header[0] == "Model"
    before = page.evaluate(MODELS)
    assert len(before) == 8

    page.evaluate("document.querySelector('#board [data-open]').click()")  # the tree closes, and opens again
    assert page.evaluate("document.querySelectorAll('#board thead th').length") < len(header)
    page.evaluate("document.querySelector('#board [data-open]').click()")
    assert page.evaluate("document.querySelectorAll('#board thead th').length") == len(header)

    page.evaluate("document.querySelector('#board [data-sort=\"-1\"]').click()")
    assert page.evaluate(MODELS) == sorted(before)
    column = next(number for number, text in enumerate(header) if "Behavior" in text)
    page.evaluate(f"document.querySelectorAll('#board thead th')[{column}].querySelector('.sort').click()")
    shown = [
        float(re.sub("−", "-", text.split(" (")[0])) for text in page.evaluate(CELLS.format(column)) if text != "–"
    ]
    assert shown == sorted(shown, reverse=True)
    assert page.evaluate(CELLS.format(column))[: len(shown)].count("–") == 0

    page.evaluate("document.querySelector('[name=over][value=scored]').click()")
    assert "left out" in page.evaluate("document.querySelector('#board caption').textContent")
    page.evaluate("document.querySelector('#board-find').value = 'RESNET'")
    page.evaluate("document.querySelector('#board-find').dispatchEvent(new Event('input'))")
    assert page.evaluate(MODELS) == ["simulated-resnet50"]


def test_any_two_benchmarks(simulated, show):
    receipts = simulated.many()
    page = show(receipts)
    names = ("Kar2019-ost", "ImageNet-top1")
    for select, name in zip(("x", "y"), names, strict=True):
        page.evaluate(
            f"(() => {{ const s = document.getElementById('scatter-{select}');"
            f"s.value = [...s.options].find((o) => o.text === '{name}').value;"
            "s.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )
    scores = {name: {} for name in names}
    for receipt in receipts:
        if receipt.benchmark.identifier in names and receipt.score:
            scores[receipt.benchmark.identifier][receipt.model.identifier] = receipt.score.value
    both = sorted(set(scores[names[0]]) & set(scores[names[1]]))
    x, y = ([scores[name][model] for model in both] for name in names)
    assert page.evaluate("document.querySelectorAll('#scatter-plot .dot').length") == len(both)
    text = page.evaluate("document.getElementById('scatter-r').textContent").replace("−", "-")
    told = [
        float(number)
        for number in re.findall(r"= (-?\d\.\d{3})|interval (-?\d\.\d{3})(?: to |–)(-?\d\.\d{3})", text)
        for number in number
        if number
    ]
    pearson = stats.pearsonr(x, y)
    interval = pearson.confidence_interval()
    assert told[:3] == pytest.approx([pearson.statistic, interval.low, interval.high], abs=2e-3)
    assert told[3] == pytest.approx(stats.spearmanr(x, y).statistic, abs=2e-3)
    assert f"n = {len(both)} models" in text

    page.evaluate("document.querySelector('#scatter-plot svg').focus()")
    page.keyboard.press("ArrowRight")
    said = page.evaluate("document.getElementById('scatter-says').textContent")
    assert said.startswith(both[x.index(min(x))] + ":")


def test_a_large_report(large, show):
    page = show(large)
    assert page.evaluate("document.querySelectorAll('#board tbody tr').length") == 100
    page.evaluate("document.getElementById('board-more').click()")
    assert page.evaluate("document.querySelectorAll('#board tbody tr').length") == 104
    assert page.evaluate("document.querySelectorAll('#m-5 table').length") == 0
    page.evaluate("location.hash = '#m-5'")
    page.locator("#m-5 table.scores tbody tr").nth(25).wait_for(state="attached")
    assert page.evaluate("document.querySelectorAll('#m-5 .wait').length") == 0
    page.evaluate("document.getElementById('heat').focus()")
    page.keyboard.press("ArrowRight")
    assert "Bench01-pls" in page.evaluate("document.getElementById('heat-says').textContent")


def test_hostile_names_stay_names(simulated, show):
    nasty = "</script><img src=x onerror=\"document.title='caught'\"><b>&amp;"
    receipts = [
        simulated.receipt(model, bench) for model in (nasty, "b", "c", "d") for bench in (nasty, "A2026.IT-pls")
    ]
    page = show([*receipts, simulated.failed(nasty, "C2026.V1-rdm")])
    page.evaluate("document.getElementById('board-open').click()")
    assert page.evaluate("document.querySelectorAll('img, b').length") == 0
    assert nasty in page.evaluate(MODELS)
    assert page.evaluate("document.title") == "Brain-Score report"
