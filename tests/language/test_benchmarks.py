"""Benchmarks of reading times and of grammar, on published data with known values."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_language import load_benchmark, load_dataset, load_model, score
from brainscore_language.benchmarks.syntaxgym.benchmark import SyntaxGymSingleTSE
from brainscore_language.benchmarks.syntaxgym.sg_prediction import Prediction
from brainscore_language.models.word_properties.model import WordSubject


@pytest.fixture(scope="module")
def gpt3(mirror):
    return load_model("gpt3-davinci-recorded2020")


# values computed with pandas, SciPy and scikit-learn alone, from the published tables
@pytest.mark.parametrize(
    ("benchmark", "reliability", "raw"),
    [
        ("NaturalStories2021-pearsonr", 0.790280, {"gpt3": 0.154819, "word-length": 0.273359}),
        ("NaturalStories2021.listed-pearsonr", 0.830238, {"gpt3": 0.207638, "word-length": 0.325686}),
    ],
)
def test_correlations_with_reading_times(gpt3, benchmark, reliability, raw):
    made = load_benchmark(benchmark)
    assert float(made.ceiling) == pytest.approx(reliability, abs=1e-6)
    for name, subject in {"gpt3": gpt3, "word-length": load_model("word-length")}.items():
        result = made(subject)
        assert float(result.raw) == pytest.approx(raw[name], abs=1e-6)
        assert float(result) == pytest.approx(raw[name] ** 2 / reliability, abs=1e-5)
        low, high = result.attrs["ci"]
        assert 0 < low < float(result) < high
        assert "stories" in result.attrs["ci_estimates"]


def test_the_sign_of_a_correlation_counts(mirror):
    benchmark = load_benchmark("NaturalStories2021-pearsonr")
    longer, shorter = (benchmark(WordSubject("x", lambda word, s=sign: s * len(word))) for sign in (1, -1))
    assert float(shorter) == pytest.approx(-float(longer))
    assert float(longer) == pytest.approx(longer.attrs["baselines"]["length"])


def test_what_a_subject_adds_to_length_and_frequency(gpt3):
    benchmark = load_benchmark("NaturalStories2021-added")
    result = benchmark(gpt3)
    baselines = result.attrs["baselines"]
    assert baselines["length and frequency"] == pytest.approx(0.492764, abs=1e-6)
    assert baselines["and the subject"] == pytest.approx(0.517799, abs=1e-6)
    assert float(benchmark(load_model("word-length"))) == pytest.approx(0, abs=1e-9)


def test_scores_have_receipts(mirror, tmp_path):
    result = score("smollm2-135m-recorded", "NaturalStories2021-pearsonr", results=tmp_path)
    assert float(result.raw) == pytest.approx(0.244222, abs=1e-5)
    receipts = list(tmp_path.rglob("*.json"))
    assert any("smollm2-135m-recorded" in str(path) for path in receipts)


def test_recorded_models_read_recorded_texts_only(gpt3):
    gpt3.start_behavioral_task("reading_times")
    with pytest.raises(NotApplicable, match="ten stories of Natural Stories"):
        gpt3.digest_text(["another", "text"])


def test_groups_of_reading_times_are_their_stories(mirror):
    assembly = load_dataset("NaturalStories2021")
    assert len(assembly) == 10256
    assert np.isnan(assembly.values[assembly["word_id"].values == 1]).all()
    assert len(set(assembly["sentence_id"].values)) == 481


def facts():
    folder = os.environ.get("BRAINSCORE_FACTS")
    if not folder:
        pytest.skip("needs the tables of what is published: set BRAINSCORE_FACTS to their folder")
    return Path(folder)


# shares of items that a network passes, published with its surprisals
@pytest.mark.parametrize(("suite", "published"), [("number_prep", 0.578947), ("subordination_src-src", 0.565217)])
def test_published_shares_of_items(mirror, suite, published):
    table = pd.read_csv(facts() / "language" / "syntaxgym_distilgpt2_region_bits.csv")
    rows = table[table.suite == suite]
    totals = [{(row.condition, row.region): row.bits for row in item.itertuples()} for _, item in rows.groupby("item")]
    held = load_benchmark(f"syntaxgym-{suite}").evaluate_predictions(totals)
    assert np.mean([all(row) for row in held]) == pytest.approx(published, abs=1e-6)


def suite(formula, items=4):
    conditions = [
        {
            "condition_name": name,
            "regions": [{"region_number": 1, "content": "The"}, {"region_number": 2, "content": word}],
        }
        for name, word in (("long", "elephants"), ("short", "cat"))
    ]
    return {
        "meta": {"name": "made up", "metric": "sum"},
        "predictions": [{"type": "formula", "formula": formula}],
        "items": [{"item_number": number, "conditions": conditions} for number in range(items)],
    }


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("(2;%long%) > (2;%short%)", 1),
        ("(2;%long%) < (2;%short%) | (1;%long%) = (1;%short%)", 1),
        ("((2;%long%) > (2;%short%)) & ((*;%short%) = 7)", 0),
        ("(*;%long%) - (*;%short%) - 5 = 1.0005", 1),
    ],
)
def test_predictions_of_a_suite(formula, expected):
    result = SyntaxGymSingleTSE("made-up", suite(formula))(load_model("word-length"))
    assert float(result) == expected
    low, high = result.attrs["ci"]
    assert high - low > 0.3  # four items say little


@pytest.mark.parametrize(
    "formula",
    [
        *("", "(2;%a%) <", "((2;%a%)", "(2;%a%) ** 2", "import os", "(" * 100_000, "1" + "+1" * 100_000 + " > 2"),
        *(f"({'9' * 5000};%a%) < 1", "1 + 1", "1 < 2 < 1", "(1 < 2) + 3 > 1"),
    ],
)
def test_formulas_that_are_not_valid_are_shown(formula):
    with pytest.raises(UserError, match="is not valid"):
        Prediction(0, formula, "sum")


def test_suites_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(UserError, match="no suite 'center'"):
        SyntaxGymSingleTSE("x", "center")
    with pytest.raises(UserError, match="the suite lacks items, predictions"):
        SyntaxGymSingleTSE("x", {"meta": {}})
    with pytest.raises(UserError, match="has no region 3 in the condition 'long'"):
        SyntaxGymSingleTSE("x", suite("(3;%long%) > 0"))(load_model("word-length"))
    (tmp_path / "nested.json").write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(UserError, match=r"no suite .*nested\.json': maximum recursion"):
        SyntaxGymSingleTSE("x", tmp_path / "nested.json")


@pytest.mark.parametrize(
    "changed",
    [{"meta": ["x"]}, {"predictions": []}, {"predictions": [{}]}, {"items": []}, {"items": [{}]}, {"items": {"a": 1}}],
    ids=str,
)
def test_suites_of_another_form_have_no_score(changed):
    with pytest.raises(UserError, match="the suite"):
        SyntaxGymSingleTSE("x", suite("1 < 2") | changed)


@pytest.mark.parametrize("time", [np.inf, np.nan])
def test_a_few_times_do_not_stand_for_all_words(mirror, time):
    subject = WordSubject("x", lambda word: time if len(word) > 2 else 1.0)
    with pytest.raises(UserError, match=r"reading times of the subject, .* are infinite and .* missing"):
        load_benchmark("NaturalStories2021-added")(subject)


@pytest.mark.slow(reason="reads 3,000 sentences")
def test_all_suites(mirror):
    benchmark = load_benchmark("SyntaxGym2020")
    assert len(benchmark.sub_benchmarks) == 31
    result = benchmark(load_model("word-length"))
    assert float(result) == pytest.approx(float(result.attrs["sub_scores"].mean()))
    low, high = result.attrs["ci"]
    assert low <= float(result) < high  # also where no item of any suite is passed
