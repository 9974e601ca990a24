import copy
import pickle
import warnings
from pathlib import Path

import pandas as pd
import pytest

from brainscore_core.supported_data_standards.brainio import stimuli as module
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

ROWS = [
    {"stimulus_id": "img_001", "category": "face", "emotion": "happy"},
    {"stimulus_id": "img_002", "category": "face", "emotion": "sad"},
    {"stimulus_id": "img_003", "category": "object", "subcategory": "car"},
]


def make(identifier="MyExperiment2024", folder="/stimuli"):
    stimuli = StimulusSet(ROWS)
    stimuli.name = identifier
    stimuli.stimulus_paths = {row["stimulus_id"]: f"{folder}/{row['stimulus_id']}.jpg" for row in ROWS}
    return stimuli


OTHER = pd.DataFrame({"stimulus_id": ["img_001", "img_003"], "size": [1.0, 2.0]})

OPERATIONS = {
    "copy": lambda s: s.copy(),
    "shallow copy": lambda s: s.copy(deep=False),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda s: pickle.loads(pickle.dumps(s)),
    "constructor": StimulusSet,
    "boolean": lambda s: s[s["category"] == "face"],
    "columns": lambda s: s[["stimulus_id"]],
    "slice": lambda s: s[1:],
    "loc": lambda s: s.loc[[0, 2]],
    "iloc": lambda s: s.iloc[:1],
    "query": lambda s: s.query("category == 'face'"),
    "sort_values": lambda s: s.sort_values("stimulus_id", ascending=False),
    "reset_index": lambda s: s[1:].reset_index(drop=True),
    "set_index": lambda s: s.set_index("stimulus_id"),
    "merge": lambda s: s.merge(OTHER, on="stimulus_id", how="left"),
    "pd.merge": lambda s: pd.merge(s, OTHER, on="stimulus_id"),
    "join": lambda s: s.join(pd.DataFrame({"k": [1, 2, 3]})),
    "merge with itself": lambda s: s.merge(s, on="stimulus_id"),
    "concat": lambda s: pd.concat([s[:1], s[1:]]),
    "concat columns": lambda s: pd.concat([s, pd.DataFrame({"k": [1, 2, 3]})], axis=1),
    "groupby head": lambda s: s.groupby("category").head(1),
    "groupby apply": lambda s: s.groupby("category")[["stimulus_id", "emotion"]].apply(lambda part: part.head(1)),
    "groupby filter": lambda s: s.groupby("category").filter(lambda part: len(part) > 1),
    "group": lambda s: dict(list(s.groupby("category")))["face"],
    "assign": lambda s: s.assign(size=1),
    "drop": lambda s: s.drop(columns="emotion"),
    "drop_duplicates": lambda s: s.drop_duplicates("category"),
    "dropna": lambda s: s.dropna(subset=["emotion"]),
    "fillna": lambda s: s.fillna("none"),
    "rename": lambda s: s.rename(columns={"emotion": "mood"}),
    "astype": lambda s: s.astype(object),
    "sample": lambda s: s.sample(2, random_state=0),
    "reindex": lambda s: s.reindex([2, 1, 0]),
    "replace": lambda s: s.replace("face", "head"),
    "explode": lambda s: s.explode("category"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_survives(name):
    stimuli = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = OPERATIONS[name](stimuli)
    assert type(result) is StimulusSet
    assert result.identifier == result.name == "MyExperiment2024"
    assert result.stimulus_paths == stimuli.stimulus_paths
    assert result.get_stimulus("img_002") == Path("/stimuli/img_002.jpg")


def test_identifier_and_name_are_the_same():
    stimuli = StimulusSet(ROWS)
    assert stimuli.identifier is None
    stimuli.name = "a"
    assert stimuli.identifier == "a"
    stimuli.identifier = "b.c"
    assert stimuli.name == "b.c"


def test_groups_know_their_key():
    seen = []
    make().groupby("category")[["emotion"]].apply(lambda part: seen.append((part.name, part.identifier)))
    assert seen == [("face", "MyExperiment2024"), ("object", "MyExperiment2024")]


def test_columns_called_like_them_do_no_harm():
    stimuli = make()
    stimuli["name"] = ["x", "y", "z"]
    stimuli["identifier"] = 1
    assert stimuli.name == "MyExperiment2024"
    assert stimuli["name"].tolist() == ["x", "y", "z"]


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stimuli = make()
        stimuli.identifier = "x"
        stimuli.original_paths = {"img_001": "a.png"}
        assert stimuli[1:].original_paths == {"img_001": "a.png"}  # as it was set


@pytest.mark.parametrize("data", [ROWS, pd.DataFrame(ROWS), {"stimulus_id": ["img_001"]}, None])
def test_construction(data):
    stimuli = StimulusSet(data)
    assert type(stimuli) is StimulusSet
    assert isinstance(stimuli, pd.DataFrame)
    assert stimuli.stimulus_paths == {}


def test_tutorial_loop():
    stimuli = StimulusSet(pd.DataFrame({"stimulus_id": ["1", "2"], "image_filename": ["a.png", "b.wav"]}))
    stimuli.stimulus_paths = {
        str(row["stimulus_id"]): Path("d") / row["image_filename"] for _, row in stimuli.iterrows()
    }
    assert stimuli.get_stimulus("2") == Path("d/b.wav")
    assert stimuli.get_image("1") == Path("d/a.png")


def test_paths_can_be_added_one_by_one():
    stimuli = StimulusSet(ROWS)
    stimuli.stimulus_paths["img_001"] = "somewhere.png"
    assert stimuli.get_stimulus("img_001") == Path("somewhere.png")


def test_a_copy_is_independent():
    stimuli = make()
    copied = stimuli.copy()
    copied.stimulus_paths["img_001"] = Path("other.png")
    copied.identifier = "Other"
    assert stimuli.get_stimulus("img_001") == Path("/stimuli/img_001.jpg")
    assert stimuli.identifier == "MyExperiment2024"


def test_callers_paths_are_left_alone():
    paths = {"img_001": "a.png"}
    stimuli = StimulusSet(ROWS)
    stimuli.stimulus_paths = paths
    stimuli.stimulus_paths["x"] = Path("y")
    assert paths == {"img_001": "a.png"}


def test_unknown_stimulus():
    with pytest.raises(KeyError, match="'img_01'") as error:
        make().get_stimulus("img_01")
    assert "img_001" in str(error.value)
    assert "MyExperiment2024" in str(error.value)


def test_number_instead_of_string():
    stimuli = StimulusSet([{"stimulus_id": "1"}])
    stimuli.stimulus_paths = {"1": "a.png"}
    with pytest.raises(KeyError, match="ids are strings: '1'"):
        stimuli.get_stimulus(1)


def test_without_files():
    from brainscore_core.errors import UserError

    with pytest.raises(UserError, match="has no file; none"):
        StimulusSet(ROWS).get_stimulus("img_001")


def test_wrong_paths():
    with pytest.raises(TypeError, match="list"):
        make().stimulus_paths = ["a.png"]


def test_merge_takes_the_left_ones_name():
    left, right = make("Left"), make("Right")
    assert left.merge(right[["stimulus_id"]], on="stimulus_id").identifier == "Left"


def test_concat_of_different_sets():
    one, two = make("One", "/one"), make("Two", "/two")
    two.stimulus_paths = {"img_002": "/one/img_002.jpg", "img_003": "/two/img_003.jpg"}
    together = pd.concat([one, two])
    assert together.identifier is None
    assert set(together.stimulus_paths) == {"img_001", "img_002"}


def test_original_paths():
    stimuli = make()
    assert stimuli.original_paths is None
    stimuli.original_paths = stimuli.stimulus_paths
    assert pickle.loads(pickle.dumps(stimuli)).original_paths == stimuli.stimulus_paths


def test_series_is_plain():
    assert type(make()["category"]) is pd.Series


def test_from_files(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.wav").write_bytes(b"sound")
    (tmp_path / "set.csv").write_text("stimulus_id,filename,loudness\n001,a.wav,3\n")
    stimuli = StimulusSet.from_files(tmp_path / "set.csv", tmp_path / "files")
    assert stimuli.get_stimulus("001").read_bytes() == b"sound"
    loader = module.StimulusSetLoader(module.StimulusSet, tmp_path / "set.csv", tmp_path / "files")
    assert StimulusSet.from_loader(loader).stimulus_paths == stimuli.stimulus_paths
    assert StimulusSet.from_loader(tmp_path / "set.csv")["loudness"].tolist() == [3]


def test_unknown_module_attribute():
    with pytest.raises(AttributeError, match="nothing"):
        module.nothing  # noqa: B018 - reading it raises
