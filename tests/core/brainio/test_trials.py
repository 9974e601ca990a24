"""Trials in tables become behavioural assemblies, and what was changed is reported."""

import warnings

import numpy as np
import pandas as pd
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.findings import ValidationError, ValidationWarning
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf
from brainscore_core.supported_data_standards.brainio.packaging import package_data_assembly_locally
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.tables import MISSING_MARKS
from brainscore_core.supported_data_standards.brainio.trials import from_trials


def table(n=12):
    rng = np.random.default_rng(0)
    shown = np.arange(n) % 4
    return pd.DataFrame(
        {
            "image": [f"{number:03d}" for number in shown],
            "answer": rng.choice(["cat", "dog"], n),
            "label": np.where(shown % 2, "cat", "dog"),
            "who": np.repeat(["p1", "p2"], n // 2),
            "rt": rng.random(n),
            "passed": rng.random(n) < 0.9,
            "number": np.tile(np.arange(n // 2), 2),
        }
    )


NAMED = {"stimulus_id": "image", "response": "answer", "truth": "label", "subject": "who"}


def test_file_written_by_pandas_is_packaged_and_read_back(tmp_path):
    trials = table()
    trials.to_csv(tmp_path / "trials.csv")  # with row numbers, as is the default
    choices = from_trials(tmp_path / "trials.csv", **NAMED, trial="number", identifier="Lab2026")
    assert choices.dims == ("presentation",)
    assert choices.values.tolist() == trials["answer"].tolist()
    assert choices["stimulus_id"].values.tolist() == trials["image"].tolist()  # 001, not 1
    for coordinate, column in {"truth": "label", "subject": "who", "rt": "rt", "passed": "passed"}.items():
        assert choices[coordinate].values.tolist() == trials[column].tolist()
    # shown to p1 as trials 0 and 4, or 1 and 5
    assert choices["repetition"].values.tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1]
    report = choices.attrs["import_report"]
    assert report.sizes == {"row": (12, 12)}
    assert [change.names for change in report.dropped] == ["Unnamed: 0"]
    assert set(report.to_pandas()["action"]) == {"dropped", "renamed", "added"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        package = package_data_assembly_locally(choices, "Lab2026", None, "BehavioralAssembly", tmp_path)
    loaded = read_netcdf(package["path"], BehavioralAssembly)
    for name in ("stimulus_id", "truth", "subject", "rt", "passed", "trial", "repetition"):
        assert np.array_equal(loaded[name].values, choices[name].values)
    assert np.array_equal(loaded.values, choices.values)


def test_rows_without_stimulus_or_response_are_dropped_with_a_warning(tmp_path):
    trials = table()
    trials.loc[2, "answer"] = None
    trials.loc[5, "image"] = None
    trials["empty"] = np.nan
    trials.to_csv(tmp_path / "trials.csv", index=False)
    with pytest.warns(ValidationWarning, match=r"row \(6\): the stimulus is missing; .*row \(3\): the response"):
        choices = from_trials(tmp_path / "trials.csv", **NAMED)
    assert choices.attrs["import_report"].sizes == {"row": (12, 10)}
    assert np.array_equal(choices["rt"].values, trials["rt"].drop([2, 5]).values)
    assert "empty" not in choices.coords


def test_choices_between_two_objects():
    from brainscore_vision import load_metric

    rng = np.random.default_rng(0)
    objects = np.array(["bear", "cat", "dog"])
    shown, other = rng.integers(0, 3, 3000), rng.integers(1, 3, 3000)
    trials = pd.DataFrame({"image": rng.integers(0, 10, 3000) * 3 + shown, "object": objects[shown]})
    trials["other"] = objects[(shown + other) % 3]
    trials["choice"] = np.where(
        rng.random(3000) < 0.5 + 0.04 * (trials["image"] // 3), *trials[["object", "other"]].T.values
    )
    named = {"stimulus_id": "image", "response": "choice", "truth": "object", "distractor": "other"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidationWarning)  # of equal rows
        people = from_trials(trials, **named)
    assert people["sample_obj"].values.tolist() == trials["object"].tolist()
    assert people["dist_obj"].values.tolist() == trials["other"].tolist()
    assert 0 < float(load_metric("i2").ceiling(people, skipna=True)) <= 1
    trials.loc[7, "choice"] = "zebra"
    with pytest.raises(UserError, match=r"1 response of table .*row 8 has 'zebra'"):
        from_trials(trials, **named)


def test_odd_one_out_is_the_third_image():
    from brainscore_vision import load_metric

    trials = pd.DataFrame({"left": [3, 1, 2], "up": [1, 2, 3], "right": [2, 3, 1], "odd": [1, 1, 1]})
    people = from_trials(trials, triplet=["left", "up", "right"], response="odd")
    assert people["image_3"].values.tolist() == people["stimulus_id"].values.tolist() == ["1", "1", "1"]
    assert people["image_1"].values.tolist() == ["3", "2", "2"]
    by_place = from_trials(trials.assign(odd=["up", "left", "right"]), triplet=["left", "up", "right"], response="odd")
    assert by_place.values.tolist() == people.values.tolist()
    assert float(load_metric("odd_one_out")(BehavioralAssembly([2, 2, 0], dims=["presentation"]), people)) == 2 / 3
    with pytest.raises(UserError, match="1 row of table choose none of the three"):
        from_trials(trials.assign(odd=[1, 9, 1]), triplet=["left", "up", "right"], response="odd")


def test_several_responses_are_choices():
    trials = pd.DataFrame({"stimulus_id": ["a", "b"], "cat": [0.2, 0.7], "dog": [0.8, 0.3], "who": ["x", "x"]})
    probabilities = from_trials(trials, response=["cat", "dog"])
    assert probabilities.dims == ("presentation", "choice")
    assert probabilities.sel(choice="dog").values.ravel().tolist() == [0.8, 0.3]


def test_stimulus_set_is_attached_and_compared():
    stimuli = StimulusSet({"stimulus_id": ["000", "001", "002", "003"]})
    stimuli.identifier = "Images2026"
    choices = from_trials(table(), **NAMED, stimulus_set=stimuli)
    assert choices.identifier == choices.attrs["stimulus_set_identifier"] == "Images2026"
    with pytest.raises(ValidationError, match=r"1 stimuli are not in the stimulus set 'Images2026': '003'"):
        from_trials(table(), **NAMED, stimulus_set=stimuli[:3])


def test_numbers_of_stimuli_become_text():
    trials = table().assign(image=[1.0, 2.0, np.nan] * 4)
    with pytest.warns(ValidationWarning, match="4 rows"):
        choices = from_trials(trials, **NAMED)
    assert set(choices["stimulus_id"].values) == {"1", "2"}


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (lambda t: t.rename(columns={"answer": "anwser"}), {}, r"no column 'answer'\ndid you mean 'anwser'\?"),
        (lambda t: t[:0], {}, "has no rows"),
        (lambda t: t.assign(answer=None), {}, "no trial of table has both"),
        (lambda t: t.assign(rt=[0.3, "slow"] * 6), {}, r"'rt' has values of several types: numbers \(0.3\) and text"),
        (lambda t: t.assign(answer=[["x"]] * 12), {}, r"'answer' are not single numbers or texts, such as \['x'\]"),
        (lambda t: t.assign(who=["p1", None] * 6), {}, "'who' is empty in 6 rows: 2, 4"),
        (
            lambda t: t.assign(number=0),
            {"trial": "number"},
            r"10 rows of table repeat a trial \(the same subject, trial",
        ),
        (lambda t: t.assign(truth="x"), {}, "'label' and 'truth' would both be the coordinate 'truth'"),
        (lambda t: t.assign(presentation=1), {}, "a name that assemblies use themselves"),
        (lambda t: t.set_axis([*t.columns[:-1], "rt"], axis=1), {}, "several columns have the name 'rt'"),
        (lambda t: t, {"distractor": "who", "truth": None}, "distractor is given without truth"),
        (lambda t: t, {"subject": "answer"}, "named twice, as response and as subject"),
    ],
)
def test_faulty_tables(change, arguments, message):
    with pytest.raises(UserError, match=message):
        from_trials(change(table()), **{**NAMED, **arguments})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"image,answer\n", "no rows"),
        ("a.csv", "image,answer\na,\xfc".encode("latin-1"), "not in UTF-8"),
        ("a.csv", b"image,answer,answer\na,b,c\n", "several columns of .* 'answer'"),
        ("a.xlsx", b"PK", "not a CSV file"),
        ("a.csv", b"image,answer\na,b,c\n", "more fields than the header"),
        ("a.csv", b"# made by a lab\nimage,answer\na,b\n", "remove lines above the names of the columns"),
        ("a.csv", b'"image;answer"\n"1;x"\n', "only column is named 'image;answer'"),
        ("a.csv", "image,answer\na,b\n".encode("utf-16-le"), "NUL bytes"),
        ("b.csv", None, "cannot read .*b.csv"),
    ],
)
def test_faulty_files(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        from_trials(tmp_path / name, stimulus_id="image", response="answer")


def test_files_of_spreadsheets_in_other_languages(tmp_path):
    (tmp_path / "a.csv").write_text(
        "\ufeffimage;answer;rt;level;text\n001;a, b;0,41;1,5e-3;1,5\n002;c;;2;2,x\n003;;0,5;2;x\n", encoding="utf-8"
    )
    with pytest.warns(ValidationWarning, match=r"row \(3\)") as caught:
        choices = from_trials(tmp_path / "a.csv", stimulus_id="image", response="answer")
    assert len(caught) == 1
    assert choices.values.tolist() == ["a, b", "c"]
    assert choices["stimulus_id"].values.tolist() == ["001", "002"]
    assert np.array_equal(choices["rt"].values, [0.41, np.nan], equal_nan=True)
    assert choices["level"].values.tolist() == [0.0015, 2]
    assert choices["text"].values.tolist() == ["1,5", "2,x"]
    report = str(choices.attrs["import_report"])
    assert "separated by semicolons" in report
    assert "converted 1 column (rt): decimal commas are points" in report


def test_spaces_around_names_and_values(tmp_path):
    (tmp_path / "a.csv").write_text("image, answer ,rt, mask\n 001, cat,0.5, N/A\n002,cat , #N/A,grid\n")
    with pytest.warns(ValidationWarning, match=r"\(answer\): 'cat ' and the same without spaces"):
        choices = from_trials(tmp_path / "a.csv", stimulus_id="image", response="answer")
    assert choices["stimulus_id"].values.tolist() == ["001", "002"]
    assert choices.values.tolist() == ["cat", "cat "]
    assert pd.isna(choices["rt"].values[1])
    assert pd.isna(choices["mask"].values[0])


@pytest.mark.parametrize("mark", [mark for mark in MISSING_MARKS if mark != ""] + [" ", " n/a "])
@pytest.mark.parametrize("as_table", [False, True])
def test_marks_of_missing_values(tmp_path, mark, as_table):
    path = tmp_path / "events.tsv"
    path.write_text(f"image\tanswer\trt\na\tcat\t0.5\nb\t{mark}\t{mark}\nc\tdog\t\nd\tdog\t{mark}\n")
    trials = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False) if as_table else path
    with pytest.warns(ValidationWarning, match=r"row \(2\): the response is missing"):
        choices = from_trials(trials, stimulus_id="image", response="answer")
    assert choices.values.tolist() == ["cat", "dog", "dog"]
    assert np.array_equal(choices["rt"].values, [0.5, np.nan, np.nan], equal_nan=True)
    text = repr(mark.strip()) if mark.strip() else "empty"
    assert f"converted 1 value (answer: 1 × {text}): missing" in str(choices.attrs["import_report"])


def test_answers_and_labels_of_a_table_are_converted_alike():
    trials = pd.DataFrame(
        {"image": ["a", "b", "c"], "x": ["1", "n/a", "0"], "y": ["0", "1", "1"], "label": list("110")}
    )
    with pytest.warns(ValidationWarning, match="the response is missing"):
        choices = from_trials(trials, stimulus_id="image", response=["x", "y"], truth="label")
    assert choices.values.tolist() == [[1, 0], [0, 1]]
    assert choices["truth"].values.tolist() == [1, 0]


def test_marks_are_stated_by_the_user():
    trials = pd.DataFrame({"image": ["a", "b"], "answer": ["None", "na"], "rt": [-99, 3]})
    with pytest.warns(ValidationWarning, match=r"'None' counts as missing; pass missing=\{'answer': \[\]\}"):
        assert from_trials(trials, stimulus_id="image", response="answer").values.tolist() == ["na"]
    choices = from_trials(trials, stimulus_id="image", response="answer", missing={"answer": (), "rt": [-99]})
    assert choices.values.tolist() == ["None", "na"]
    assert np.array_equal(choices["rt"].values, [np.nan, 3], equal_nan=True)
    with pytest.raises(UserError, match=r"(?s)no trial of table .*answer: 1 × 'None', 1 × 'na'"):
        from_trials(trials, stimulus_id="image", response="answer", missing=["na"])
    with pytest.raises(UserError, match="'nope', which does not exist"):
        from_trials(trials, stimulus_id="image", response="answer", missing={"nope": ["x"]})


NAMES = ["001", "1", "5e1234", "1e5", "0x10", "True", "1_000", "2026-01-01", "9007199254740993", "NA", "nan", "None"]


def test_identifiers_stay_as_they_are_written(tmp_path):
    rows = [f"{name},yes,{name},{name}\n" for name in NAMES]
    (tmp_path / "a.csv").write_text(f"image,answer,who,session\n{''.join(rows)}n/a,no,p,1\n,no,p,1\n")
    with pytest.warns(ValidationWarning, match=r"2 rows \(13, 14\): the stimulus is missing") as caught:
        choices = from_trials(tmp_path / "a.csv", stimulus_id="image", response="answer", subject="who")
    assert "image: 1 × 'NA', 1 × 'nan', 1 × 'None'): names" in str(caught[0].message)
    assert choices["stimulus_id"].values.tolist() == choices["subject"].values.tolist() == NAMES
    assert choices["session"].values[:9].tolist() == NAMES[:9]


def test_columns_are_numbers_if_nothing_is_lost(tmp_path):
    (tmp_path / "a.csv").write_text(
        "image,answer,rt,level,large,large_gaps,session,run,code,mask\n"
        "12,yes,410,01,9007199254740993,9007199254740993,12,1,1.10,grid\n"
        ",yes,n/a,02,1,n/a,n/a,2,1.1,grid\n"
        "13,no,730,10,2,5,13,3,n/a,None\n"
        "14,no,-,10,2,n/a,n/a,3,7,grid\n"
    )
    with pytest.warns(ValidationWarning, match="'None' counts as missing"):
        choices = from_trials(tmp_path / "a.csv", stimulus_id="image", response="answer", missing={"code": ["n/a"]})
    assert choices["stimulus_id"].values.tolist() == ["12", "13", "14"]
    assert np.array_equal(choices["rt"].values, [410, 730, np.nan], equal_nan=True)
    assert choices["level"].values.tolist() == ["01", "10", "10"]
    assert choices["large"].values.tolist() == [2**53 + 1, 2, 2]
    assert choices["large_gaps"].values[:2].tolist() == ["9007199254740993", "5"]
    assert choices["session"].values[:2].tolist() == ["12", "13"]
    assert choices["run"].values.tolist() == [1, 3, 3]
    report = str(choices.attrs["import_report"])
    assert "converted 1 column (level): text, since numbers would not keep '01'" in report


def test_identifiers_of_tables_that_pandas_made_floats():
    trials = pd.DataFrame({"image": [1.0, None, 12.0], "answer": ["x", "y", "x"], "session": [3.0, 4.0, None]})
    with pytest.warns(ValidationWarning, match="the stimulus is missing"):
        choices = from_trials(trials, stimulus_id="image", response="answer")
    assert choices["stimulus_id"].values.tolist() == ["1", "12"]
    assert choices["session"].values[0] == "3"
    exact = trials.assign(image=pd.array([2**53 + 1, None, 2**53], dtype="Int64"))
    with pytest.warns(ValidationWarning):
        choices = from_trials(exact, stimulus_id="image", response="answer")
    assert choices["stimulus_id"].values.tolist() == ["9007199254740993", "9007199254740992"]
    with pytest.raises(UserError, match=r"'stimulus_id' has identifiers that lost digits: .* is a rounded number"):
        from_trials(trials.assign(image=[2.0**53, None, 12.0]), stimulus_id="image", response="answer")


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("image;answer;rt\n001;é;0,5\n", "utf-8-sig"),
        ("image\tanswer\trt\n001\té\t0.5\n", "utf-16"),
        ("sep=|\nimage|answer|rt\n001|é|0.5\n", "utf-8"),
        ('image,answer,rt,"a;b;c;d;e"\n001,é,0.5,1\n', "utf-8"),
    ],
)
def test_separators_and_encodings(tmp_path, content, encoding):
    (tmp_path / "a.csv").write_bytes(content.encode(encoding))
    choices = from_trials(tmp_path / "a.csv", stimulus_id="image", response="answer")
    assert choices["stimulus_id"].values.tolist() == ["001"]
    assert choices.values.tolist() == ["é"]
    assert choices["rt"].values.tolist() == [0.5]


def test_descriptions_of_columns_by_qualtrics_are_left_out(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text('stim,Q1\nstim,"What, is it?"\n"{""ImportId"":""stim""}","{""ImportId"":""QID1""}"\na,cat\nb,dog\n')
    with pytest.warns(ValidationWarning, match=r"dropped 2 rows \(1, 2\): they describe the columns"):
        assert from_trials(path, stimulus_id="stim", response="Q1").values.tolist() == ["cat", "dog"]


def test_commas_of_thousands_are_not_decimals(tmp_path):
    (tmp_path / "a.csv").write_text("image;answer;ms\na;x;1,203\nb;y;987\n")
    with pytest.warns(ValidationWarning, match="commas separate thousands or decimals"):
        choices = from_trials(tmp_path / "a.csv", stimulus_id="image", response="answer")
    assert choices["ms"].values.tolist() == ["1,203", "987"]


def test_types_of_pandas_become_those_of_files(tmp_path):
    trials = pd.DataFrame(
        {
            "stimulus_id": pd.Categorical(["a", "b", "a"]),
            "response": pd.array([True, True, False], dtype="boolean"),
            "when": pd.to_datetime(["2026-01-01", "2026-01-02", None], utc=True),
            "count": pd.array([1, None, 3], dtype="Int64"),
            "level": pd.Categorical([1, 2, None]),
            "block": pd.array([1, 2, 3], dtype="Int64"),
            "note": pd.array(["x", None, "z"], dtype="string"),
            "clicks": [[1], [2], [3]],
            "a/b": [1, 2, 3],
        }
    )
    choices = from_trials(trials)
    assert choices.dtype == bool
    assert choices["stimulus_id"].values.tolist() == ["a", "b", "a"]
    assert choices["block"].dtype == np.int64
    assert "clicks" not in choices.coords
    assert choices["a_b"].values.tolist() == [1, 2, 3]
    package = package_data_assembly_locally(choices, "Lab2026", None, "BehavioralAssembly", tmp_path)
    loaded = read_netcdf(package["path"], BehavioralAssembly)
    for name in ("when", "count", "level", "note"):
        assert pd.Series(loaded[name].values).isna().sum() == 1
    assert loaded["count"].values[[0, 2]].tolist() == [1, 3]
    assert loaded["level"].values[:2].tolist() == [1, 2]
