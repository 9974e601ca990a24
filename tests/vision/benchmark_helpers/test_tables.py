"""Benchmarks as rows of tables: each kind against a direct computation, and what malformed tables say."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import Ridge

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_vision import load_benchmark, load_dataset
from brainscore_vision.benchmark_helpers import RecordedDecisions
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark
from brainscore_vision.testing import small_models

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate dimension names")


def features_of(assembly, degrees):
    """A small model's responses to the stimuli, in their order; they fill its visual field as in the experiment."""
    (model, _) = small_models(visual_degrees=degrees)
    model.start_recording("V4", [(70, 170)])
    recorded = model.look_at(assembly.stimulus_set)
    row = {name: k for k, name in enumerate(recordings_ids(recorded))}
    return recorded.values.reshape(len(row), -1)[[row[name] for name in assembly.stimulus_set["stimulus_id"]]]


def recordings_ids(assembly):
    return assembly["stimulus_id"].values.tolist()


def averaged(assembly, region, subject):
    """Responses of one subject's voxels of which more than 30 % can be explained, averaged over repetitions."""
    kept = (
        (assembly["region"].values == region)
        & (assembly["subject"].values == subject)
        & (assembly["nc_testset"].values > 30)
    )
    values = assembly.values[:, kept, 0]
    ids = np.array(recordings_ids(assembly))
    return np.array([values[ids == name].mean(axis=0) for name in assembly.stimulus_set["stimulus_id"]])


def test_train_and_test_stimuli(stand_ins):
    train, test = load_dataset("Allen2022_fmri_4subj_train"), load_dataset("Allen2022_fmri_4subj_test")
    features, tested = features_of(train, 8.4), features_of(test, 8.4)
    raw = []
    for subject in sorted(set(train["subject"].values)):
        predicted = Ridge(alpha=1).fit(features, averaged(train, "V4", subject)).predict(tested)
        target = averaged(test, "V4", subject)
        raw.append(np.median([np.corrcoef(a, b)[0, 1] for a, b in zip(predicted.T, target.T, strict=True)]))
    benchmark = load_benchmark("Allen2022_fmri_4subj.V4-ridge")
    score = benchmark(small_models(visual_degrees=8.4)[0])
    assert len(raw) == 4
    assert float(score.attrs["raw"]) == pytest.approx(np.mean(raw), abs=1e-4)
    assert [float(score.attrs[f"subject{k}"].attrs["raw"]) for k in (1, 2, 3, 4)] == pytest.approx(raw, abs=1e-4)


def test_dissimilarities_of_all_stimuli(stand_ins):
    parts = [load_dataset(f"Allen2022_fmri_4subj_{split}") for split in ("train", "test")]
    upper = np.triu_indices(sum(len(part.stimulus_set) for part in parts), 1)
    of_model = 1 - np.corrcoef(np.concatenate([features_of(part, 8.4) for part in parts]))[upper]
    of_subjects = [
        1 - np.corrcoef(np.concatenate([averaged(part, "V4", f"subject{k}") for part in parts]))[upper]
        for k in (1, 2, 3, 4)
    ]
    benchmark = load_benchmark("Allen2022_fmri_4subj.V4-rdm")
    score = benchmark(small_models(visual_degrees=8.4)[0])
    expected = np.mean([spearmanr(of_model, one).statistic for one in of_subjects])
    assert float(score.attrs["raw"]) == pytest.approx(expected, abs=1e-4)
    assert float(score) == pytest.approx(np.clip(expected / float(benchmark.ceiling), 0, 1), abs=1e-4)


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_choices_of_people(stand_ins, share):
    people = load_dataset("Scialom2024_contours")
    stimuli = people.stimulus_set
    right = int(share * len(stimuli))
    names = [truth if k < right else "none" for k, truth in enumerate(stimuli["truth"])]
    model = RecordedDecisions("observer", dict(zip(stimuli["stimulus_id"], names, strict=True)), visual_degrees=8)
    correct = people.values == people["truth"].values
    accuracies = [correct[people["subject"].values == one].mean() for one in sorted(set(people["subject"].values))]

    def closeness(ours, theirs):
        return 1 - abs(ours - theirs) / max(theirs, 1 - theirs)

    raw = np.mean([closeness(share, one) for one in accuracies])
    ceiling = np.mean([closeness(one, other) for one, other in combinations(accuracies, 2)])
    benchmark = load_benchmark("Scialom2024_contoursBehavioralAccuracyDistance")
    score = benchmark(model)
    assert float(score.attrs["raw"]) == pytest.approx(raw)
    assert float(benchmark.ceiling) == pytest.approx(ceiling)
    assert float(score) == pytest.approx(min(raw / ceiling, 1))
    accuracy = load_benchmark("Scialom2024_contoursEngineeringAccuracy")(model)
    assert float(accuracy) == pytest.approx(share)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("8,mystery,rdm,rsa_ceiling", "has the kind 'mystery'(.|\n)*train-test"),
        ("eight,rsa,rdm,rsa_ceiling", "visual_degrees of 'X2026-x' is 'eight', not a number"),
        (",rsa,rdm,rsa_ceiling", "has no visual_degrees"),
        ("8,cross-validated,plss,internal_consistency", r"metric 'plss' is not registered(.|\n)*did you mean pls"),
        ("8,label,accuracy_distanc,metric", "metric 'accuracy_distanc' is not registered(.|\n)*accuracy_distance"),
        ("8,cross-validated,pls,internal_consistancy", "ceiling 'internal_consistancy' is not reg(.|\n)*consistency"),
    ],
)
def test_a_malformed_row_is_named(tmp_path, cells, message):
    file = tmp_path / "benchmarks.csv"
    file.write_text(f"benchmark,visual_degrees,kind,metric,ceiling\nX2026-x,{cells}\n")
    with pytest.raises(UserError, match=f"row 'X2026-x' of {file}: .*{message}"):
        make_benchmark(str(tmp_path / "__init__.py"), "X2026-x", bibtex=None)


def test_a_misspelt_column_is_named(tmp_path):
    (tmp_path / "benchmarks.csv").write_text("benchmark,visual_degree,kind,metric,ceiling\nX2026-x,8,rsa,rdm,1\n")
    with pytest.raises(UserError, match=r"does not use the column 'visual_degree'(.|\n)*rename it to 'visual_degrees'"):
        make_benchmark(str(tmp_path / "__init__.py"), "X2026-x", bibtex=None)


def test_a_repeated_row_is_named(tmp_path):
    (tmp_path / "benchmarks.csv").write_text("benchmark,kind\nX2026-x,rsa\nX2026-x,rsa\n")
    with pytest.raises(UserError, match=r"benchmarks\.csv cannot be read: row 3 has the identifier 'X2026-x'"):
        make_benchmark(str(tmp_path / "__init__.py"), "X2026-x", bibtex=None)


def test_an_unknown_row(tmp_path):
    (tmp_path / "benchmarks.csv").write_text("benchmark,kind\nX2026-x,rsa\n")
    with pytest.raises(UnknownIdentifier, match="no row 'X2026-y'"):
        make_benchmark(str(tmp_path / "__init__.py"), "X2026-y", bibtex=None)


def test_columns_of_the_plugin_are_kept_apart():
    row = BenchmarkRow.of({"benchmark": "X2026-x", "data": "A;B", "parent": "", "factor": "shape"})
    assert (row.data, row.parent, row.further) == (("A", "B"), None, {"factor": "shape"})
