"""Groups of stimuli: declared, found and asked for, and stored."""

import os
import textwrap
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.uncertainty import units_of_stimuli
from brainscore_core.provenance import recording
from brainscore_core.statistics.comparison import compare_scores
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import Grouping, grouping_of
from brainscore_vision import load_dataset, load_metric
from brainscore_vision.assessment.audit import _check_groups, audit
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
from brainscore_vision.registries import data_registry
from brainscore_vision.testing import list_stand_ins, stand_in

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- groups of stimuli -->\n", "<!-- end -->"
N = 60
CLASSES = np.array([f"c{number % 10}" for number in range(N)])


def _recordings(seed=0, attrs=None, **columns):
    coords = {name: ("presentation", values) for name, values in columns.items()}
    coords |= {
        "stimulus_id": ("presentation", [f"s{number:02}" for number in range(N)]),
        "neuroid_id": ("neuroid", np.arange(8)),
        "region": ("neuroid", ["IT"] * 8),
    }
    features = np.random.default_rng(7).standard_normal((N, 8)) + 0.3 * np.random.default_rng(seed).standard_normal(
        (N, 8)
    )
    return NeuroidAssembly(features, coords=coords, dims=["presentation", "neuroid"], attrs=attrs)


def _questions(call):
    with recording() as record, warnings.catch_warnings(action="ignore"):
        score = call()
    return score, [item["text"] for item in record.items if item["kind"] == "remark" and "groups of" in item["text"]]


@pytest.mark.parametrize("metric", ["ridge", "rdm", "cka", "procrustes", "effective_dimensionality"])
def test_undeclared_groups_are_used_and_asked_for_once(metric):
    target = _recordings(category=CLASSES)
    neuroids = " for these" if metric in ("procrustes", "effective_dimensionality") else " and new"
    score, (question,) = _questions(lambda: load_metric(metric)(_recordings(1), target))
    assert question.startswith("the stimuli share 10 values of 'category', and no groups of stimuli are declared")
    assert "'category', or 'none'" in question
    assert score.attrs["ci_estimates"].startswith(
        f"new groups of stimuli (category){neuroids} neuroids; 10 groups of 60 stimuli, not declared"
    )
    if "influence" in score.attrs:
        assert score.attrs["influence"]["category"].values.tolist() == sorted(set(CLASSES))
    declared, none = _questions(lambda: load_metric(metric, stimulus_groups="category")(_recordings(1), target))
    assert none == []
    assert declared.attrs["ci"] == score.attrs["ci"]
    by_data = _recordings(category=CLASSES, attrs={"stimulus_groups": "none"})
    for independent in (
        lambda: load_metric(metric, stimulus_groups=None)(_recordings(1), target),
        lambda: load_metric(metric)(_recordings(1), by_data),
    ):
        single, none = _questions(independent)
        assert none == []
        assert single.attrs["ci_estimates"].startswith(f"new stimuli{neuroids} neuroids; 60 stimuli")
        assert float(single) == float(score)


def test_which_coordinates_are_groups():
    assert grouping_of(_recordings()).name is None
    assert grouping_of(_recordings(object_name=CLASSES, category=CLASSES)).question == ""
    crossed = grouping_of(_recordings(category=CLASSES, scene=np.arange(N) % 6))
    assert (crossed.name, crossed.shared) == ("scene", {"scene": 6, "category": 10})
    assert grouping_of(_recordings(genre=CLASSES)).name == "genre"  # text, whatever it is called
    assert grouping_of(_recordings(split=CLASSES, size=np.arange(N) % 6)).name is None
    few = grouping_of(_recordings(category=np.arange(N) % 3))
    assert (few.name, few.question) == ("category", "")
    asked = grouping_of(_recordings(object_name=np.arange(N) % 2, animacy=np.arange(N) // 30, genre=CLASSES))
    assert (asked.name, asked.shared) == ("genre", {"genre": 10})  # usual ones have too few values to vary
    assert grouping_of(_recordings(object_name=np.arange(N) % 2, animacy=np.arange(N) // 20)).name == "object_name"
    table = StimulusSet({"stimulus_id": [f"s{number:02}" for number in range(N)], "scene": CLASSES})
    assert grouping_of(_recordings(attrs={"stimulus_set": table})).name == "scene"
    assert grouping_of(_recordings(attrs={"stimulus_set": table, "stimulus_groups": "none"})).name is None


def test_right_answers_are_groups_of_images():
    ids = {"stimulus_id": ("presentation", np.arange(N))}
    right = BehavioralAssembly(CLASSES, coords=ids, dims=["presentation"])
    given = right.copy(data=np.where(np.arange(N) % 10 < 7, CLASSES, "c0"))
    score, (question,) = _questions(lambda: load_metric("accuracy")(given, right))
    assert "10 values of 'truth'" in question
    assert score.attrs["ci_estimates"].startswith("new groups of images (truth); 10 groups")
    alone, none = _questions(lambda: load_metric("accuracy", stimulus_groups=None)(given, right))
    assert none == []
    assert alone.attrs["error"] < score.attrs["error"]
    assert float(alone) == float(score)


def test_comparisons_use_the_stored_groups():
    target = _recordings(texture=CLASSES, attrs={"stimulus_groups": "texture"})
    pair = [load_metric("ridge")(_recordings(seed), target) for seed in (1, 2)]
    assert pair[0].attrs["predictions"].attrs == {"stimulus_groups": "texture"}
    found = compare_scores(*pair)
    assert found.units.startswith("10 groups of stimuli (texture) × 8 neuroids")
    del pair[1].attrs["predictions"].attrs["stimulus_groups"]  # as another metric may store them
    with pytest.raises(UserError, match="vary for one, stimuli for the other"):
        compare_scores(*pair)
    accuracies = [load_metric("rdm")(_recordings(seed), target) for seed in (1, 2)]
    assert compare_scores(*accuracies).units.startswith("10 groups of stimuli (texture)")


def test_check_and_audit_ask_the_same():
    target = _recordings(category=CLASSES)
    target.attrs["stimulus_set"] = StimulusSet({"stimulus_id": target["stimulus_id"].values})
    options = {"visual_degrees": 8, "number_of_trials": 1, "ceiling_func": lambda: None, "version": 1}
    asking = NeuralBenchmark("Mine2026.IT-rdm", target, load_metric("rdm"), **options)
    (check,) = _check_groups(asking)
    assert (check.result, "10 values of 'category'" in check.explanation) == ("warning", True)
    assert any("10 values of 'category'" in note for note in audit(asking).notes)
    declared = NeuralBenchmark("Mine2026.IT-rdm", target, load_metric("rdm", stimulus_groups="category"), **options)
    assert [check.result for check in _check_groups(declared)] == ["passed"]
    assert not any("category" in note for note in audit(declared).notes)


@pytest.mark.parametrize(("stimuli", "few"), [(30, True), (60, False)])
def test_an_interval_of_these_stimuli_says_why(stimuli, few):
    source, target = (_recordings(seed).isel(presentation=slice(stimuli)) for seed in (0, 1))
    with warnings.catch_warnings(action="ignore"):
        told = load_metric("ridge")(source, target).attrs["ci_estimates"]
    assert told.startswith("new neuroids for these stimuli only (splits test only 3 of 30 stimuli); 8 neuroids;") is few
    with warnings.catch_warnings(action="error"):
        kfold = load_metric("ridge", crossvalidation_kwargs={"kfold": True, "splits": 7})(source, target)
    assert kfold.attrs["ci_estimates"].startswith("new stimuli and new neuroids;")


def test_of_a_data_set():
    assert load_dataset("Simulated2026").attrs["stimulus_groups"] == "object_name"


@pytest.mark.slow(reason="makes every stand-in of a data set; a minute")
def test_nothing_in_the_catalogue_is_undeclared():
    asked = {}
    for name in list_stand_ins()["assemblies"]:
        assembly = stand_in(name)
        if list(assembly.dims).count("presentation") == 1 and (groups := data_registry.declared_groups(name)):
            assembly.attrs["stimulus_groups"] = groups
            used = grouping_of(assembly)
            if used.question or used.name != (None if groups == "none" else groups):
                asked[name] = used
        elif "presentation" in assembly.dims and not groups and grouping_of(assembly).question:
            asked[name] = grouping_of(assembly)
    assert asked == {}


def _listed():
    patterns, unknown = {}, set()
    for key in sorted(data_registry):
        place = data_registry.location(key)
        if place.source != "built in":
            continue
        patterns |= getattr(import_module(place.package), "STIMULUS_GROUPS", {})
        if data_registry.declared_groups(key) is None:
            unknown.add(key.replace("-", ".").partition(".")[0].partition("_")[0])
    lines = ["| data sets | groups of stimuli |", "|---|---|"]
    for pattern, groups in sorted(patterns.items(), key=lambda item: item[0].lower()):
        lines.append(f"| `{pattern}` | {'each stimulus on its own' if groups == 'none' else f'`{groups}`'} |")
    known = {pattern.partition("_")[0].partition(".")[0].rstrip("*") for pattern in patterns}
    others = textwrap.fill(f"Nothing is declared of {', '.join(sorted(unknown - known))}.", 120)
    return "\n".join([*lines, "", others, ""])


def test_list_of_the_documentation():
    before, _, rest = PAGE.read_text().partition(BEGIN)
    listed, _, after = rest.partition(END)
    if os.environ.get("BRAINSCORE_RENEW_LISTS"):
        PAGE.write_text(before + BEGIN + _listed() + END + after)
    else:
        assert listed == _listed(), "BRAINSCORE_RENEW_LISTS=1 renews the list"


@pytest.mark.parametrize(
    "stimulus_set",
    [
        "a name",
        pd.DataFrame({"other": range(N)}),
        pd.DataFrame([[0, 0]] * N, columns=["stimulus_id", "stimulus_id"]),
        pd.DataFrame({"stimulus_id": [f"s{number:02}" for number in range(N)], "category": [["a"], ["b"]] * 30}),
    ],
)
def test_stimulus_sets_that_tell_nothing_are_ignored(stimulus_set):
    recordings = _recordings()
    recordings.attrs["stimulus_set"] = stimulus_set
    assert grouping_of(recordings) == Grouping()


def test_declared_groups_that_are_missing_are_named():
    recordings = _recordings()
    recordings.attrs["stimulus_groups"] = "categorie"
    assert "declared as 'categorie', which is neither" in grouping_of(recordings).question


@pytest.mark.parametrize("independent", [None, "none"])
def test_independent_stimuli_are_declared_in_either_way(independent):
    recordings = _recordings(category=list("abcdef") * 10)
    assert grouping_of(recordings, independent) == Grouping()
    recordings.attrs["stimulus_groups"] = independent
    assert grouping_of(recordings) == Grouping()


def test_stimuli_of_no_group_vary_on_their_own():
    recordings = _recordings(object_name=[*"abcde" * 6, *[None] * 30])
    units = units_of_stimuli(recordings)
    assert units.number == 35
    assert units.details == "5 groups of 60 stimuli, 30 of them in no group"
