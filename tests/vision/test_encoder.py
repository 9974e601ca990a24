"""Maps from features to neuroids that are saved and applied to new pictures."""

import hashlib
import io
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_metric
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, TrainTestNeuralBenchmark
from brainscore_vision.model_sources.unregistered import wrap_model
from brainscore_vision.scoring import encoder as encoder_module
from brainscore_vision.scoring.encoder import Encoder, fit_encoder, stimuli_of_folder

NAME = "Tiny2026.IT-map"


def coarse(images):
    grids = [image[:: len(image) // 4, :: image.shape[1] // 4][:4, :4] for image in images]
    return np.stack([grid.reshape(-1) / 255 for grid in grids]).astype(np.float32)


def brighter(images):
    return 1.2 * coarse(images)


brighter.__name__ = "coarse"  # its layer has the same name


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for number in range(48):
        Image.fromarray(rng.integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(folder / f"{number:02}.png")
    return folder


@pytest.fixture
def register(pictures, monkeypatch):
    """Register a benchmark of generated recordings, with fixed training stimuli and two animals if it is `fixed`."""

    def assembly(names):
        rng = np.random.default_rng(1)
        shown = np.stack([np.asarray(Image.open(pictures / name)) for name in names])
        values = shown[:, ::8, ::8].reshape(len(names), -1)[:, :60] @ rng.standard_normal((60, 6)) / 100
        made = NeuroidAssembly(
            values + rng.standard_normal(values.shape),
            coords={
                "stimulus_id": ("presentation", list(names)),
                "neuroid_id": ("neuroid", list("abcdef")),
                "animal": ("neuroid", ["x", "y"] * 3),
                "region": ("neuroid", ["IT"] * 6),
            },
            dims=["presentation", "neuroid"],
        )
        stimuli = StimulusSet({"stimulus_id": list(names)})
        stimuli.stimulus_paths = {name: pictures / name for name in names}
        stimuli.identifier = f"tiny-{len(names)}-{names[0]}"
        made.attrs["stimulus_set"] = stimuli
        return made

    def add(metric, fixed=False):
        names = sorted(path.name for path in pictures.iterdir())
        common = {"visual_degrees": 8, "number_of_trials": 1, "version": 1, "ceiling_func": lambda: Score(1.0)}
        if fixed:
            made = TrainTestNeuralBenchmark(
                NAME, train_assembly=assembly(names[:36]), test_assembly=assembly(names[36:]),
                similarity_metric=metric, alpha_coord="animal", **common,
            )  # fmt: skip
        else:
            made = NeuralBenchmark(NAME, assembly=assembly(names), similarity_metric=metric, **common)
        monkeypatch.setattr(encoder_module, "resolve_benchmark", lambda name: name)
        monkeypatch.setattr(encoder_module, "load_benchmark", {NAME: made}.__getitem__)
        return made

    return add


def recorded(stimuli):
    model = wrap_model(coarse)
    model.start_recording("IT", [(70, 170)])
    return model.look_at(stimuli)


@pytest.mark.parametrize(
    ("name", "options"),
    [("pls", {"regression_kwargs": {"n_components": 3}}), ("ridge", {}), ("ridgecv", {}), ("linear_predictivity", {})],
)
def test_predictions_are_those_inside_the_score(register, pictures, name, options):
    metric = load_metric(name, **options)
    measured = register(metric).measurements().target()
    inside = metric(recorded(measured.stimulus_set), measured).attrs["predictions"]
    tested = inside.isel(presentation=np.flatnonzero(inside["split"].values == 2))
    predicted = fit_encoder(coarse, NAME, split=2).predict(stimuli_of_folder(pictures), model=coarse)
    rows = [predicted["stimulus_id"].values.tolist().index(name) for name in tested["stimulus_id"].values]
    assert predicted["neuroid_id"].values.tolist() == list("abcdef")
    np.testing.assert_allclose(predicted.values[rows], tested.values, rtol=0, atol=1e-10)


def test_neuroids_of_each_animal_are_fitted_separately(register):
    metric = load_metric("ridgecv_split")
    measurements = register(metric, fixed=True).measurements()
    predicted = fit_encoder(coarse, NAME).predict(measurements.measured.stimulus_set, model=coarse)
    train, test = measurements.training, measurements.measured
    for animal in ("x", "y"):
        neuroids = np.flatnonzero(test["animal"].values == animal)
        score = metric(
            source_train=recorded(train.stimulus_set), source_test=recorded(test.stimulus_set),
            target_train=train.isel(neuroid=neuroids), target_test=test.isel(neuroid=neuroids),
        )  # fmt: skip
        inside = score.attrs["predictions"].values
        np.testing.assert_allclose(predicted.values[:, neuroids], inside, rtol=0, atol=1e-10)


def test_a_saved_encoder_predicts_the_same_and_refuses_other_models(register, pictures, tmp_path):
    register(load_metric("ridge"))
    fitted = fit_encoder(coarse, NAME)
    encoder = Encoder.load(fitted.save(tmp_path / "encoder"))
    described = json.loads((tmp_path / "encoder" / "encoder.json").read_text(encoding="utf-8"))
    assert (described["model"], described["region"], described["benchmark"]) == ("coarse", "IT", NAME)
    assert described["visual_degrees"] == 8
    assert described["metric"].startswith("Ridge(alpha=1.0")
    stimuli = stimuli_of_folder(pictures)
    predicted = encoder.predict(stimuli, model=coarse)
    np.testing.assert_array_equal(predicted.values, fitted.predict(stimuli, model=coarse).values)
    assert not np.allclose(encoder.predict(stimuli, model=coarse, visual_degrees=4).values, predicted.values)
    with pytest.raises(UserError, match="features of test pictures differ"):
        encoder.predict(stimuli, model=brighter)
    with pytest.raises(UserError, match="features of"):
        encoder.predict(stimuli, model=lambda images: coarse(images)[:, :40])
    with pytest.raises(UserError, match="no split 30"):
        fit_encoder(coarse, NAME, split=30)


def test_damaged_and_foreign_files_are_refused_and_run_nothing(register, tmp_path):
    register(load_metric("ridge"))
    folder = fit_encoder(coarse, NAME).save(tmp_path / "encoder")
    described = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
    (folder / "map.npz").write_bytes((folder / "map.npz").read_bytes()[:-1])
    with pytest.raises(UserError, match=r"map\.npz is not the file"):
        Encoder.load(folder)

    class Runs:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    stream = io.BytesIO()
    np.savez(stream, **dict.fromkeys(("weights", "feature_mean", "response_mean", "probe"), np.array([Runs()])))
    (folder / "map.npz").write_bytes(stream.getvalue())
    described["map_sha256"] = hashlib.sha256(stream.getvalue()).hexdigest()
    (folder / "encoder.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(UserError, match="cannot be read as an encoder"):
        Encoder.load(folder)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(UserError, match="there are no pictures"):
        stimuli_of_folder(tmp_path)
    if os.name == "posix":
        Path(tmp_path, os.fsdecode(b"\xff.png")).touch()
        with pytest.raises(UserError, match="is not valid Unicode"):
            stimuli_of_folder(tmp_path)


@pytest.mark.parametrize(
    ("description", "arrays", "problem"),
    [
        ({"model": "{folder}/mine.py:make"}, {}, "names a file as the model"),
        ({"layers": 3}, {}, "iterable"),
        ({"layers": []}, {}, "layers"),
        ({"time_bins": [[70]]}, {}, "unpack"),
        ({"picture_size": [100_000, 100_000]}, {}, "picture_size"),
        ({"picture_size": [0, 5]}, {}, "visual angles"),
        ({"neuroids": {"neuroid_id": "abcdef"}}, {}, "coordinates"),
        ({}, {"weights": np.nan}, "not finite"),
        ({}, {"probe": 1e300}, "not finite"),
        ({}, {"probe": np.zeros((0, 48))}, "do not fit together"),
    ],
)
def test_descriptions_and_arrays_of_another_form_are_refused(register, tmp_path, description, arrays, problem):
    register(load_metric("ridge"))
    fitted = fit_encoder(coarse, NAME)
    (tmp_path / "mine.py").write_text("raise RuntimeError('the encoder ran a file')", encoding="utf-8")
    changed = json.loads(json.dumps(description).replace("{folder}", tmp_path.as_posix()))
    for name, value in arrays.items():
        arrays = {name: np.full_like(getattr(fitted, name), value) if np.ndim(value) == 0 else value}
    neuroids = changed.pop("neuroids", fitted.neuroids)
    encoder = replace(fitted, description=fitted.description | changed, neuroids=neuroids, **arrays)
    with pytest.raises(UserError, match=f"cannot be read as an encoder: .*{problem}"):
        Encoder.load(encoder.save(tmp_path / "encoder"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", "compressed"])
def test_maps_that_are_no_archive_of_stored_arrays_are_refused(register, tmp_path, content):
    register(load_metric("ridge"))
    folder = fit_encoder(coarse, NAME).save(tmp_path / "encoder")
    if content == "compressed":
        stream = io.BytesIO()
        np.savez_compressed(stream, weights=np.zeros(10**6))
        content = stream.getvalue()
    described = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
    described["map_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "map.npz").write_bytes(content)
    (folder / "encoder.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(UserError, match="cannot be read as an encoder"):
        Encoder.load(folder)


def test_models_with_random_features_have_no_encoder(register):
    register(load_metric("ridge"))
    random = np.random.default_rng(0)
    with pytest.raises(UserError, match="differ when it is shown the same pictures again"):
        fit_encoder(lambda images: random.random((len(images), 30)), NAME)


def test_too_few_features_for_the_metric_are_no_fault_of_the_program(register):
    register(load_metric("pls"))  # of 25 components
    with pytest.raises(UserError, match=r"cannot be fitted: PLS with 25 components .* 3 features"):
        fit_encoder(lambda images: coarse(images)[:, :3], NAME)


def test_metrics_without_a_map_to_neuroids(register):
    for name in ("reverse_ridge", "neuron_to_neuron", "rdm"):
        register(load_metric(name))
        with pytest.raises(UserError, match="fits no linear map"):
            fit_encoder(coarse, NAME)
