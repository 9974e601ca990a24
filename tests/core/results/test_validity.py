"""What assessments say."""

import json
import math
import re

import pytest

from brainscore_core.receipts.assessment import Assessment, StimulusPair, Used, result_of
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.assessments import assessment_rows
from brainscore_core.results.validity import pair_pictures, summary_of


def assessed(part, result, **fields):
    return Assessment(
        part=part,
        benchmark=Used(kind="benchmark", identifier="A2026.IT-pls", version=3),
        **{"state": "assessed", "result": result, **fields},
    )


def control(name="gabor", kind="baseline", value=0.2, p=0.01, **fields):
    difference = None if p is None else {"value": 0.3, "ci": [0.1, 0.5], "p": p}
    return {"name": name, "kind": kind, "score": value, "ci": [0.1, 0.3], "difference": difference} | fields


def controls(*items, model="net", above=None):
    result = {"controls": list(items), "model": model, "score": 0.5, "ci": [0.4, 0.6], "above_all_controls": above}
    return summary_of(assessed("controls", result))


AUDIT = {
    "stimuli": 2560,
    "independent": 64,
    "units": {"pictures": 2440, "object_name": 64},
    "overlaps": [
        {"kind": "equal files", "groups": 0, "stimuli": 0, "pairs": 0, "share": None, "reason": None},
        {"kind": "near-duplicates", "groups": 110, "stimuli": 230, "pairs": 160, "share": 0.08, "reason": None},
        {"kind": "scene", "groups": 20, "stimuli": 2560, "pairs": None, "share": 0.0, "reason": None},
        {"kind": "object_name", "groups": 64, "stimuli": 2560, "pairs": None, "share": 1.0, "reason": None},
    ],
    "copies": [{"kind": "repetitions", "presentations": 12, "of": 800, "examples": ["a"], "expected": 0.0}],
    "tests": [
        {"kind": "autocorrelation", "recordings": "averaged", "order": "trial", "within": "", "value": 0.2,
         "p_corrected": 0.004},
        {"kind": "drift", "recordings": "repetitions", "order": "trial", "within": "scene", "value": 0.0,
         "p_corrected": 0.4},
    ],
    "losses": [
        {"rule": "object_name", "model": "pixels", "default": 0.2, "grouped": 0.1, "loss": 0.1, "ci": None},
        {"rule": "object_name", "model": "unrelated features", "default": 0.41, "grouped": 0.003, "loss": 0.407,
         "ci": [0.35, 0.46]},
    ],
    "pairs": [{"first": "a", "second": "b", "similarity": 0.951, "equal": False}],
    "notes": ["3 files cannot be read"],
}  # fmt: skip


def test_an_audit_names_what_was_found_and_the_largest_loss():
    summary = summary_of(assessed("audit", AUDIT))
    assert summary.sentence == (
        "Found in 2,560 stimuli: near-duplicates; stimuli with the same object_name; equal repetitions; successive "
        "responses are correlated. 64 units are independent. With object_name kept on one side of splits, the score of "
        "unrelated features falls by 0.407 (0.350–0.460), from 0.410 to 0.003."
    )
    assert "Equal files (no finding): 0 stimuli in 0 groups; not examined across splits." in summary.findings
    assert any(text.startswith("Stimuli with the same scene (no finding): 2,560 stimuli in 20 groups; 0 % of test")
               for text in summary.findings)  # fmt: skip
    assert any(text.startswith("Drift (no finding)") and text.endswith("p = 0.4 after Holm’s correction.")
               for text in summary.findings)  # fmt: skip
    assert "Note: 3 files cannot be read." in summary.findings
    assert summary.pairs == ("a and b: similarity 0.95",)
    assert [loss.ci for loss in summary.result.losses] == [None, (0.35, 0.46)]


def test_a_clean_audit():
    clean = {"stimuli": 90, "overlaps": AUDIT["overlaps"][:1], "tests": AUDIT["tests"][1:]}
    assert summary_of(assessed("audit", clean)).sentence == "No problem was found in 90 stimuli."
    noted = summary_of(assessed("audit", {**clean, "notes": ["pictures were not compared"]}))
    assert noted.sentence == "No problem was found in what was examined of 90 stimuli."


def test_not_above_a_baseline_is_not_invalid():
    summary = controls(control(p=0.2), control("labels", p=0.3), control("pixels", value=0.1), above=False)
    assert summary.sentence.startswith(
        "net is not significantly above gabor and labels (baselines). Best baseline model: gabor,"
    )
    assert "does not make the score invalid" in summary.findings[0]
    artefact = controls(control(), control("time codes", "artefact check", p=0.2), above=False)
    assert len(artefact.findings) == 1
    assert "net is not significantly above time codes (artefact check). The score may come" in artefact.findings[0]


def test_above_all_controls():
    items = [control(), control("time codes", "artefact check", value=None, p=None, reason="no order is known")]
    summary = controls(*items, above=True)
    assert summary.sentence.startswith("net is above each of the 1 baseline models that have a score")
    assert summary.sentence.endswith("Tests hold for unknown subjects and groups: not recorded.")
    few = "these 2 subjects only; other subjects: unknown"
    stated = control("pixels", difference={"value": 0.3, "p": 0.01, "condition": few})
    assert controls(control(), stated, above=True).sentence.endswith(f"Tests hold for {few}.")
    assert summary.result.best.name == "gabor"
    assert summary.result.best.surpassed
    assert summary.result.controls[1].reason == "no order is known"
    assert summary.result.controls[1].surpassed is None


def test_controls_that_were_not_tested_or_not_scored():
    untested = controls(control(p=None), above=None)
    assert untested.sentence.startswith("net was not tested against gabor. Best baseline model")
    assert controls(control(value=None, p=None)).sentence == "No baseline model has a score."
    assert controls(control(), model=None).sentence == "Best baseline model: gabor, 0.200 (0.100–0.300)."


def recovery(**changes):
    def share(found, experiments):
        return {"found": found, "experiments": experiments, "share": found / experiments, "low": 0.3, "high": 0.9}

    result = {
        "candidates": ["one", "other"],
        "confusions": [{"generator": "sampled units", "counts": [[9, 3], [0, 0]], "overall": share(9, 12)}],
        "mixtures": [
            {"generator": "sampled units", "first": "one", "second": "other", "weights": [0.1, 1.0],
             "found": [share(3, 12), share(12, 12)], "smallest": 1.0, "reason": None},
        ],
        "sizes": [
            {"generator": "sampled units", "stimuli": 40, "neuroids": 9, "overall": None, "reason": "too few"},
            {"generator": "sampled units", "stimuli": 1400, "neuroids": 9, "overall": share(6, 12), "reason": None},
        ],
    }  # fmt: skip
    return summary_of(assessed("recovery", {**result, **changes}))


def test_recovery():
    summary = recovery()
    assert summary.sentence == (
        "The true one of 2 candidates scores best in 75 % (30–90 %) with sampled units; by chance 50 %."
    )
    (found,) = summary.result.confusions
    assert found.shares[0] == [0.75, 0.25]
    assert all(math.isnan(share) for share in found.shares[1])
    (mixture,) = summary.result.mixtures
    assert [(found.share, found.ci) for found in mixture.found] == [(0.25, (0.3, 0.9)), (1.0, (0.3, 0.9))]
    assert summary.sizes == (
        "sampled units, 40 stimuli and 9 neuroids: not simulated: too few.",
        "sampled units, 1,400 stimuli and 9 neuroids: 50 % (30–90 %).",
    )
    assert summary.findings == ("This holds for these 2 candidates; other models may differ.",)


@pytest.mark.parametrize(
    ("part", "result", "problem"),
    [
        ("audit", {"overlaps": [1]}, r"result\.overlaps\[0\] is 1, not an object"),
        ("audit", {"stimuli": True}, "stimuli is True, not a whole number"),
        ("audit", {"units": {"scene": "many"}}, r"units\.scene is 'many', not a whole number"),
        ("controls", {"controls": [{"score": 1}]}, r"controls\[0\]\.name is missing"),
        ("controls", {"score": 10**400}, "score is too large a number"),
        ("controls", {"ci": [0.1]}, r"ci is \[0\.1\], not two limits"),
        ("recovery", {"candidates": "net"}, "candidates is 'net', not a list"),
        (
            "recovery",
            {"candidates": ["a", "b"], "confusions": [{"generator": "x", "counts": [[1]]}]},
            "not a table of 2 × 2 candidates",
        ),
    ],
)
def test_wrong_results_are_refused_wherever_they_are_read(part, result, problem):
    wrong = assessed(part, result)
    for read in (summary_of, lambda found: found.identified().to_json()):
        with pytest.raises(ReceiptError, match=problem):
            read(wrong)
    text = assessed(part, {}).identified().to_json()
    with pytest.raises(ReceiptError, match=problem):
        Assessment.from_json(text.replace('"result": {}', f'"result": {json.dumps(result)}'))
    (row,) = assessment_rows([{**json.loads(text), "result": result}])
    assert re.search(problem, row["reason"])


def test_limits_may_lack_a_side():
    assert result_of("controls", {"ci": [0.1, None]}).ci == (0.1, math.inf)
    assert result_of("controls", {"ci": [None, None]}).ci is None


def test_without_a_result():
    failed = assessed("recovery", None, state="not applicable", reason="it has no recordings")
    assert summary_of(failed).sentence == "Not applicable: it has no recordings."


PICTURE = "data:image/jpeg;base64,/9j/4AAQ"


def pair(number, equal=False, picture=PICTURE):
    pictures = {"first_picture": picture, "second_picture": picture}
    return StimulusPair(first=f"a{number}", second=f"b{number}", similarity=0.95, equal=equal, **pictures)


def test_at_most_twelve_pairs_have_pictures_near_duplicates_first():
    found = pair_pictures([pair(number, equal=number < 10) for number in range(20)])
    assert [shown.first for shown in found[:10]] == [f"a{number}" for number in range(10, 20)]
    assert [shown.caption for shown in found[9:]] == ["similarity 0.95", "equal files", "equal files"]


@pytest.mark.parametrize(
    "picture",
    [None, "", "https://example.org/a.jpg", "data:text/html;base64,PGI+", PICTURE + '"><b>', PICTURE + "A" * 20_000],
)
def test_only_small_pictures_are_shown(picture):
    assert pair_pictures([pair(0, picture=picture)]) == ()
