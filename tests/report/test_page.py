import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from brainscore.report import render_report, report_of, view_of
from brainscore.report._page import payload_of
from brainscore.report._plots import heat_figure, scores_figure, training_figures
from brainscore.report._tables import table_text
from brainscore_core.results.aggregates import Tree
from brainscore_core.scoring import CeilingEstimate, ErrorInfo, Estimate, Problem

VOID = {"meta", "br", "hr", "img", "link", "input"}
SHAPES = {"path", "use", "rect", "circle", "line"}


class Page(HTMLParser):
    """Checks that tags are closed; collects rows, links, and what a script or a style is made of."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.ids, self.links, self.tags, self.scripts = [], [], [], [], [], []
        self.text, self.handlers = "", []
        self.feed(text)
        self.close()
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.handlers += [name for name in attrs if name.startswith("on") or name == "style"]
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        for name in ("src", "href", "xlink:href", "action", "data"):
            assert re.match(r"#|data:image/(png|svg\+xml);base64,", attrs.get(name) or "#"), (
                f"{tag} {name}={attrs[name]}"
            )
        if tag == "script":
            self.scripts.append(attrs.get("type", ""))
        if tag not in VOID | SHAPES:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append("")

    def handle_startendtag(self, tag, attrs):
        assert tag in SHAPES

    def handle_endtag(self, tag):
        if tag not in VOID | SHAPES:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data
        if "tr" in self.open and data.strip():
            self.rows[-1] += f"{' '.join(data.split())}|"


def payload(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def test_groups_are_sorted_and_apart(simulated):
    view = view_of(
        [
            simulated.receipt("b", value=0.2),
            simulated.receipt("a", value=0.7),
            simulated.failed(),
            simulated.receipt("c", "B2026-rdm", ceiling=None),
            simulated.receipt("c", "C2026-pls", control=True),
        ]
    )
    assert [group.benchmark for group in view.ceiled] == ["A2026.IT-pls"]
    assert [group.benchmark for group in view.unceiled] == ["B2026-rdm"]
    assert [group.benchmark for group in view.controls] == ["C2026-pls"]
    assert [row.model for row in view.ceiled[0].rows] == ["a", "b", "broken"]
    assert view.ceiled[0].ceiling == "0.800 (standard error 0.010), reliability of the measurements"
    assert view.ceiled[0].estimates == "over neuroids"
    assert view.unceiled[0].ceiling == "none"
    assert view.summary == "4 models, 3 benchmarks: 4 scored, 1 failed"
    assert view.scored == ("A2026.IT-pls", "B2026-rdm", "C2026-pls")


@pytest.fixture(scope="module")
def report(simulated):
    receipts = [
        simulated.receipt("a"),
        simulated.receipt("b", state="not applicable", reason="records no IT"),
        simulated.receipt("n", state="undefined", reason="a constant response"),
        simulated.failed(),
        simulated.receipt("a", "E2026-top1", 0.25, ceiling=None),
        simulated.receipt("a", "Outside2026-rdm", 0.3),
        simulated.receipt("a", "Control2026-pls", 0.9, control=True),
    ]
    return report_of(
        receipts,
        [Problem("x.json", "not valid JSON")],
        tree=simulated.small_tree(),
        log_ends={receipts[3].id: "the <last> line"},
        remarks=["Everything here is simulated."],
    )


@pytest.fixture(scope="module")
def text(report):
    return render_report(report)


def test_the_page_is_whole_and_needs_nothing_else(text):
    page = Page(text)
    assert page.scripts == ["application/json", ""]
    assert page.handlers == []
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert {link.lstrip("#") for link in page.links} <= set(page.ids)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy


UNKNOWN = (
    ' <abbr class="exposure" title="training unknown: it is not known what the stimuli are taken from">°'
    '<span class="said"> training unknown</span></abbr>'
)


def test_scores_of_models_that_were_trained_on_the_stimuli_are_marked(simulated):
    pairs = [("alexnet", "Geirhos2021contrast-top1"), ("alexnet", "ImageNet-top1"), ("lab", "ImageNet-top1")]
    report = report_of([simulated.receipt(model, benchmark) for model, benchmark in pairs], tree=Tree([]))
    assert [report.exposure[pair].state for pair in pairs] == ["trained on it", "clean", "unknown"]
    text = render_report(report)
    assert (
        'title="trained on it: the stimuli are from ImageNet (ILSVRC 2012), which the model was trained on">†' in text
    )
    assert text.count('<abbr class="exposure"') >= 4  # in the tables of benchmarks and models
    assert "† trained on it: " in text
    columns = json.loads(payload_of(report))["columns"]
    assert {column["x"] for column in columns} == {"t", "cu"}


def test_each_state_and_its_reason_can_be_read(text):
    page = Page(text.replace(UNKNOWN, ""))
    rows = "\n".join(page.rows)
    assert "a|0.500 (0.400–0.600)|0.400 (standard error 0.040)|" in rows
    assert "not applicable|: records no IT|" in rows
    assert "NaN|: a constant response|" in rows
    assert "failed|: ValueError: boom" in rows
    for words in ("x.json: not valid JSON", "the <last> line", "<b>boom</b>", "Everything here is simulated."):
        assert words in page.text


def near_zero(simulated, **changes):
    ceiling = CeilingEstimate(value=0.1, error=0.05, ci=(-0.01, 0.2), ci_level=0.95, meaning="reliability")
    score = Estimate(value=3.0, ci=(1.3, math.inf), ci_level=0.95, scale="ceiled", error_reason="unbounded")
    return replace(simulated.receipt("near zero"), **({"score": score, "ceiling": ceiling} | changes))


def test_an_undetermined_score_is_not_shown(simulated):
    """The ceiling's interval includes 0: the raw score and the reason are shown instead of the value."""
    found = near_zero(simulated)
    report = report_of([simulated.receipt("a"), found])
    text = render_report(report)
    page = Page(text)
    rows = "\n".join(page.rows)
    assert "undetermined (raw 0.400 (standard error 0.040))" in table_text(report, ".md")
    assert (
        "undetermined|: raw score 0.400 (standard error 0.040); the interval of the ceiling 0.100, -0.010 to 0.200, "
        "includes 0" in rows
    )
    assert "3.000" not in rows
    column = payload(text)["columns"][0]
    assert dict(zip(payload(text)["models"], column["s"], strict=True)) == {"a": "s", "near zero": "d"}
    assert (column["v"], column["r"]) == ([0.5], [0.4])
    assert "raw score 0.400" in text.split('class="heat"')[1]
    group = report.view.groups[0]
    assert [row.model for row in group.rows] == ["a", "near zero"]
    for figure in (heat_figure(report), scores_figure(group)):
        assert "3.000" not in str(figure)


def test_limits_that_are_missing(simulated):
    """A mean of subjects may be unbounded beside a ceiling that is not."""
    found = near_zero(simulated, ceiling=CeilingEstimate(value=0.5, ci=(0.4, 0.6), meaning="reliability"))
    report = report_of([simulated.receipt("a"), found])
    text = render_report(report)
    assert "3.000 (1.300 and more, no upper limit)" in "\n".join(Page(text).rows)
    column = payload(text)["columns"][0]
    assert sorted(column["h"], key=str) == [0.6, None]
    assert "inf" not in str(scores_figure(report.view.groups[0])).lower().replace("info", "")
    assert "1.300 and more, no upper limit" in table_text(report, ".md")


def test_cards_say_where_scores_come_from(simulated):
    receipts = simulated.many()
    page = Page(render_report(report_of(receipts)))
    for words in (
        "simulated-resnet50.pth",
        "numpy 2.1.0",
        "isolated in environment eeeeeeeeeeee",
        "timm 1.0.9",
        "for activations",
    ):
        assert words in page.text
    for receipt in receipts:
        assert receipt.id in page.text


def test_engineering_controls_and_others_stand_apart(text):
    found = payload(text)
    roots = [node["title"] for node in found["nodes"] if node["parent"] < 0]
    assert roots == ["Global Score", "Engineering", "Not in the averages", "Controls"]
    (root,) = (number for number, node in enumerate(found["nodes"]) if node["title"] == "Controls")
    assert [node["id"] for node in found["nodes"] if node["parent"] == root] == ["Control2026-pls"]
    assert [found["nodes"][column["node"]]["ceiled"] for column in found["columns"]] == [True, False, True, True]


def test_the_script_is_given_every_number_once(report, text):
    found = payload(text)
    column = next(column for column in found["columns"] if found["nodes"][column["node"]]["id"] == "A2026.IT-pls")
    assert dict(zip(found["models"], column["s"], strict=True)) == {"a": "s", "b": "n", "n": "u", "broken": "f"}
    assert (column["v"], column["e"], column["l"], column["h"]) == ([0.5], [0.05], [0.4], [0.6])
    place = next(str(number) for number, node in enumerate(found["nodes"]) if node["id"] == "average_vision")
    a = found["models"].index("a")
    assert found["means"]["all"][place]["v"][a] == 0.25 / 2
    assert found["means"]["scored"][place]["v"][a] == 0.5
    assert found["texts"][found["cover"][place][a]] == "1 of 4 scored; 3 missing"


NASTY = [
    "<script>alert('$x_1$')</script>\x07&\n",
    "</script><img src=x onerror=alert(1)>",
    "--><!--<script>",
    '"\' onload=alert(1) x="',
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe שלום",
    "模型 🧠",
    "long-" * 60,
    "lone \ud800 surrogate",
]


@pytest.mark.parametrize("nasty", NASTY)
def test_names_are_escaped_everywhere(simulated, nasty):
    error = ErrorInfo(type=nasty, message=nasty, traceback=nasty)
    receipts = [
        simulated.receipt(nasty, nasty, notes=(nasty,), device=nasty),
        simulated.receipt("b", nasty, state="failed", reason=nasty, error=error),
        simulated.receipt("_hidden", "A2026.IT-pls"),
    ]
    text = render_report(
        report_of(receipts, [Problem(nasty, nasty)], log_ends={receipts[1].id: nasty}, remarks=[nasty])
    )
    page = Page(text)
    assert page.scripts == ["application/json", ""]
    assert page.handlers == []
    assert "img" not in page.tags
    assert set(payload(text)["models"]) == {"_hidden", "b", nasty.encode("utf-8", "replace").decode()}


def test_the_same_receipts_give_the_same_page_in_any_order(simulated):
    receipts = simulated.many()
    assert render_report(report_of(receipts)) == render_report(report_of(receipts[::-1]))


def test_nothing_at_all_and_only_what_cannot_be_read():
    assert "no receipts" in Page(render_report(report_of([]))).text
    page = Page(render_report(report_of([], [Problem("x.json", "not valid JSON")])))
    assert "x.json: not valid JSON" in page.text
    assert {link.lstrip("#") for link in page.links} <= set(page.ids)


@pytest.mark.parametrize(
    "score",
    [
        Estimate(value=0.0),
        Estimate(value=-3.0, ci=(-900.0, 1e6)),
        Estimate(value=1e9, error=1e300),
        Estimate(value=0.5, error=0.1, error_reason=None, ci_reason="too few subjects"),
    ],
)
def test_odd_numbers(simulated, score):
    text = render_report(report_of([simulated.receipt(score=score, raw=None, ceiling=None)]))
    assert "too few subjects" in text or score.ci_reason is None
    assert Page(text).scripts


@pytest.mark.slow(reason="makes a report of thousands of scores")
def test_large_reports_are_packed_and_stay_small(large):
    import base64
    import zlib

    report = report_of(large)
    text = render_report(report)
    page = Page(text)
    assert page.scripts.count("text/plain") == 104 + 36
    assert "data-packed" in text
    assert page.tags.count("img") == 1
    assert len(text) < 1_500_000
    packed = re.search(r'id="m-0".*?<script type="text/plain">(.*?)</script>', text, re.DOTALL)[1]
    card = zlib.decompress(base64.b64decode(packed)).decode()
    assert card.count("<tr>") == 1 + len(report.cards[0]["rows"])
    Page(card)


def test_the_heat_map_as_a_picture_shows_each_pair(simulated):
    import base64
    import io

    from PIL import Image

    from brainscore.report._page import heat_picture
    from brainscore_core.figures import HEAT

    receipts = [
        simulated.receipt("a", "A2026.IT-pls", 0.99),
        simulated.receipt("a", "B2026.V1-pls", 0.0),
        simulated.failed("a", "D2026.IT-rdm"),
    ]
    board = report_of(receipts, tree=simulated.small_tree()).board
    address, wide, high = heat_picture(board)
    picture = Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGB")
    assert picture.size == (3 * wide, high)
    names = [board.nodes[place].identifier for place in board.benchmarks]

    def colours(name):
        start = names.index(name) * wide
        return {f"#{r:02x}{g:02x}{b:02x}" for _, (r, g, b) in picture.crop((start, 0, start + wide, high)).getcolors()}

    assert colours("A2026.IT-pls") == {HEAT[-1]}
    assert colours("B2026.V1-pls") == {HEAT[0]}
    assert len(colours("D2026.IT-rdm")) == 2


def test_every_colour_of_the_heat_map_can_be_read_on():
    from brainscore_core.figures.colour_tables import HEAT, contrast, dark_text

    brightness = [contrast(colour, "#000000") for colour in HEAT]
    assert brightness == sorted(brightness, reverse=True)
    assert all(contrast(colour, "#000000" if dark_text(colour) else "#ffffff") >= 4.5 for colour in HEAT)


def test_states_of_a_model_are_one_row_and_a_trajectory(simulated):
    states = [f"net@seed{seed}@epoch{epoch}" for seed in (1, 2) for epoch in (0, 5)]
    receipts = [
        simulated.receipt(model=model, benchmark=benchmark)
        for model in (*states, "other")
        for benchmark in ("Doe2026-pls", "Roe2026-pls")
    ]
    report = report_of(receipts)
    assert set(report.board.models) == {"net@seed1@epoch5", "other"}
    assert report.view.models == ("net@seed1@epoch5", "other")
    page = render_report(report)
    assert "net has 4 states, of epochs or seeds of its training. It is listed as net@seed1@epoch5" in page
    text = Page(page).text
    assert text.count("During training") == 1
    cards = {card["model"]: card for card in report.cards}
    assert not cards["other"]["states"]
    drawn = list(training_figures(cards["net@seed1@epoch5"]["states"], identifier="x"))
    assert [benchmark for benchmark, _, _ in drawn] == ["Doe2026-pls", "Roe2026-pls"]
    for _, figure, shown in drawn:
        assert [receipt.model.identifier for receipt in shown] == states
        assert "seed 1" in figure
        assert "seed 2" in figure
    assert all(state in text for state in states)
