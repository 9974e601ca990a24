"""What assessments add to the page, the figures and the tables."""

from dataclasses import replace

import pytest

from brainscore.report import render_report, report_of, table_text, write_figures
from brainscore.report._plots import controls_figure, recovery_figure
from brainscore_core.receipts.assessment import Assessment, Used

BENCHMARK = "A2026.IT-pls"


def assessed(part, result, models=(), version=3, **fields):
    found = Assessment(
        part=part,
        benchmark=Used(kind="benchmark", identifier=BENCHMARK, version=version),
        models=tuple(Used(kind="model", identifier=model) for model in models),
        **{"state": "assessed", "result": result, "text": f"Text of the {part} <b>", **fields},
    )
    return found.identified()


def controls(model="a", shuffled=0.3, p=0.01, **fields):
    def control(name, kind, value, p):
        difference = {"value": 0.7 - value, "ci": [0.1, 0.6], "p": p}
        return {"name": name, "kind": kind, "description": f"{name} <i>", "score": value, "ci": [0.0, 0.5],
                "difference": difference, "reason": None}  # fmt: skip

    result = {
        "model": model, "score": 0.7, "ci": [0.6, 0.8], "above_all_controls": p <= 0.05, "p_above_all_controls": p,
        "controls": [
            control("gabor", "baseline", 0.4, p),
            control("shuffled groups", "artefact check", shuffled, 0.001),
            {"name": "time codes", "kind": "artefact check", "score": None, "reason": "no order <u> is known"},
        ],
    }  # fmt: skip
    return assessed("controls", result, (model,), **fields)


def recovery(models=("a", "<b>")):
    share = {"found": 3, "experiments": 4, "share": 0.75, "low": 0.19, "high": 0.99}
    result = {
        "candidates": list(models),
        "confusions": [{"generator": "sampled units", "counts": [[3, 1], [0, 4]], "overall": share}],
        "mixtures": [{"generator": "sampled units", "first": "a", "second": "<b>", "weights": [0.5], "found": [share]}],
    }
    return assessed("recovery", result, models)


def audit(**fields):
    losses = [{"rule": "scene", "model": "pixels", "default": 0.2, "grouped": 0.1, "loss": 0.1, "ci": [0.05, 0.15]}]
    overlaps = [{"kind": "scene", "groups": 9, "stimuli": 90, "pairs": None, "share": 0.5}]
    return assessed("audit", {"stimuli": 90, "overlaps": overlaps, "losses": losses}, **fields)


@pytest.fixture
def receipts(simulated):
    names = (BENCHMARK, "B2026.V1-rdm")
    return [simulated.receipt(model, name, value) for name in names for model, value in (("a", 0.7), ("b", 0.2))]


@pytest.fixture
def report(simulated, receipts):
    return lambda *assessments: report_of(receipts, tree=simulated.small_tree(), assessments=assessments)


def test_the_section(report):
    text = render_report(report(audit(), controls(), controls("b", 0.2, p=0.4), recovery()))
    assert '<a href="#validity">Validity</a>' in text
    assert "Found in 90 stimuli: stimuli with the same scene." in text
    assert (
        "a is above each of the 2 baseline models that have a score (one-sided tests at 5 %, all of them required)."
        in text
    )
    assert "b is not significantly above gabor (baseline). This does not make the score invalid" in text
    assert "not scored: no order &lt;u&gt; is known" in text
    assert "75 % (19–99 %) of 4 experiments" in text
    assert "difference to the best baseline model (gabor): +0.300 (0.100–0.600)" in text
    assert "version 3 of the benchmark, with a." in text
    for markup in ("<b>", "<i>", "<u>"):
        assert markup not in text
    assert "Not assessed: B2026.V1-rdm. <code>brainscore assess BENCHMARK" in text


def test_the_order_of_assessments_does_not_matter(report):
    found = [audit(), controls(), controls("b", 0.2, p=0.4), recovery()]
    assert render_report(report(*found)) == render_report(report(*reversed(found)))


def test_links(report):
    text = render_report(report(audit()))
    place = text.split('<details id="v-')[1].split('"')[0]
    assert f'<dd><a href="#v-{place}">audit</a></dd>' in text
    assert "--part controls --part recovery</code>" in text


def test_newest_counts_and_changes_are_told(report):
    old = replace(audit(), id=None, created="2026-01-01T00:00:00.000000Z").identified()
    failed = assessed("audit", None, version=2, state="failed", reason="ValueError: boom", text="")
    text = render_report(report(failed, old))
    assert "Failed: ValueError: boom." in text
    assert "Found in 90 stimuli" not in text
    assert "the scores above are of version 3" in text
    assert "The code has not changed since." in text  # neither had code that a plugin registers
    changed = replace(audit(), benchmark=Used(kind="benchmark", identifier=BENCHMARK, version=3, sha256="0" * 64))
    text = render_report(report(changed))
    assert f"The code has changed since, or is not installed here: benchmark {BENCHMARK}." in text


def test_without_assessments(report):
    made = report()
    assert dict(made.validity) == {}
    text = render_report(made)
    assert "Not assessed: " in text
    assert 'class="chart' not in text
    assert recovery_figure(report(audit()).validity[BENCHMARK]) is None


def test_assessments_of_other_benchmarks_are_left_out(report):
    other = replace(audit(), id=None, benchmark=Used(kind="benchmark", identifier="Z2026.IT-pls")).identified()
    assert dict(report(other).validity) == {}


def test_figures(report, tmp_path):
    made = report(controls(), controls("b", 0.2), recovery())
    names = {file.name for file in write_figures(made, tmp_path)}
    assert {"controls-A2026-IT-pls.svg", "controls-A2026-IT-pls.png", "recovery-A2026-IT-pls.png"} <= names
    group = next(group for _, group in made.groups if group.benchmark == BENCHMARK)
    drawn = controls_figure(group, made.validity[BENCHMARK])
    for label in (">a<", ">b<", ">gabor<", ">Baselines<", ">shuffled groups (a)<", ">shuffled groups (b)<",
                  ">not scored<", ">0.40<"):  # fmt: skip
        assert label in drawn
    assert drawn.count(">gabor<") == 1
    assert ">.75<" in recovery_figure(made.validity[BENCHMARK])


def test_tables(report):
    text = table_text(report(controls(), recovery()), ".md")
    row = "| A2026.IT-pls | a | 0.700 (0.600–0.800) | gabor, 0.400 (0.000–0.500) | +0.300 (0.100–0.600) | yes |"
    assert row in text
    assert "| A2026.IT-pls | sampled units | 75 % (19–99 %) | 50 % | a, &lt;b&gt; |" in text
    assert r"sampled units & 75 \% (19--99 \%)" in table_text(report(recovery()), ".tex")


def test_similar_stimuli_are_shown_as_pictures(report, monkeypatch):
    picture = f"data:image/jpeg;base64,{'A' * 400}"
    pairs = [{"first": "<b>1", "second": "2", "similarity": 0.93, "equal": False, "first_picture": picture,
              "second_picture": picture}]  # fmt: skip
    found = assessed("audit", {"stimuli": 90, "overlaps": [], "pairs": pairs})
    text = render_report(report(found))
    assert text.count(f'<img src="{picture}"') == 2
    assert "&lt;b&gt;1 and 2: similarity 0.93" in text
    monkeypatch.setattr("brainscore.report._report._PICTURES", 500)
    assert picture not in render_report(report(found))  # a report does not grow without limit


def test_answers_to_questions_are_shown_with_the_benchmark(receipts):
    answers = [
        assessed("question", {"question": f"metric: {name}"}, ("a",), settings={"metric": name}, text=f"1  a  <{name}>")
        for name in ("cka", "rdm")
    ]
    report = report_of(receipts, assessments=[*answers, assessed("question", None, state="failed", reason="no")])
    page = render_report(report)
    assert "Question: metric: rdm" in page
    assert "1  a  &lt;cka&gt;" in page
    assert len(report.validity[BENCHMARK].questions) == 2
    assert report.validity[BENCHMARK].missing == ("audit", "controls", "recovery")
