import numpy as np
import pytest
from PIL import Image

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly, PropertyAssembly
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_vision import benchmark_registry, load_ceiling, load_metric, stimulus_set_registry
from brainscore_vision.benchmark_helpers import run_test as exported_run_test
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
from brainscore_vision.benchmark_helpers.test_helper import (
    NumberOfTrialsTests,
    PrecomputedTests,
    StandardizedTests,
    VisualDegreesTests,
    run_test,
)

IDS = [f"s{i:02d}" for i in range(40)]


@pytest.fixture
def registered(tmp_path, experiment, monkeypatch):
    """Benchmarks of one small experiment, under the names 'Author2024.IT-<metric>'; returns the features behind it."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((40, 5))
    weights = rng.standard_normal((5, 6))
    shown = [name for name in IDS for _ in range(4)]
    repeated = experiment.recordings(
        np.repeat(features @ weights, 4, axis=0) + 0.5 * rng.standard_normal((160, 6)),
        shown,
        stimuli=experiment.stimulus_set(tmp_path, IDS),
        repetition=[0, 1, 2, 3] * 40,
    )
    repeated["object_name"] = "presentation", [f"object{int(name[1:]) % 2}" for name in shown]

    def make(metric, trials=50, meaning=None):
        ceiling = load_ceiling("internal_consistency")(repeated)
        if meaning:
            ceiling.attrs["meaning"] = meaning
        return lambda: NeuralBenchmark(
            identifier=f"Author2024.IT-{metric}",
            version=1,
            assembly=average_repetition(repeated),
            similarity_metric=load_metric(metric),
            visual_degrees=8,
            number_of_trials=trials,
            ceiling_func=lambda: ceiling,
            parent="IT",
        )

    # the registry itself stays as it is
    added = {
        "Author2024.IT-ridge": make("ridge"),
        "Author2024.IT-rdm_cv": make("rdm_cv", trials=1, meaning="upper bound"),
    }
    for name, factory in added.items():
        benchmark_registry[name] = factory
    yield features
    for name in added:
        del benchmark_registry[name]


def features_file(path, values, **coords):
    assembly = NeuroidAssembly(
        values,
        coords={"neuroid_id": ("neuroid", np.arange(values.shape[1]))} | coords,
        dims=["presentation", "neuroid"],
    )
    write_netcdf(assembly, path)
    return path


def test_features_by_stimulus_id(registered, tmp_path):
    order = np.random.default_rng(1).permutation(40)
    path = features_file(
        tmp_path / "features.nc", registered[order], stimulus_id=("presentation", np.array(IDS)[order])
    )
    score = run_test("Author2024.IT-ridge", path)
    assert exported_run_test is run_test
    assert float(score.attrs["raw"]) > 0.9
    again = run_test(benchmark=benchmark_registry["Author2024.IT-ridge"](), precomputed_features_filepath=path)
    assert float(again) == float(score)
    PrecomputedTests().run_test("Author2024.IT-ridge", path, expected=pytest.approx(float(score.raw), abs=1e-9))
    with pytest.raises(AssertionError, match=r"raw score of features\.nc is 0\.9.*expected 0\.5"):
        PrecomputedTests().run_test("Author2024.IT-ridge", path, expected=pytest.approx(0.5, abs=0.01))


def test_features_by_file_name_whatever_their_order(registered, tmp_path):
    by_id = features_file(tmp_path / "by_id.nc", registered, stimulus_id=("presentation", IDS))
    order = np.random.default_rng(1).permutation(40)
    names = [f"/elsewhere/{IDS[number]}.png" for number in order]
    by_name = features_file(tmp_path / "by_name.nc", registered[order], stimulus_path=("presentation", names))
    expected = float(run_test("Author2024.IT-ridge", by_id))
    assert float(run_test("Author2024.IT-ridge", by_name)) == pytest.approx(expected, abs=1e-9)


def test_features_of_other_files_are_refused(registered, tmp_path):
    names = [f"{name}.png" for name in IDS[:-1]] + ["another.png"]
    path = features_file(tmp_path / "features.nc", registered, stimulus_path=("presentation", names))
    with pytest.raises(UserError, match=r"other files(.|\n)*another\.png, s39\.png"):
        run_test("Author2024.IT-ridge", path)


def test_only_benchmarks_with_recordings():
    class Other(BenchmarkBase):
        def __call__(self, candidate):
            return Score(1)

    with pytest.raises(UserError, match="'Author2024-accuracy' does not say what it measures"):
        run_test(Other("Author2024-accuracy", lambda: 1, 1), "features.nc")


def test_ceiling(registered):
    ceiling = float(benchmark_registry["Author2024.IT-ridge"]().ceiling)
    StandardizedTests().ceilings_test("Author2024.IT-ridge", expected=pytest.approx(ceiling, abs=1e-6))
    with pytest.raises(AssertionError, match=r"the ceiling of 'Author2024\.IT-ridge'"):
        StandardizedTests().ceilings_test("Author2024.IT-ridge", expected=pytest.approx(0.1, abs=1e-3))


def test_recordings_on_themselves(registered):
    StandardizedTests().self_regression_test(
        "Author2024.IT-ridge", visual_degrees=8, expected=pytest.approx(1, abs=0.02)
    )
    StandardizedTests().self_rdm_test("Author2024.IT-rdm_cv", visual_degrees=8, expected=pytest.approx(1))
    with pytest.raises(AssertionError, match="on themselves"):
        StandardizedTests().self_rdm_test("Author2024.IT-rdm_cv", visual_degrees=8, expected=0.5)
    with pytest.raises(AssertionError, match="have no neuroids"):
        StandardizedTests().self_regression_test("Author2024.IT-rdm_cv", visual_degrees=8, expected=pytest.approx(1))


@pytest.mark.parametrize("degrees", [4, 8, 16])
def test_amount_of_grey(registered, degrees):
    size = degrees  # the pictures have 8 pixels for 8°, none of them grey
    expected = max(0, size**2 - 64) / (3 * size**2)
    VisualDegreesTests().amount_gray_test("Author2024.IT-ridge", degrees, "s03", pytest.approx(expected, abs=1e-9))
    with pytest.raises(AssertionError, match="the grey part of 's03'"):
        VisualDegreesTests().amount_gray_test("Author2024.IT-ridge", degrees, "s03", 0.9)


def test_number_of_trials(registered):
    NumberOfTrialsTests().repetitions_test("Author2024.IT-ridge")
    with pytest.raises(AssertionError, match="1 time"):
        NumberOfTrialsTests().repetitions_test("Author2024.IT-rdm_cv")


def test_a_benchmark_that_shows_nothing(monkeypatch):
    class Silent(BenchmarkBase):
        def __call__(self, candidate):
            return Score(1)

    monkeypatch.setattr(
        "brainscore_vision.registries.load_benchmark", lambda identifier: Silent("Silent2024-accuracy", lambda: 1, 1)
    )
    with pytest.raises(AssertionError, match="showed the model no stimuli"):
        NumberOfTrialsTests().repetitions_test("Silent2024-accuracy")


def test_features_of_several_stimulus_sets(tmp_path, experiment, s3_server):
    """A benchmark of properties shows several sets; their features may lie in the public bucket."""
    import boto3

    sets = {name: experiment.stimulus_set(tmp_path, [f"{name}0", f"{name}1"], f"Author2024_{name}") for name in "ab"}
    paths = {}
    for number, (name, stimuli) in enumerate(sets.items()):
        features = PropertyAssembly(
            [[1.0 + number, 2.0], [3.0, 4.0]],
            coords={
                "stimulus_path": ("presentation", [f"{stimulus}.png" for stimulus in stimuli["stimulus_id"]]),
                "neuroid_id": ("neuroid", [0, 1]),
            },
            dims=["presentation", "neuroid"],
        )
        paths[f"Author2024_{name}"] = tmp_path / f"features_{name}.nc"
        write_netcdf(features, paths[f"Author2024_{name}"])

    class Sum(BenchmarkBase):
        def measurements(self):
            return VisualMeasurements(benchmark="", measured=None, compares="properties", visual_degrees=None)

        def __call__(self, candidate):
            candidate.start_recording("V1", time_bins=[(70, 170)])
            total = sum(float(candidate.look_at(stimuli).values.sum()) for stimuli in sets.values())
            score = Score(total)
            score.attrs["raw"] = Score(total)
            return score

    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket="brainscore-unittests")
    remote = paths["Author2024_b"]
    client.upload_file(
        str(remote), "brainscore-unittests", f"tests/test_benchmarks/{remote.name}", ExtraArgs={"ACL": "public-read"}
    )
    remote.unlink()
    files = {"Author2024_a": paths["Author2024_a"], "Author2024_b": remote.name}
    for name, stimuli in sets.items():
        stimulus_set_registry[f"Author2024_{name}"] = lambda stimuli=stimuli: stimuli
    benchmark_registry["Author2024_properties"] = lambda: Sum("Author2024_properties", lambda: 1, 1)
    try:
        PrecomputedTests().run_test_properties("Author2024_properties", files, expected=21)
        with pytest.raises(AssertionError, match="is 21"):
            PrecomputedTests().run_test_properties("Author2024_properties", files, expected=20)
    finally:
        del benchmark_registry["Author2024_properties"]
        for name in sets:
            del stimulus_set_registry[f"Author2024_{name}"]


def test_grey_pictures_have_no_colour_to_be_grey(registered, tmp_path):
    benchmark = benchmark_registry["Author2024.IT-ridge"]()
    Image.new("L", (8, 8), 128).save(tmp_path / "s03.png")
    VisualDegreesTests().amount_gray_test(benchmark, 8, "s03", 0.0)
