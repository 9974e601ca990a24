"""The questions panel on the card of a benchmark, for visitors who may see its data and models."""

import pytest

from brainscore_web.leaderboard.cards.questions import questions_of
from brainscore_web.leaderboard.models import Benchmark, Score, StoredAssessment, VisionModel

from .._assessments import ingest, make_assessment
from .._browsing import barriers
from .conftest import as_read

FIRST, WITHHELD = "Simulated000.V1-pls", "Simulated002.V4-pls"


def answer(*names, asked=2, source="", question='stimuli: kind != "face"'):
    rows = [
        {
            "model": name, "score": 0.6 - 0.2 * at, "ci": [0.5 - 0.2 * at, 0.7 - 0.2 * at], "raw": 0.5, "rank": at + 1,
            "best": 1, "worst": 2, "p": 0.01 if at else None, "source": source,
        }
        for at, name in enumerate(names)
    ]  # fmt: skip
    return {"question": question, "asked": asked, "models": rows, "refused": 1}


PICTURE = "data:image/jpeg;base64,/9j/4AAQ"
SHARES = {
    "question": "as the benchmark", "neuroids": 40, "condition": "maps fitted to 72 of 80 stimuli",
    "shares": [{"label": "only a", "share": 0.2, "ci": [0.1, 0.3]}, {"label": "only b", "share": -0.1, "ci": None}],
}  # fmt: skip
ATLAS = {
    "question": "as the benchmark", "neuroids": 40, "reliable": 2, "found": 1, "margin": 0.1, "best": 0.4,
    "combined": 0.5, "condition": "maps fitted to 72 of 80 stimuli",
    "points": [
        {"signal": 0.4, "best": 0.8, "combined": 0.9}, {"signal": 0.5, "best": 0.1, "combined": 0.2, "found": True}
    ],
    "stimuli_found": 3,
    "stimuli": [{"stimulus": "s3", "value": 0.7, "picture": PICTURE}, {"stimulus": "s4", "picture": "https://x.example"}],
}  # fmt: skip
DESIGN = {
    "question": "as the benchmark", "compared": ["a", "b"], "neuroids": 40, "training": 40, "pool": 40,
    "pool_of": "Simulated2026", "repetitions": 10, "sha256": "5" * 64,
    "stimuli": [{"stimulus": "s1", "value": 2.5, "picture": PICTURE}, {"stimulus": "<s2>", "value": 1.5}],
    "power": [{"true": name, "designed": 0.9, "random": 0.7} for name in ("a", "b", "none")],
}  # fmt: skip


def question(*names, benchmark=FIRST, settings=None, **more):
    return make_assessment(
        "question", answer(*names, **more), models=names, benchmark=benchmark, settings=settings or {"stimuli": "x"}
    )


def test_a_card_shows_answers_apart_from_validity(board, get, read):
    address = f"/vision/benchmark/{FIRST}/"
    assert 'id="questions"' not in get(address).content.decode()
    first, second = board.models[:2]
    source = Score.objects.filter(model__identifier=first, benchmark__identifier=FIRST).first().receipt
    ingest(
        question(first, second, source=source),
        make_assessment("explanation", SHARES, models=(first, second), benchmark=FIRST),
        make_assessment("atlas", ATLAS, models=(first, second), benchmark=FIRST),
    )
    page = read(get(address))
    panel = page[page.index("Questions Questions about") : page.index("Validity The validity")]
    assert "2 questions were asked about these data" in panel
    assert 'Scores: stimuli: kind != "face"' in panel
    assert f"2 1–2 {second} 0.400 (0.300–0.500)" in panel
    assert "p = 0.01" in panel
    assert "1 model without an answer." in panel
    assert f"/receipt/{source}/" in get(address).content.decode()
    assert "only b −0.100" in panel
    assert "Shares of the signal of 40 neuroids; maps fitted to 72 of 80 stimuli." in panel
    assert f"2 models: {first}, {second}. 2 of 40 neuroids" in panel
    assert "Of 3 stimuli, more than 10 % of the signal is not explained: s3, s4 and 1 more." in panel
    content = get(address).content.decode()
    assert PICTURE in content
    assert "x.example" not in content
    assert "In 1 of them, more than 10 % of the signal is not explained" in panel
    assert "has not been assessed yet" in page
    parts = get("/api/v1/assessments?part=question").json()["items"]
    assert [(part["part"], part["result"]["asked"]) for part in parts] == [("question", 2)]


def test_each_question_has_its_newest_answer_and_p_counts_all_questions():
    documents = [
        question("a", "b", asked=6, settings={"metric": "cka"}, question="metric: cka").to_dict(),
        question("a", "b", "c", asked=3).to_dict(),
        question("a", "b", asked=2).to_dict(),
        {**question("a").to_dict(), "settings": {}, "result": {"models": "none"}},
    ]
    panel = as_read(questions_of(Benchmark(identifier=FIRST), documents, {}))
    assert panel.asked == "6 questions"
    assert panel.panels[1].sentences[0].startswith("Ranges of ranks hold for all models and all questions asked until")
    assert [len(each.rows) for each in panel.panels] == [2, 3]
    assert [each.rows[1].p for each in panel.panels] == ["p = 0.01", "p = 0.02"]


def test_a_page_shows_a_design_and_what_was_measured_later(board, get, read, live_server, page):
    names = board.models[:2]
    about = {"models": names, "benchmark": FIRST, "settings": {"sha256": "5" * 64}}
    ingest(make_assessment("design", DESIGN, **about))
    address = f"/vision/design/{'5' * 64}/"
    assert f'href="{address}"' in get(f"/vision/benchmark/{FIRST}/").content.decode()
    shown = read(get(address))
    for part in ("5" * 64, "no model 90 % 70 %", "s1 2.500", "<s2> 1.500", "No measurements were compared"):
        assert part in shown
    assert get(address).content.decode().count(PICTURE) == 1
    assert barriers(page, address) == []
    measured = [{"model": "a", "correlation": 0.4}, {"model": "b", "correlation": 0.1}]
    ingest(make_assessment("design", {**DESIGN, "measured": measured}, day=1, **about))
    assert "a 0.400 b 0.100" in read(get(address))
    VisionModel.objects.filter(identifier=names[1]).update(visibility="private")
    get(address, status=404)
    get("/vision/design/unknown/", status=404)


def test_the_panel_in_a_browser(board, live_server, page):
    names = board.models[:2]
    ingest(question(*names), make_assessment("atlas", ATLAS, models=names, benchmark=FIRST))
    assert barriers(page, f"/vision/benchmark/{FIRST}/") == []


def test_two_questions_about_the_same_models_are_kept(board):
    names = board.models[:2]
    ingest(*(question(*names, settings={"metric": name}) for name in ("cka", "rdm")))
    assert StoredAssessment.objects.newest().count() == 2


@pytest.mark.parametrize("withhold", ["data", "model"])
def test_answers_are_hidden_with_the_data_and_with_each_model(board, get, staff, withhold):
    names, benchmark = board.models[:2], WITHHELD if withhold == "data" else FIRST
    if withhold == "data":
        Benchmark.objects.filter(identifier=benchmark).update(access="private")
    else:
        VisionModel.objects.filter(identifier=names[1]).update(visibility="private")
    ingest(question(*names, benchmark=benchmark))
    for address in (f"/vision/benchmark/{benchmark}/", "/api/v1/assessments", "/api/v1/exports/assessments.csv"):
        assert "kind !=" not in get(address).content.decode()
        assert "kind !=" in get(address, staff).content.decode().replace("&quot;", '"')
