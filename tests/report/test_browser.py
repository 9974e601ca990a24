"""The page in a browser."""

import json
import re

import pytest
from scipy import stats

from brainscore.report import report_of, write_report

pytestmark = pytest.mark.slow(reason="starts a browser for each test")

CELLS = "[...document.querySelectorAll('#board tbody tr')].map((row) => row.cells[{}].firstChild.textContent)"
MODELS = "[...document.querySelectorAll('#board tbody th')].map((cell) => cell.textContent)"


@pytest.fixture
def page(simulated, tmp_path):
    def write(receipts):
        path = tmp_path / "report.html"
        write_report(report_of(receipts), path)
        return path

    return write


def test_a_small_report(simulated, browser, page):
    receipts = simulated.many()
    tab = browser(page(receipts))
    header = json.loads(
        tab.evaluate("JSON.stringify([...document.querySelectorAll('#board thead th')].map((c) => c.textContent))")
    )
    assert header[0] == "Model"
    before = tab.evaluate(MODELS)
    assert len(before) == 8

    tab.evaluate("document.querySelector('#board [data-open]').click()")  # the tree closes, and opens again
    assert tab.evaluate("document.querySelectorAll('#board thead th').length") < len(header)
    tab.evaluate("document.querySelector('#board [data-open]').click()")
    assert tab.evaluate("document.querySelectorAll('#board thead th').length") == len(header)

    tab.evaluate("document.querySelector('#board [data-sort=\"-1\"]').click()")
    assert tab.evaluate(MODELS) == sorted(before)
    column = next(number for number, text in enumerate(header) if "Behavior" in text)
    tab.evaluate(f"document.querySelectorAll('#board thead th')[{column}].querySelector('.sort').click()")
    shown = [float(re.sub("−", "-", text.split(" ±")[0])) for text in tab.evaluate(CELLS.format(column)) if text != "–"]
    assert shown == sorted(shown, reverse=True)
    assert tab.evaluate(CELLS.format(column))[: len(shown)].count("–") == 0

    tab.evaluate("document.querySelector('[name=over][value=scored]').click()")
    assert "left out" in tab.evaluate("document.querySelector('#board caption').textContent")
    tab.evaluate("document.querySelector('#board-find').value = 'RESNET'")
    tab.evaluate("document.querySelector('#board-find').dispatchEvent(new Event('input'))")
    assert tab.evaluate(MODELS) == ["simulated-resnet50"]

    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith("file:")] == []
    assert len(tab.requests) == 1


def test_any_two_benchmarks(simulated, browser, page):
    receipts = simulated.many()
    tab = browser(page(receipts))
    names = ("Kar2019-ost", "ImageNet-top1")
    for select, name in zip(("x", "y"), names, strict=True):
        tab.evaluate(
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
    assert tab.evaluate("document.querySelectorAll('#scatter-plot .dot').length") == len(both)
    text = tab.evaluate("document.getElementById('scatter-r').textContent").replace("−", "-")
    told = [
        float(number)
        for number in re.findall(r"= (-?\d\.\d{3})|interval (-?\d\.\d{3}) to (-?\d\.\d{3})", text)
        for number in number
        if number
    ]
    pearson = stats.pearsonr(x, y)
    interval = pearson.confidence_interval()
    assert told[:3] == pytest.approx([pearson.statistic, interval.low, interval.high], abs=2e-3)
    assert told[3] == pytest.approx(stats.spearmanr(x, y).statistic, abs=2e-3)
    assert f"n = {len(both)} models" in text

    tab.evaluate("document.querySelector('#scatter-plot svg').focus()")
    tab.key("ArrowRight")
    said = tab.evaluate("document.getElementById('scatter-says').textContent")
    assert said.startswith(both[x.index(min(x))] + ":")
    assert tab.errors == []


def test_a_large_report(large, browser, page):
    tab = browser(page(large))
    assert tab.evaluate("document.querySelectorAll('#board tbody tr').length") == 100
    tab.evaluate("document.getElementById('board-more').click()")
    assert tab.evaluate("document.querySelectorAll('#board tbody tr').length") == 104
    assert tab.evaluate("document.querySelectorAll('#m-5 table').length") == 0
    tab.evaluate("location.hash = '#m-5'")
    tab.wait("document.querySelectorAll('#m-5 table.scores tbody tr').length > 25")
    assert tab.evaluate("document.querySelectorAll('#m-5 .wait').length") == 0
    tab.evaluate("document.getElementById('heat').focus()")
    tab.key("ArrowRight")
    assert "Bench01-pls" in tab.evaluate("document.getElementById('heat-says').textContent")
    assert tab.errors == []


def test_hostile_names_stay_names(simulated, browser, page):
    nasty = "</script><img src=x onerror=\"document.title='caught'\"><b>&amp;"
    receipts = [
        simulated.receipt(model, bench) for model in (nasty, "b", "c", "d") for bench in (nasty, "A2026.IT-pls")
    ]
    tab = browser(page([*receipts, simulated.failed(nasty, "C2026.V1-rdm")]))
    tab.evaluate("document.getElementById('board-open').click()")
    assert tab.evaluate("document.querySelectorAll('img, b').length") == 0
    assert nasty in tab.evaluate(MODELS)
    assert tab.evaluate("document.title") == "Brain-Score report"
    assert tab.errors == []
    assert len(tab.requests) == 1
