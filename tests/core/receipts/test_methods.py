"""The paragraph for a paper."""

from dataclasses import replace

import pytest

from brainscore_core.receipts.methods import Facts, Source, methods_text
from brainscore_core.receipts.receipt import CeilingEstimate
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt

NOTHING = {"sizes": {}, "predicted": {}, "metadata": {}}


def receipt(**changes):
    fields = {"model": ModelInfo(identifier="net"), "benchmark": BenchmarkInfo(identifier="A2026-pls")}
    scored = {"state": "scored", "score": Estimate(value=0.5), "raw": Estimate(value=0.4)}
    return Receipt(**fields | scored | changes)


def test_what_is_known_is_written_and_what_is_not_is_listed():
    metadata = {
        "stimuli": {"n": 1200, "visual_degrees": 8},
        "data": {"n_subjects": 2, "preprocessing": "means of 12 repetitions"},
        "metric": {"name": "pls", "mapping": "PLS regression"},
    }
    facts = Facts(
        splits="10 random splits", sizes={"split": 10}, predicted={"presentation": 5}, metadata=metadata, image_size=224
    )
    text = methods_text(receipt(), facts)
    for expected in (
        "1,200 stimuli; 8.0° of visual angle",
        "Metric: pls: PLS regression.",
        "test stimuli: 10 random splits.",
        "Values before aggregation: 10 splits.",
        "224 × 224 pixels",
        "No ceiling was applied.",
    ):
        assert expected in text
    known = ("divided for fitting", "number of stimuli", "angle of the stimuli", "subjects", "repetitions")
    unknown = methods_text(receipt(), Facts(**NOTHING)).split("Not stated by the receipt: ")[1]
    for name in known:
        assert name in unknown
        assert name not in text.split("Not stated by the receipt: ")[1]
    assert "visual angle of the model" in unknown
    of_texts = methods_text(receipt(domain="language"), Facts(**NOTHING))
    assert "angle" not in of_texts
    assert "images" not in of_texts


@pytest.mark.parametrize(
    ("value", "unclamped", "rule"),
    [
        (0.5, None, "the score before the ceiling divided by the ceiling"),
        (0.2, None, "sign(r) · r² divided by the ceiling"),
        (0.25, None, "(r divided by the ceiling)²"),
        (0.0, 0.2, "sign(r) · r² divided by the ceiling"),
        (0.3, None, None),
    ],
)
def test_a_normalisation_is_named_if_the_numbers_show_it(value, unclamped, rule):
    text = methods_text(
        receipt(score=Estimate(value=value, unclamped=unclamped), ceiling=CeilingEstimate(value=0.8)), Facts(**NOTHING)
    )
    assert ("The score is " in text) == (rule is not None)
    assert rule is None or rule in text


def test_references_are_listed_once():
    entry = "@article{a, author = {Ada, B. and Cox, D. and Eve, F.}, title = {%s}, year = 2020, doi = {10.1/x}}"
    sources = [
        Source(kind="model", identifier="net", bibtex=(entry % "Why?",)),
        Source(kind="metric", identifier="pls", bibtex=(entry % "why?", "@broken{")),
        Source(kind="data", identifier="A2026", bibtex=None),
    ]
    text = methods_text(receipt(), Facts(**NOTHING, sources=sources))
    assert text.endswith("References:\n- Ada et al. (2020). Why? https://doi.org/10.1/x (model net, metric pls)")
    assert "references of data A2026" in text


def test_wrong_types_missing_attachments_and_single_things_are_written():
    odd = {"stimuli": {"n": "some", "kind": ["a", "b"], "visual_degrees": "8"}, "metric": "pls"}
    data = {"regions": "IT", "n_subjects": 1, "n_neuroids": 1, "preprocessing": ["means", "of repetitions"]}
    facts = Facts(sizes={"split": 1, "block of neuroids": 2}, predicted={}, metadata=odd | {"data": data})
    text = methods_text(receipt(), replace(facts, unread={"predictions": "a.nc is missing"}))
    for expected in (
        "some stimuli; a, b; 8° of visual angle.",
        "IT; 1 subject; 1 neuroid; means, of repetitions.",
        "Values come from 1 split of the stimuli.",
        "1 split × 2 blocks of neuroids.",
        "Not read, and so not described here: the attachment 'predictions' (a.nc is missing).",
    ):
        assert expected in text
