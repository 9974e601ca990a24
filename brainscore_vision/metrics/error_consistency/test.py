import csv
import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.numerics.resampling import influence_variance
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric

CATEGORIES = np.array(["cat", "dog", "car"])


def _choices(values, stimuli):
    return BehavioralAssembly(values, coords={"stimulus_id": ("presentation", stimuli)}, dims=["presentation"])


def _trials(frame):
    names = ["stimulus_id", "truth", "subject", *(["condition"] if "condition" in frame else [])]
    return BehavioralAssembly(
        frame["choice"].to_numpy(),
        coords={n: ("presentation", frame[n].to_numpy()) for n in names},
        dims=["presentation"],
    )


def _experiment(seed=0, subjects=5, images=60, conditions=("easy", "hard")):
    rng = np.random.default_rng(seed)
    difficulty = rng.random(images)
    rows = []
    for condition, subject, image in itertools.product(conditions, range(subjects), range(images)):
        truth = CATEGORIES[image % 3]
        right = rng.random() < difficulty[image] * (0.9 if condition == "easy" else 0.6)
        rows.append([f"{condition}-{image}", truth, f"subject-{subject}", condition, truth if right else "na"])
    frame = pd.DataFrame(rows, columns=["stimulus_id", "truth", "subject", "condition", "choice"])
    frame = frame.sample(frac=0.9, random_state=seed)  # not everybody saw everything
    stimuli = frame["stimulus_id"].unique()
    return frame, _choices(rng.choice(CATEGORIES, len(stimuli)), stimuli)


def test_equals_the_definition():
    frame, model = _experiment()
    choice = dict(zip(model["stimulus_id"].values, model.values, strict=True))
    frame["model"] = [choice[s] == t for s, t in zip(frame["stimulus_id"], frame["truth"], strict=True)]
    frame["right"] = frame["choice"] == frame["truth"]
    kappas = frame.groupby(["condition", "subject"])[["model", "right"]].apply(
        lambda group: cohen_kappa_score(group["model"], group["right"])
    )
    score = load_metric("error_consistency")(model, _trials(frame))
    np.testing.assert_allclose(score.attrs["raw"].values, kappas.unstack().to_numpy(), atol=1e-12)
    per_subject = kappas.groupby("subject").mean()
    assert score.attrs["signed"] == pytest.approx(per_subject.mean(), abs=1e-12)
    assert float(score) == pytest.approx(abs(per_subject.mean()), abs=1e-12)
    influence = score.attrs["influence"]
    assert influence.sizes == {"subject": 5, "presentation": 120}
    np.testing.assert_allclose(influence.mean("presentation"), per_subject.mean() - per_subject, atol=1e-12)
    assert score.attrs["signed"] < 0  # so that the influence changes its sign, too
    error = np.sqrt(influence_variance(influence.values)[0])
    assert score.attrs["error"] == pytest.approx(error, abs=1e-12)
    assert error > per_subject.std(ddof=1) / np.sqrt(5)
    assert score.attrs["ci_estimates"].startswith(
        "new subjects and new images of these 3 right answers; 5 subjects, 120 images"
    )
    assert score.attrs["std"] == pytest.approx(kappas.std(ddof=0), abs=1e-12)
    assert score.attrs["ci_method"] == "influence"
    assert score.attrs["scale"] == "similarity"
    predictions, targets = score.attrs["predictions"], score.attrs["targets"]
    np.testing.assert_array_equal(predictions.values, frame["model"])
    np.testing.assert_array_equal(targets.values, frame["right"])


def test_ceiling_equals_the_definition():
    frame, _ = _experiment()
    frame["right"] = frame["choice"] == frame["truth"]
    conditions = []
    for _, group in frame.groupby("condition"):
        table = group.pivot(index="subject", columns="stimulus_id", values="right")
        pairs = [table.loc[list(pair)].dropna(axis=1).astype(bool) for pair in itertools.combinations(table.index, 2)]
        conditions.append(np.mean([cohen_kappa_score(*pair.to_numpy()) for pair in pairs]))
    ceiling = load_metric("error_consistency").ceiling(_trials(frame))
    assert float(ceiling) == pytest.approx(np.mean(conditions), abs=1e-12)
    assert ceiling.attrs["meaning"] == "human-human"
    assert ceiling.attrs["ci"][0] < float(ceiling) < ceiling.attrs["ci"][1]
    assert ceiling.attrs["raw"].dims == ("condition", "subject", "subject_other")


def test_order_and_surplus_stimuli_do_not_matter():
    frame, model = _experiment()
    metric = load_metric("error_consistency")
    shuffled = frame.sample(frac=1, random_state=1)
    more = _choices([*model.values[::-1], "cat"], [*model["stimulus_id"].values[::-1], "unseen"])
    assert float(metric(more, _trials(shuffled))) == pytest.approx(float(metric(model, _trials(frame))), abs=1e-14)
    assert float(metric.ceiling(_trials(shuffled))) == pytest.approx(float(metric.ceiling(_trials(frame))), abs=1e-14)


def test_without_conditions_all_trials_are_one():
    frame, model = _experiment(conditions=("easy",))
    metric = load_metric("error_consistency")
    bare = frame.drop(columns="condition")
    assert float(metric(model, _trials(bare))) == float(metric(model, _trials(frame)))
    assert float(metric.ceiling(_trials(bare))) == float(metric.ceiling(_trials(frame)))


def test_always_right_is_undefined_and_left_out():
    frame, model = _experiment()
    easy = frame["condition"] == "easy"
    frame.loc[easy & (frame["subject"] == "subject-1"), "choice"] = frame["truth"]
    truth = frame.drop_duplicates("stimulus_id").set_index("stimulus_id")["truth"]
    names = model["stimulus_id"].values
    model = _choices([truth[n] if n.startswith("easy") else c for n, c in zip(names, model.values, strict=True)], names)
    score = load_metric("error_consistency")(model, _trials(frame))
    assert score.attrs["undefined"] == 1
    assert np.isfinite(float(score))
    only = frame[easy & (frame["subject"] == "subject-1")]
    score = load_metric("error_consistency")(model, _trials(only))
    assert np.isnan(float(score))
    assert "0/0" in score.attrs["error_reason"]


def test_negative_consistency_loses_its_sign_as_published():
    stimuli = list("abcd")
    frame = pd.DataFrame({"stimulus_id": stimuli * 3, "truth": "cat", "subject": np.repeat([1, 2, 3], 4)})
    frame["choice"] = ["cat", "cat", "dog", "dog"] * 3
    score = load_metric("error_consistency")(_choices(["dog", "dog", "cat", "cat"], stimuli), _trials(frame))
    assert float(score) == 1
    assert score.attrs["signed"] == -1
    assert score.attrs["ci"] == (1, 1)


@pytest.mark.parametrize("subjects", [1, 2])
def test_few_subjects(subjects):
    frame, model = _experiment(subjects=subjects)
    metric = load_metric("error_consistency")
    score = metric(model, _trials(frame))
    these = "this subject" if subjects == 1 else "these 2 subjects"
    assert score.attrs["ci_estimates"].startswith(f"new images of these 3 right answers for {these}; ")
    assert score.attrs["influence"].dims == ("presentation",)
    if subjects == 1:
        with pytest.raises(MetricInputError, match="needs a second one"):
            metric.ceiling(_trials(frame))
    else:
        assert "2 subjects: at least 3" in metric.ceiling(_trials(frame)).attrs["ci_reason"]


@pytest.mark.parametrize("groups", [pytest.param(None, marks=pytest.mark.slow), "object_name"])
def test_images_and_their_groups_are_left_out_of_each_subject(groups):
    frame, model = _experiment()
    frame["object_name"] = frame["stimulus_id"].str.split("-").str[1].astype(int) % 7
    metric = load_metric("error_consistency", stimulus_groups=groups)
    trials = _trials(frame).assign_coords(object_name=("presentation", frame["object_name"].values))
    score = metric(model, trials)
    column = "stimulus_id" if groups is None else groups
    influence = score.attrs["influence"]
    units = influence[column].values
    assert len(units) == (120 if groups is None else 7)
    number = len(units)
    per_subject = {s: metric(model, _trials(part)).attrs["signed"] for s, part in frame.groupby("subject")}
    for subject, part in list(frame.groupby("subject"))[:2]:
        seen = [unit for unit in units if (part[column] == unit).any()]
        without = np.array([metric(model, _trials(part[part[column] != unit])).attrs["signed"] for unit in seen])
        expected = (len(seen) - 1) * (without.mean() - without) + per_subject[subject] - score.attrs["signed"]
        row = influence.sel(subject=subject).values * np.sign(score.attrs["signed"])
        np.testing.assert_allclose(row[np.isin(units, seen)], expected * number / len(seen), atol=1e-9)
        assert not row[~np.isin(units, seen)].any()


def test_what_cannot_be_compared_is_refused():
    frame, model = _experiment()
    metric = load_metric("error_consistency")
    with pytest.raises(MetricInputError, match="no choice for 1 stimuli of the target, such as '"):
        metric(model.isel(presentation=slice(1, None)), _trials(frame))
    with pytest.raises(MetricInputError, match="several choices for '"):
        metric(model.isel(presentation=[0, 0, 1]), _trials(frame))
    with pytest.raises(MetricInputError, match=r"subject 'subject-.' answers several times to '"):
        metric.ceiling(_trials(pd.concat([frame, frame[:1]])))
    for name in ("truth", "subject"):
        with pytest.raises(MetricInputError, match=f"no coordinate '{name}'"):
            metric(model, _trials(frame).drop_vars([name]))
    with pytest.raises(MetricInputError, match="no trials"):
        metric.ceiling(_trials(frame[:0]))


def test_choices_along_a_dimension_of_length_1():
    frame, model = _experiment()
    wide = BehavioralAssembly(
        model.values[None], coords={"stimulus_id": ("presentation", model["stimulus_id"].values)},
        dims=["choice", "presentation"],
    )  # fmt: skip
    metric = load_metric("error_consistency")
    assert float(metric(wide, _trials(frame))) == float(metric(model, _trials(frame)))


HUMANS = "bethgelab/model-vs-human/79ed7cd1d9ac3a114e71b6638f0a98bdd627316c/raw-data/edge"
NETWORK = "rgeirhos/texture-vs-shape/ccd0c01d42c0a8a834e90ec141e7f24fa915dc23/raw-data/edge-experiment"


def test_published_decisions_on_edges(mirror):
    """AlexNet's recorded decisions and ten observers, Geirhos et al. 2019 and 2021."""

    def read(path):
        with path.open(newline="") as file:
            return list(csv.DictReader(file))

    root = mirror / "raw.githubusercontent.com"
    rows = [row for path in sorted((root / HUMANS).glob("*subject*.csv")) for row in read(path)]
    frame = pd.DataFrame(rows).rename(columns={"category": "truth", "object_response": "choice", "subj": "subject"})
    frame["stimulus_id"] = frame["imagename"].str.rsplit("_", n=1).str[-1]
    (network,) = (root / NETWORK).glob("*alexnet*.csv")
    decisions = pd.DataFrame(read(network))
    stimuli = decisions["imagename"].str.rsplit("_", n=1).str[-1].to_numpy()
    metric = load_metric("error_consistency")
    score = metric(_choices(decisions["object_response"].to_numpy(), stimuli), _trials(frame))
    assert float(score) == pytest.approx(0.1104, abs=5e-5)
    assert float(metric.ceiling(_trials(frame))) == pytest.approx(0.31844, abs=5e-6)


def test_ceiling_averages_conditions_before_pairs_as_published():
    """The third person is always right in condition 1, as the second one is: their kappa is undefined there."""
    right = {0: ["1100", "1000", "1110"], 1: ["1101", "1111", "1111"]}
    rows = [
        {
            "stimulus_id": f"{condition}{image}",
            "condition": condition,
            "subject": subject,
            "truth": "cat",
            "choice": "cat" if answer == "1" else "dog",
        }
        for condition, people in right.items()
        for subject, answers in enumerate(people)
        for image, answer in enumerate(answers)
    ]
    frame = pd.DataFrame(rows)
    trials = BehavioralAssembly(
        frame["choice"].to_numpy(),
        coords={name: ("presentation", frame[name].to_numpy()) for name in frame if name != "choice"},
        dims=["presentation"],
    )
    ceiling = load_metric("error_consistency").ceiling(trials)
    pairs = ceiling.attrs["raw"].values[:, [0, 0, 1], [1, 2, 2]]
    assert np.isnan(pairs[1, 2])
    assert float(ceiling) == pytest.approx(abs(np.nanmean(np.nanmean(pairs, axis=0))))
    assert float(ceiling) != pytest.approx(abs(np.nanmean(np.nanmean(pairs, axis=1))))


def test_ceiling_is_an_absolute_value_as_published():
    """Two subjects who err on different images."""
    rows = [
        [f"image-{i}", "cat", f"subject-{subject}", "cat" if i % 2 == subject else "dog"]
        for subject in range(2)
        for i in range(10)
    ]
    ceiling = load_metric("error_consistency").ceiling(
        _trials(pd.DataFrame(rows, columns=["stimulus_id", "truth", "subject", "choice"]))
    )
    assert ceiling.attrs["signed"] == pytest.approx(-1)
    assert float(ceiling) == pytest.approx(1)
