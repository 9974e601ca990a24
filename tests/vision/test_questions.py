"""Questions to stored products: equal to running the model again, with receipts of their own."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from brainscore.cli.ask import command
from brainscore_core import parallel
from brainscore_core.errors import UserError
from brainscore_core.questions import Question, ask
from brainscore_core.questions.answers import answers_of, questions_asked, verify_answer
from brainscore_core.questions.asked import apply_question
from brainscore_core.questions.question import LONGEST, rows_matching
from brainscore_core.questions.stored import store_answers
from brainscore_core.questions.subjects import compare_subjects
from brainscore_core.receipts.receipt import Receipt
from brainscore_core.results.assessments import AssessmentStore, assessment_rows
from brainscore_core.results.products import Products, collect_products
from brainscore_core.results.store import ResultsStore
from brainscore_core.runner.pair import PairRecorder
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_metric
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark

BENCHMARK = "Questions2026.IT-ridge"
STIMULI, NEUROIDS = 72, 12


def assembly(values, names, neuroid=None, **attrs):
    coords = {"stimulus_id": ("presentation", list(names)), "neuroid_id": ("neuroid", list(range(values.shape[1])))}
    coords |= {name: ("neuroid", labels) for name, labels in (neuroid or {}).items()}
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"], attrs=attrs)


@pytest.fixture(scope="module")
def experiment():
    """Recordings of three monkeys, and features of three models of the same stimuli."""
    rng = np.random.default_rng(0)
    names = [f"s{number}" for number in range(STIMULI)]
    table = {"kind": np.array(["face", "body", "car"])[np.arange(STIMULI) % 3], "size": np.arange(STIMULI) / 10}
    stimulus_set = StimulusSet({"stimulus_id": names, **table})
    stimulus_set.identifier = "Questions2026"
    latent = rng.standard_normal((STIMULI, 8))
    responses = latent @ rng.standard_normal((8, NEUROIDS)) + rng.standard_normal((STIMULI, NEUROIDS))
    neuroid = {"region": ["IT"] * NEUROIDS, "subject": ["Ann"] * 4 + ["Bo"] * 4 + ["Cy"] * 4}
    recorded = assembly(responses, names, neuroid, stimulus_set=stimulus_set, identifier="Questions2026")
    benchmark = NeuralBenchmark(
        BENCHMARK, recorded, load_metric("ridge"), visual_degrees=8, number_of_trials=1, ceiling_func=lambda: 0.9,
        version=1, parent="IT",
    )  # fmt: skip
    benchmark_registry[BENCHMARK] = lambda: benchmark
    shuffled = rng.permutation(STIMULI)
    features = {
        f"model-{count}": assembly(
            (np.maximum(latent[:, :count] @ rng.standard_normal((count, 150)), 0) + 2)[shuffled],
            np.array(names)[shuffled],
        )
        for count in (3, 5, 8)
    }
    yield features
    del benchmark_registry[BENCHMARK]


@pytest.fixture
def store(experiment, tmp_path):
    store = ResultsStore(tmp_path)
    asked = apply_question(Question(benchmark=BENCHMARK))
    for model, features in experiment.items():
        with PairRecorder(model, BENCHMARK, results=store) as recorder:
            collect_products([features], "IT")
            recorder.set_score(asked.score([features]))
        recorder.outcome()
    return store


METRICS = ("ridge", "pls", "cka", "cka_cv", "rdm", "rdm_cosine", "rdm_euclidean", "rdm_whitened")
SELECTIONS = (
    {},
    {"stimuli": 'kind != "face"'},
    {"stimuli": "size > 1 and size < 6", "neuroids": 'subject == "Ann"'},
    {"stimulus_ids": tuple(f"s{number}" for number in range(0, STIMULI, 2))},
)
CASES = [
    *[(metric, None, selection) for metric in METRICS for selection in SELECTIONS],
    *[
        pytest.param(metric, None, SELECTIONS[1], marks=pytest.mark.slow(reason="fits a grid of penalties"))
        for metric in ("ridgecv", "ridgecv_relative")
    ],
    *[(metric, split, {}) for metric in ("ridge", "pls") for split in ("groups:kind", "each:kind", "test:size > 5")],
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("metric", "split", "selection"), CASES)
def test_an_answer_equals_running_the_model_again(experiment, metric, split, selection):
    asked = apply_question(Question(benchmark=BENCHMARK, metric=metric, split=split, ceiling="none", **selection))
    features = experiment["model-5"]
    rows = np.flatnonzero(np.isin(features["stimulus_id"].values, asked.stimuli[0]))
    answer, again = asked.score(asked.sources(Products.of(features))), asked.score([features.isel(presentation=rows)])
    assert abs(float(answer) - float(again)) <= 1e-6
    np.testing.assert_allclose(answer.attrs["ci"], again.attrs["ci"], atol=1e-5)


@pytest.mark.parametrize("metric", ["neuron_to_neuron", "reverse_ridge", "spantime_pls", "rdm_crossnobis", "accuracy"])
def test_metrics_that_need_features_are_refused(experiment, metric):
    with pytest.raises(UserError, match=r"needs single features|does not compare|single repetitions"):
        apply_question(Question(benchmark=BENCHMARK, metric=metric))


def test_answers_are_counted_compared_and_kept_apart(store):
    answers = ask(BENCHMARK, stimuli='kind != "face"', subjects=["Ann"], metric="cka", results=store)
    assert [item.model for item in answers.items] == ["model-3", "model-5", "model-8"]
    same = ask(f"vision:{BENCHMARK}", stimuli='kind != "face"', subjects=["Ann"], metric="cka", results=store)
    assert same.question == answers.question
    again = ask(BENCHMARK, split="each:kind", results=store)
    assert (answers.asked, again.asked, questions_asked(store, BENCHMARK)) == (1, 2, 2)
    assert [name for name, _ in store.pairs()] == ["model-3", "model-5", "model-8"]
    assert {benchmark for _, benchmark in store.pairs()} == {BENCHMARK}  # answers are no scores of the benchmark
    ranking = again.ranks()
    assert ranking.models[0].model == "model-8"
    assert ranking.level == pytest.approx(0.975)
    compared = again.compare()
    p, corrected = compared[0].p, compared[0].p_corrected
    assert p < corrected
    assert corrected >= min(1, 2 * p)
    assert {row.state for row in again.to_pandas().itertuples()} == {"scored"}


def test_processes_give_the_same_answers(store, monkeypatch):
    models = ["model-3", "model-5", "model-8", "unknown"]
    alone = ask(BENCHMARK, results=store, models=models)
    monkeypatch.setattr(parallel, "_processes", lambda: 2)
    monkeypatch.setattr(parallel, "WORTHWHILE", 0)
    copies = ask(BENCHMARK, results=store, models=models)
    assert copies.refused == alone.refused
    assert [item.receipt for item in copies.items] == [item.receipt for item in alone.items]
    assert [each.p for each in copies.compare()] == [each.p for each in alone.compare()]


def test_answers_are_stored_for_sites_one_of_each_question(store):
    first = store_answers(ask(BENCHMARK, metric="cka", results=store), store)
    answers = ask(
        BENCHMARK, stimuli='kind != "face"', metric="cka", models=["model-8", "unknown", "model-3"], results=store
    )
    store_answers(answers, store)
    again = store_answers(answers, store)
    newest, problems = AssessmentStore(store).newest(BENCHMARK)
    assert ([entry.id for entry in newest], problems) == ([first.id, again.id], [])
    result = newest[1].typed_result
    assert (result.question, result.asked, result.refused) == ('stimuli: kind != "face"; metric: cka', 2, 1)
    best, other = result.models
    assert (best.model, best.rank, other.model, other.rank) == ("model-8", 1, "model-3", 2)
    assert best.p is None
    assert other.p == answers.compare()[0].p_corrected
    assert best.source == store.latest("model-8", BENCHMARK).id
    assert best.ci == pytest.approx(answers.items[0].receipt.score.ci)
    assert [row["name"] for row in assessment_rows([again.to_dict()])] == ["model-8", "model-3"]


def test_an_answer_can_be_verified_and_names_its_source(store):
    (item, *_) = ask(BENCHMARK, metric="rdm", results=store).items
    receipt = Receipt.from_json(item.receipt.to_json())
    assert receipt.answer.question == {"benchmark": BENCHMARK, "metric": "rdm"}
    assert receipt.answer.source == store.latest(item.model, BENCHMARK).id
    assert receipt.benchmark.parent is None
    assert verify_answer(receipt, store) < 1e-9
    with pytest.raises(UserError, match="not an answer"):
        verify_answer(store.latest(item.model, BENCHMARK), store)


def test_models_whose_products_cannot_be_used_are_refused(store, experiment, tmp_path):
    features = experiment["model-3"]
    with PairRecorder("others", BENCHMARK, results=store) as recorder:
        collect_products([features.isel(presentation=np.arange(10))], "IT")
        recorder.set_score(apply_question(Question(benchmark=BENCHMARK)).score([features]))
    recorder.outcome()
    damaged = store.latest("model-5", BENCHMARK).products[0]
    (tmp_path / ".products" / damaged.sha256).write_bytes(b"")
    answers = ask(BENCHMARK, metric="cka", models=["others", "model-5", "model-8", "unknown"], results=store)
    assert [item.model for item in answers.items] == ["model-8"]
    assert "of other stimuli: 62 are missing" in answers.refused["others"]
    assert "has changed since it was written" in answers.refused["model-5"]
    assert "was not scored" in answers.refused["unknown"]
    assert len(list(answers_of(store).pairs())) == 1


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"stimuli": 'knd == "face"'}, "stimuli have no column 'knd'"),
        ({"neuroids": "depth > 3"}, "neuroids have no column 'depth'"),
        ({"stimuli": "size > 100"}, "no stimulus is selected"),
        ({"stimulus_ids": ("s1", "face 7", "s2")}, "no stimuli 'face 7': 1 of 3"),
        ({"neuroids": 'subject == "Di"'}, "no neuroid matches"),
        ({"split": "each:colour"}, "stimuli have no column 'colour'"),
        ({"split": "each:__class__"}, "stimuli have no column '__class__'"),
        ({"split": "each:ｓｉｚｅ"}, "stimuli have no column"),  # which Python would read as size
        ({"split": "test:size > 100"}, "selects no stimuli"),
        ({"metric": "cka", "split": "each:kind"}, "does not divide stimuli"),
        ({"ceiling": "rdm"}, "is a metric, not a ceiling"),
        ({"ceiling": "internal_consistency"}, "single repetitions of the recordings"),
    ],
)
def test_a_question_that_selects_nothing_or_names_unknown_columns_is_refused(experiment, question, message):
    with pytest.raises(UserError, match=message):
        apply_question(Question(benchmark=BENCHMARK, **question))


@pytest.mark.parametrize(
    "expression",
    [
        '__import__("os").system("touch /tmp/x")',
        "kind.__class__ == 3",
        "[x for x in kind] == 3",
        "(lambda: 1)() == size",
        "@kind == 3",
        "kind[0] == 3",
        "size == 10 ** 10 ** 10",
        "size ==",
        "(" * 400 + "size" + ")" * 400,
        "not " * 200 + "size > 3" + " " * LONGEST,
        "size == 3; import os",
        "kind == f'{size}'",
        "True",
        "1 == 1",
        f"size < {'9' * 900}",
        f"kind in [{'9' * 900}]",
    ],
)
def test_an_expression_with_anything_but_comparisons_is_refused(expression):
    columns = {"kind": np.array(["a", "b"]), "size": np.array([1.0, 2.0])}
    with pytest.raises(UserError, match=r"may not contain|cannot be read|characters|nested|cannot be compared"):
        rows_matching(expression, columns, what="stimuli")


def test_expressions_select_as_pandas_does():
    columns = {"kind": np.array(["a", "b", "a"], dtype=object), "size": np.array([1.0, np.nan, 3.0])}
    table = pd.DataFrame(columns)
    for expression in (
        'kind == "a" and size > 1', "not size > 1", 'kind in ["b", "c"] or size == 3', "1 < size <= 3",
        '(kind != "a") | ~(size < 2)', 'kind not in ("a",)', "size != 1", "size == -1",
    ):  # fmt: skip
        expected = table.index.isin(table.query(expression).index)
        np.testing.assert_array_equal(rows_matching(expression, columns, what="stimuli"), expected, expression)


def test_subjects_are_predicted_from_each_other_and_models_compared_between_them(store):
    result = compare_subjects(BENCHMARK, results=store)
    target = apply_question(Question(benchmark=BENCHMARK)).targets[0]
    ann, bo = (target.isel(neuroid=slice(start, start + 4)) for start in (0, 4))
    assert result.subjects == ("Ann", "Bo", "Cy")
    assert result.pairs[0, 1] == pytest.approx(float(load_metric("ridge")(ann, bo)))
    assert float(result.typical) == pytest.approx(np.nanmean(result.pairs))
    assert len(result.differences) == 9
    difference = result.differences[0]
    expected = result.models["model-3"]["Ann"] - result.models["model-3"]["Bo"]
    assert difference.difference == pytest.approx(float(expected))
    assert difference.low < difference.difference < difference.high
    with pytest.raises(UserError, match="of 2 subjects: at least 3"):
        compare_subjects(Question(benchmark=BENCHMARK, neuroids='subject != "Cy"'))


def test_the_command_prints_answers_subjects_and_the_number_of_questions(store, tmp_path):
    def run(*arguments):
        return CliRunner().invoke(command, [BENCHMARK, "--results", str(tmp_path), *arguments])

    listed = tmp_path / "stimuli.txt"
    listed.write_text("".join(f"s{number}\n" for number in range(40)))
    result = run("--metric", "cka", "--stimulus-file", str(listed), "--compare", "--verify")
    assert result.exit_code == 0, result.output
    assert "40 named stimuli; metric: cka" in result.output
    assert "model-5 − model-8" in result.output
    assert "model-8: computed again, the score differs by 0" in result.output
    assert "1 question was asked of these data" in result.output
    result = run("--metric", "cka", "--model", "model-3")
    assert result.exit_code == 0, result.output
    assert "2 questions were asked of these data" in result.output
    result = run("--by-subject", "--json")
    content = json.loads(result.output)
    assert (content["questions_asked"], content["subjects"]["subjects"]) == (6, ["Ann", "Bo", "Cy"])
    listed.write_text("")
    assert "is empty" in str(run("--stimulus-file", str(listed)).exception)
