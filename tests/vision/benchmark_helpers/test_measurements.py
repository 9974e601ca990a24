import numpy as np
import pytest

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import MissingColumn, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_metric
from brainscore_vision.assessment.dependence import parts_of, repetitions_of
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    describe,
    of_region,
    require_coords,
    rows_with,
    single_time_bin,
)
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    RSABenchmark,
    TrainTestNeuralBenchmark,
    average_repetition,
)
from brainscore_vision.testing import small_models


def recordings(time_bins=1):
    assembly = NeuroidAssembly(
        np.arange(6.0 * time_bins).reshape(3, 2, time_bins),
        coords={
            "stimulus_id": ("presentation", ["a", "b", "a"]),
            "repetition": ("presentation", [0, 0, 1]),
            "neuroid_id": ("neuroid", [1, 2]),
            "region": ("neuroid", ["V4", "IT"]),
            "time_bin_start": ("time_bin", 70 + 100 * np.arange(time_bins)),
            "time_bin_end": ("time_bin", 170 + 100 * np.arange(time_bins)),
        },
        dims=["presentation", "neuroid", "time_bin"],
        attrs={"identifier": "Author2024"},
    )
    assembly.encoding["source"] = "/data/assy_Author2024.nc"
    return assembly


@pytest.mark.parametrize(
    ("assembly", "expected"),
    [
        (recordings(), "Author2024 (/data/assy_Author2024.nc)"),
        (DataAssembly([1.0], dims=["presentation"], name="unnamed"), "unnamed"),
        (DataAssembly([1.0], dims=["presentation"]), "the assembly"),
    ],
)
def test_describe(assembly, expected):
    assert describe(assembly) == expected


def test_one_time_bin():
    squeezed = single_time_bin(recordings())
    assert squeezed.dims == ("presentation", "neuroid")
    assert (int(squeezed["time_bin_start"]), int(squeezed["time_bin_end"])) == (70, 170)
    assert single_time_bin(squeezed) is squeezed


@pytest.mark.parametrize("time_bins", [0, 2, 9])
def test_another_number_of_time_bins(time_bins):
    with pytest.raises(
        UserError, match=rf"^Author2024 \(/data/assy_Author2024\.nc\) has {time_bins} time bins .*'time_bin_start'"
    ) as error:
        single_time_bin(recordings(time_bins))
    assert ("70, 170" in error.value.message) is (time_bins > 1)
    assert "assembly.sel(time_bin_start=70)" in error.value.remedy


def test_time_bins_without_times():
    bare = DataAssembly(np.zeros((1, 2)), dims=["presentation", "time_bin"])
    with pytest.raises(UserError, match="'time_bin_start' is missing"):
        single_time_bin(bare)


def test_region():
    turned = recordings().transpose("neuroid", "time_bin", "presentation")
    selected = of_region(turned, "IT")
    assert selected.dims == ("presentation", "neuroid", "time_bin")
    assert list(selected["neuroid_id"].values) == [2]
    with pytest.raises(
        UserError, match=r"assy_Author2024\.nc\) has no neuroid whose coordinate 'region' is 'V1'"
    ) as error:
        of_region(turned, "V1")
    assert error.value.remedy == "its regions are IT, V4"


@pytest.mark.parametrize(("name", "dim"), [("subject", "neuroid"), ("region", "presentation")])
def test_required_coordinates(name, dim):
    require_coords(recordings(), {"region": "neuroid", "repetition": "presentation"})
    with pytest.raises(UserError, match=rf"assy_Author2024\.nc\) has no coordinate '{name}' on {dim}; there are "):
        require_coords(recordings(), {name: dim})


class TestNeuralBenchmark:
    """Bad data, after repetitions were averaged."""

    def score(self, assembly, tmp_path):
        from PIL import Image

        stimuli = StimulusSet({"stimulus_id": ["a", "b"]})
        paths = {one: tmp_path / f"{one}.png" for one in "ab"}
        for number, path in enumerate(paths.values()):
            Image.fromarray(np.full((8, 8, 3), 50 * number, dtype=np.uint8)).save(path)
        stimuli.stimulus_paths = paths
        stimuli.identifier = "Author2024"
        assembly.attrs.setdefault("stimulus_set", stimuli)
        benchmark = NeuralBenchmark(
            "Author2024.IT-pls", average_repetition(assembly), load_metric("pls"), 8, 1, lambda: 0.5, 1
        )
        benchmark(small_models()[0])

    def test_two_time_bins_where_one_is_meant(self, tmp_path):
        match = r"^Author2024\.IT-pls, Author2024 \(/data/assy_Author2024\.nc\): .* time_bin: 2"
        with pytest.raises(UserError, match=match):
            self.score(recordings(2).sel(region="IT"), tmp_path)

    def test_ids_without_stimuli(self, tmp_path):
        assembly = recordings().sel(region="IT")
        assembly.attrs["stimulus_set"] = StimulusSet({"stimulus_id": ["b", "c"]})
        match = r"^Author2024 \(/data/assy_Author2024\.nc\): 1 values of the coordinate 'stimulus_id' .*: a"
        with pytest.raises(UserError, match=match):
            self.score(assembly, tmp_path)

    def test_no_ids(self, tmp_path):
        assembly = recordings().sel(region="IT").drop_vars("stimulus_id")
        with pytest.raises(UserError, match=r"assy_Author2024\.nc\) has no coordinate 'stimulus_id' on presentation"):
            self.score(assembly, tmp_path)


def test_missing_columns_and_values_are_named():
    stimuli = StimulusSet({"stimulus_id": ["a"], "Truth": ["cat"]})
    assembly = DataAssembly([1.0], coords={"orientation": ("presentation", ["normal"])}, dims=["presentation"])
    for select in (lambda: stimuli["truth"], lambda: stimuli[["stimulus_id", "truth"]]):
        with pytest.raises(
            MissingColumn, match="no column 'truth'; it has stimulus_id, Truth\n'truth' and 'Truth' differ"
        ):
            select()
    with pytest.raises(MissingColumn, match="no coordinate 'truth'; it has orientation"):
        assembly["truth"]
    with pytest.raises(UserError, match=r"has no 'orientation' 'Normal'; there are 'normal'\n.* capitals"):
        rows_with(assembly, "orientation", "Normal")


class Own(BenchmarkBase):
    """A user's benchmark, which may say what it measures."""

    def __init__(self, says=None):
        super().__init__(identifier="Author2024.V4-own", version=1, parent="V4", ceiling_func=lambda: None)
        self._says = says

    def __call__(self, candidate):
        raise NotImplementedError

    def measurements(self):
        return self._says and VisualMeasurements(benchmark=self.identifier, visual_degrees=8, **self._says)


def ways(single):
    """Benchmarks on the same recordings, written in all ways."""
    averages = average_repetition(single)
    shared = {"identifier": "Author2024.V4-x", "version": 1, "visual_degrees": 8, "number_of_trials": 2}
    fitted = shared | {"similarity_metric": load_metric("pls"), "ceiling_func": lambda: None, "parent": "V4"}
    return {
        "NeuralBenchmark": NeuralBenchmark(assembly=averages, repetitions=single, **fitted),
        "TrainTestNeuralBenchmark": TrainTestNeuralBenchmark(
            train_assembly=averages, test_assembly=averages, repetitions=single, **fitted
        ),
        "RSABenchmark": RSABenchmark(assembly=averages, region="V4", repetitions=single, **shared),
        "own class": Own({"measured": averages, "repetitions": single}),
        "own class, not averaged": Own({"measured": single}),
    }


@pytest.mark.parametrize("way", list(ways(recordings())))
def test_repetitions_are_known_however_a_benchmark_is_written(way):
    single = recordings()
    (known,), reason = repetitions_of(parts_of(ways(single)[way]))
    np.testing.assert_array_equal(known.values, single_time_bin(single).values)
    assert list(known["repetition"].values) == [0, 0, 1]
    assert reason is None


def test_benchmarks_whose_repetitions_are_unknown_say_so():
    with pytest.raises(UserError, match="does not say what it measures"):
        parts_of(Own())
    known, reason = repetitions_of(parts_of(Own({"measured": average_repetition(recordings())})))
    assert (known, reason) == ([], "single repetitions of the recordings of 'Author2024.V4-own' are not known")
