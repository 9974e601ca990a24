"""The validity panel on the card of a benchmark, and the badge on the leaderboard."""

import pytest

from brainscore_web.leaderboard.board import board_of
from brainscore_web.leaderboard.cards.validity import validity_of
from brainscore_web.leaderboard.models import Benchmark, StoredAssessment, VisionModel
from brainscore_web.leaderboard.payload import badge_on, board_data
from brainscore_web.leaderboard.reasons import withheld_assessment
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

from .._assessments import add_assessments, audit, controls, ingest, make_assessment, recovery
from .._browsing import barriers
from .conftest import as_read

FIRST, WITHHELD = "Simulated000.V1-pls", "Simulated002.V4-pls"
ADDRESS = f"/vision/benchmark/{FIRST}/"


def panel_of(page):
    """The text of the panel."""
    return page[page.index("Validity This part shows what") : page.index(" Versions Version")]


def test_without_an_assessment_it_says_how_to_make_one(board, get, read):
    page = read(get(ADDRESS))
    assert "The validity of this benchmark has not been assessed yet" in page
    assert f"brainscore assess {FIRST}" in page
    assert 'id="validity"' not in get("/vision/benchmark/V1/").content.decode()  # means have none


def test_controls(board, get, read):
    add_assessments(FIRST, board.models[0])
    page = panel_of(read(get(ADDRESS)))
    assert (
        f"{board.models[0]} is not significantly above labels (baseline). This does not make the score invalid" in page
    )
    assert "0.612 (0.550–0.670)" in page
    assert "0.432 (0.332–0.532) +0.180 (−0.320 to 0.680) p = 0.25 baseline: features called labels" in page
    assert "not scored artefact check: features called time codes the order is not known" in page
    assert "Computed 2026-03-01 for version 2 of the benchmark, with code 800b77be7179" in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": 0.01, "pixels": 0.02}, ["is above each of the 3 baseline models that have a score"]),
        ({"labels": 0.06}, ["not significantly above labels (baseline). This does not make the score invalid"]),
        ({"shuffled groups": 0.06, "labels": 0.01}, ["(artefact check). The score may come from something other"]),
        ({"labels": None}, ["was not tested against labels"]),
        ({"labels": 0.3, "pixels": 0.3}, ["not significantly above pixels and labels (baselines)"]),
    ],
)
def test_conclusions_follow_from_the_tests(changes, words):
    result = controls("net")
    for row in result["controls"]:
        if row["name"] in changes:
            row["difference"]["p"] = changes[row["name"]]
    found = as_read(validity_of(Benchmark(identifier=FIRST), [make_assessment("controls", result).to_dict()]).controls)
    assert all(any(word in sentence for sentence in found.sentences) for word in words)
    if "above each" not in words[0]:
        assert not any("above each" in sentence for sentence in found.sentences)
    if "labels" in words[0] and "artefact" not in words[0]:
        assert not any("something other" in sentence for sentence in found.sentences)


def test_every_model_beside_the_best_control():
    documents = [make_assessment("controls", controls(name), models=(name,)).to_dict() for name in ("b", "a")]
    found = as_read(validity_of(Benchmark(identifier=FIRST), documents).controls)
    assert [(line.model, line.best.name, above) for _, line, above in found.models] == [
        ("b", "labels", "2 of 3"),
        ("a", "labels", "2 of 3"),
    ]
    assert found.newest.model == "b"  # the newest comes first


def test_audit(board, get, read):
    add_assessments(FIRST, board.models[0])
    page = panel_of(read(get(ADDRESS)))
    assert "There are findings. How much they change scores is their severity, below. 800 stimuli" in page
    assert "! finding Near-duplicates : 14 stimuli in 7 groups; 2 % of test stimuli have one of their group" in page
    assert "unrelated features 0.329 (0.310–0.340) 0.000 (−0.020 to 0.020) +0.329 (0.315–0.343) p < 0.0001" in page
    assert "Responses drift over time : 0.210 over presentation_time (averaged); p = 0.002 after Holm’s" in page
    assert "tiger-11 and tiger-12" in page


def test_what_was_examined_without_a_finding():
    result = audit()
    overlap = result["overlaps"][1]
    result["overlaps"] = [{**overlap, "share": 0.0}, {**overlap, "share": None, "reason": "it fits nothing"}]
    result["tests"][0]["p_corrected"] = 0.06
    result |= {"copies": [], "clean": True}
    found = as_read(validity_of(Benchmark(identifier=FIRST), [make_assessment("audit", result).to_dict()]).audit)
    assert [(line.name, line.state) for line in found.examined] == [
        ("Stimuli with the same object_name", "no finding"),
        ("Stimuli with the same object_name", "not examined"),
        ("Drift", "no finding"),
    ]
    assert found.outcome == "no finding"


def test_recovery(board, get, read):
    add_assessments(FIRST, board.models[0])
    page = panel_of(read(get(ADDRESS)))
    assert (
        "Not every candidate scored best in at least 80 % of the experiments in which it was true: pixels in 0 %"
        in page
    )
    assert "fitted readout: 33 % (19–51 %)" in page
    assert "pixels 12 0 0 100 % (74–100 %)" in page
    assert "pixels gabor fitted readout 1" in page  # mixtures
    assert "sampled units 1,600 96 100 %" in page
    add_assessments(FIRST, board.models[0], clean=True)


def test_recovered_candidates():
    about = Benchmark(identifier=FIRST)
    found = as_read(
        validity_of(about, [make_assessment("recovery", recovery(), models=("pixels", "gabor")).to_dict()]).recovery
    )
    assert found.sentences[0].startswith("Each of the 2 candidates scored best in at least 80 % of the experiments")
    assert "these 2 candidates, and for responses simulated by fitted readout and sampled units" in found.sentences[1]
    assert [[shade for _, shade in cells] for _, cells, _ in found.confusions[0][1]] == [[9, 0], [0, 9]]


@pytest.mark.parametrize("part", ["audit", "controls", "recovery"])
def test_missing_fields_are_left_out(part, board, get):
    ingest(make_assessment(part, {}, benchmark=FIRST))
    get(ADDRESS)


def test_a_result_of_another_form_is_named(board, get, read):
    ingest(make_assessment("audit", {}, benchmark=FIRST))
    (row,) = StoredAssessment.objects.all()
    row.document["result"] = {"overlaps": [{"kind": "<scene>", "share": "half"}]}
    row.save()
    assert "not a valid assessment: result.overlaps[0].share is 'half', not a number" in read(get(ADDRESS))


def test_parts_without_a_result(board, get, read, owner):
    ingest(
        make_assessment("audit", benchmark=FIRST, state="failed", reason="ValueError: no\nmore"),
        make_assessment("recovery", benchmark=FIRST, state="not applicable", reason="it has no stimuli"),
    )
    page = panel_of(read(get(ADDRESS)))
    assert (
        "Audit : failed (2026-03-01). ValueError: no Recovery : not applicable (2026-03-01). it has no stimuli" in page
    )
    assert "Not assessed: baseline models." in page


def test_another_version_is_marked(board, get, read):
    ingest(make_assessment("audit", audit(), benchmark=FIRST, version="1"))
    assert "for version 1 of the benchmark (not the current version)" in read(get(ADDRESS))


def test_withheld_texts(board, get, read, staff):
    add_assessments(WITHHELD, board.models[0])
    address = f"/vision/benchmark/{WITHHELD}/"
    page = panel_of(read(get(address)))
    assert "left out, since the benchmark’s data are withheld" in page
    assert "tiger" not in page
    assert "There are findings" in page
    assert "0.329 (0.310–0.340)" in page
    assert "labels (baseline)" in page
    assert page.count("withheld") == 1  # the sentence that says so
    assert "tiger-11" in read(get(address, staff))


PICTURE = "data:image/jpeg;base64,/9j/4AAQ"


@pytest.mark.parametrize("access", ["public", "private"])
def test_pictures_of_public_stimuli_only(board, get, staff, access):
    """Not even those who may see private stimuli get their pictures, nor does the API publish them."""
    result = audit()
    result["pairs"] = [{**pair, "first_picture": PICTURE, "second_picture": PICTURE} for pair in result["pairs"]]
    Benchmark.objects.filter(identifier=FIRST).update(access=access)
    ingest(make_assessment("audit", result, benchmark=FIRST, version=2))
    for visitor in (None, staff):
        page = get(ADDRESS, visitor).content.decode()
        assert (page.count(f'<img src="{PICTURE}"') == 2) == (access == "public")
    assert (PICTURE in get(f"/api/v1/assessments?benchmark={FIRST}").content.decode()) == (access == "public")


def test_withheld_assessments_keep_numbers_and_names():
    found = withheld_assessment(make_assessment("recovery", recovery(), models=("pixels", "gabor")).to_dict())
    assert found["result"]["candidates"] == ["pixels", "gabor"]
    assert found["result"]["confusions"][0]["counts"] == [[12, 0], [0, 12]]
    assert found["result"]["holds_for"] == "withheld"
    failed = withheld_assessment(make_assessment("audit", state="failed", reason="ValueError: tiger").to_dict())
    assert "tiger" not in str(failed)
    assert failed["reason"].startswith("It raised an error")


def test_private_models_are_shown_to_their_owners(board, get, read, owner, member):
    secret = board.models[-1]
    add_assessments(FIRST, secret)
    for who, shown in ((None, False), (member, False), (owner, True)):
        page = read(get(ADDRESS, who))
        assert ("Audit: do stimuli" in page) is shown
        assert (secret in page) is shown
        benchmark = snapshot_for(who or member).benchmarks[snapshot_for(who or member).benchmark_index[FIRST]]
        assert (benchmark.audit, benchmark.recovery) == (("findings", "not recovered") if shown else ("", ""))
    VisionModel.objects.filter(identifier=secret).delete()
    assert not StoredAssessment.objects.exists()  # without the model, nobody could tell who may see them


def test_tags_change_with_what_is_seen(board, client, owner):
    before = client.get(ADDRESS)["ETag"]
    add_assessments(FIRST, board.models[-1])
    assert client.get(ADDRESS)["ETag"] == before
    add_assessments(FIRST, board.models[0])
    assert client.get(ADDRESS)["ETag"] != before


def test_the_badge(board, client, member):
    assert "How to read it" in client.get("/vision/leaderboard/").content.decode()
    assert "validity-sign" not in client.get("/vision/leaderboard/").content.decode()
    add_assessments(FIRST, board.models[0])
    state = BoardState(open=("average_vision", "neural_vision", "V1", "Simulated.V1"))
    found = board_of(snapshot_for(member), state)
    place = found.place(FIRST)
    text = "audit with findings; not every candidate is recovered"
    assert badge_on(found, place) == ("!◇", text)
    assert [node["badge"] for node in board_data(found)["nodes"] if "badge" in node] == [["!◇", text]]
    page = client.get(f"/vision/leaderboard/?{state.query()}").content.decode()
    assert f'<a class="validity-sign" href="{ADDRESS}#validity" title="Validity: {text}">' in page


def test_the_filter(board, client, member):
    add_assessments(FIRST, board.models[0], clean=True)
    add_assessments("Simulated001.V2-pls", board.models[0])
    ingest(make_assessment("audit", audit(clean=True), benchmark="Simulated003.IT-pls", version=None))

    def passing(validity):
        found = board_of(snapshot_for(member), BoardState(validity=validity))
        return {node.identifier for node in found.nodes if node.kind == "benchmark"}

    assert passing("assessed") == {FIRST, "Simulated001.V2-pls", "Simulated003.IT-pls"}
    assert passing("no-finding") == {FIRST, "Simulated003.IT-pls"}
    assert passing("recovered") == {FIRST}
    assert client.get("/vision/leaderboard/?validity=good").status_code == 400
    nodes = client.get("/api/v1/leaderboard?validity=recovered").json()["nodes"]
    assert [node["identifier"] for node in nodes if node["kind"] == "benchmark"] == [FIRST]
    assert (
        '<option value="recovered" selected>' in client.get("/vision/leaderboard/?validity=recovered").content.decode()
    )


def test_the_badge_is_of_the_version_that_counts(board, member):
    ingest(make_assessment("audit", audit(), benchmark=FIRST, version="1"))
    row = snapshot_for(member).benchmarks[snapshot_for(member).benchmark_index[FIRST]]
    assert (row.version, row.audit) == ("2", "")
    ingest(make_assessment("audit", audit(clean=True), benchmark=FIRST, version="2", models=("a-model",)))
    ingest(make_assessment("audit", audit(), benchmark=FIRST, version="1", day=3))
    row = snapshot_for(member).benchmarks[snapshot_for(member).benchmark_index[FIRST]]
    assert row.audit == "no finding"


def test_the_panel_in_a_browser(board, live_server, page):
    add_assessments(FIRST, board.models[0], others=(board.models[1],))
    assert barriers(page, ADDRESS, opened=True) == []


def test_texts_are_escaped(board, get):
    evil = "<script>alert(1)</script>"
    made = controls(evil)
    made["controls"][0] |= {"name": evil, "kind": evil, "description": evil, "reason": evil}
    found = audit()
    found["notes"] = found["copies"][0]["examples"] = [evil]
    found["overlaps"][0]["kind"] = found["losses"][0]["rule"] = found["losses"][1]["reason"] = evil
    other = recovery()
    other["candidates"][0] = other["confusions"][0]["generator"] = other["mixtures"][0]["first"] = evil
    ingest(*(make_assessment(part, result, benchmark=FIRST) for part, result in
             (("controls", made), ("audit", found), ("recovery", other))))  # fmt: skip
    page = get(ADDRESS).content.decode()
    assert evil not in page
    assert page.count("&lt;script&gt;alert(1)") >= 8


def test_the_badge_and_the_filter_in_a_browser(board, live_server, page):
    add_assessments(FIRST, board.models[0])
    opened = "&".join(f"open={name}" for name in ("average_vision", "neural_vision", "V1", "Simulated.V1"))
    page.goto(f"/vision/leaderboard/?validity=assessed&{opened}")
    page.wait_for_selector("#leaderboard.live")
    assert page.locator("a.validity-sign").count() == 1
    page.locator("summary", has_text="Filters").click()
    chosen = page.locator("select[name=validity]")
    assert chosen.input_value() == "assessed"
    chosen.select_option("no-finding")
    page.wait_for_url("**validity=no-finding**")
    page.get_by_text("Without the validity, 24 benchmarks would.").wait_for()
    page.go_back()
    page.wait_for_function("document.querySelector('select[name=validity]').value === 'assessed'")
    page.keyboard.press("Escape")  # the panel of filters covers the table
    page.locator("a.validity-sign").click()
    page.wait_for_url(f"**{ADDRESS}#validity")
