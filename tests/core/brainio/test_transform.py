import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.transform import subset


def responses(ids, neuroids=(1, 2, 3), cls=NeuroidAssembly, **levels):
    coords = {"stimulus_id": ("presentation", list(ids)), "neuroid_id": ("neuroid", list(neuroids))}
    coords |= {name: ("presentation", values) for name, values in levels.items()}
    values = np.arange(len(ids) * len(neuroids)).reshape(len(ids), len(neuroids))
    return cls(values, coords=coords, dims=["presentation", "neuroid"])


def test_restricts_every_dimension_in_the_sources_order():
    source, target = responses("dcbab"), responses("bd", neuroids=[3, 1])
    restricted = subset(source, target)
    assert restricted["stimulus_id"].values.tolist() == ["d", "b", "b"]
    assert restricted["neuroid_id"].values.tolist() == [1, 3]
    assert type(restricted) is NeuroidAssembly
    assert restricted.values.tolist() == [[0, 2], [6, 8], [12, 14]]


def test_only_named_dimensions_or_levels():
    source, target = responses("dcba"), responses("bd", neuroids=[3], day=[0, 1])
    assert subset(source, target, dims=["presentation"]).shape == (2, 3)
    assert subset(source, target, dims="neuroid").shape == (4, 1)
    assert subset(source, target, dims=["stimulus_id"]).shape == (2, 3)


def test_only_levels_in_common_count():
    source = responses("aabb", day=[0, 1, 0, 1])
    target = responses("ab", day=[1, 1], size=[3, 4])
    assert subset(source, target)["day"].values.tolist() == [1, 1]


def test_repeat_follows_the_target():
    source, target = responses("abca"), responses("ccaz")
    repeated = subset(source, target, dims=["presentation"], repeat=True)
    assert repeated["stimulus_id"].values.tolist() == ["c", "c", "a", "a"]
    assert repeated.values[:, 0].tolist() == [6, 6, 0, 9]
    both = subset(responses("aab", day=[0, 1, 0]), responses("aaa", day=[1, 1, 0]), dims=["presentation"], repeat=True)
    assert both.values[:, 0].tolist() == [3, 3, 0]


def test_missing_dimension():
    source, target = responses("ab").isel(neuroid=0), responses("a")
    with pytest.raises(KeyError, match="neuroid"):
        subset(source, target)
    assert subset(source, target, dims_must_match=False).shape == (1,)
    with pytest.raises(KeyError, match="presentatoin"):
        subset(source, target, dims=["presentatoin"])


def test_no_common_level():
    other = DataAssembly([1], coords={"image": ("presentation", ["a"])}, dims=["presentation"])
    with pytest.raises(ValueError, match="no level in common"):
        subset(responses("ab"), other)


def test_nothing_left():
    assert subset(responses("ab"), responses("z"), dims=["presentation"]).shape == (0, 3)
    assert subset(responses("ab"), responses(""), dims=["presentation"], repeat=True).shape == (0, 3)
    assert subset(responses(""), responses("a"), dims=["presentation"], repeat=True).shape == (0, 3)


def test_missing_values_match_each_other():
    source, target = responses("ab", size=[np.nan, 1.0]), responses("ab", size=[np.nan, np.nan])
    assert subset(source, target)["stimulus_id"].values.tolist() == ["a"]


@given(st.lists(st.sampled_from("abcd"), max_size=10), st.lists(st.sampled_from("abcde"), max_size=10))
def test_as_a_loop_would(have, wanted):
    source, target = responses(have, neuroids=[1]), responses(wanted, neuroids=[1])
    assert subset(source, target).values.ravel().tolist() == [i for i, one in enumerate(have) if one in wanted]
    repeated = subset(source, target, dims=["stimulus_id"], repeat=True)
    assert repeated.values.ravel().tolist() == [i for want in wanted for i, one in enumerate(have) if one == want]


def test_does_not_grow_with_the_square():
    ids = [f"s{i}" for i in range(50_000)]
    source = DataAssembly(np.arange(50_000), coords={"stimulus_id": ("presentation", ids)}, dims=["presentation"])
    target = source.isel(presentation=slice(None, None, -1))
    start = time.process_time()  # of the processor, whatever else the machine does
    assert subset(source, target, repeat=True).values[0] == 49_999
    assert subset(source, target).sizes["presentation"] == 50_000
    assert time.process_time() - start < 20  # 2.5 billion comparisons take minutes
