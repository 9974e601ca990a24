"""Pictures of stimuli."""

from io import BytesIO

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.assessment import audit
from brainscore_web.leaderboard.models import Benchmark, StimulusSample
from brainscore_web.operations.management.commands import sample_stimuli

PIL = pytest.importorskip("PIL.Image")


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture
def benchmark(db):
    return Benchmark.objects.create(identifier="Some2026-pls", access="public")


@pytest.fixture
def stimuli(tmp_path, monkeypatch):
    """Twenty-one images of 30 × 400 pixels, each of one grey, as those of the benchmark."""
    made = StimulusSet({"stimulus_id": [f"s{n}" for n in range(21)], "category": [f"kind {n}" for n in range(21)]})
    paths = {}
    for n in range(21):
        paths[f"s{n}"] = tmp_path / f"{n}.png"
        PIL.fromarray(np.full((400, 30, 3), 10 * n, dtype=np.uint8)).save(paths[f"s{n}"])
    made.stimulus_paths = paths
    monkeypatch.setattr(audit, "first_stimuli", lambda identifier: made)
    return made


def test_samples_are_spread_over_all(benchmark, stimuli):
    assert sample_stimuli.keep_samples(benchmark.identifier, count=5) == 5
    kept = list(benchmark.samples.all())
    assert [one.caption for one in kept] == [f"kind {n}" for n in (0, 5, 10, 15, 20)]
    for one, n in zip(kept, (0, 5, 10, 15, 20), strict=True):
        with PIL.open(one.image) as image:
            assert (image.format, image.size) == ("WEBP", (15, 200))
            assert image.getpixel((7, 100)) == (10 * n,) * 3


def test_of_few_stimuli_each_is_taken_once(benchmark, stimuli, monkeypatch):
    monkeypatch.setattr(audit, "first_stimuli", lambda identifier: stimuli[:3])
    assert sample_stimuli.keep_samples(benchmark.identifier) == 3


def test_those_there_stay_unless_replaced(benchmark, stimuli, media):
    sample_stimuli.keep_samples(benchmark.identifier, count=3)
    assert sample_stimuli.keep_samples(benchmark.identifier, count=5) == 0
    assert sample_stimuli.keep_samples(benchmark.identifier, count=5, replace=True) == 5
    assert len(list(media.rglob("*.webp"))) == StimulusSample.objects.count() == 5


def test_withheld_stimuli_are_refused(benchmark, stimuli, monkeypatch):
    Benchmark.objects.update(access="private")
    monkeypatch.setattr(audit, "first_stimuli", lambda identifier: pytest.fail("they were loaded"))
    with pytest.raises(UserError, match="withheld"):
        sample_stimuli.keep_samples(benchmark.identifier)
    assert sample_stimuli.public_benchmarks() == []


@pytest.mark.parametrize("identifier", ["nothing", "a-mean"])
def test_what_is_no_benchmark_is_said(db, identifier):
    Benchmark.objects.create(identifier="a-mean", is_mean=True, access="public")
    with pytest.raises(UserError, match="there is no benchmark"):
        sample_stimuli.keep_samples(identifier)


def test_what_is_no_image_is_said(benchmark, stimuli, tmp_path):
    (tmp_path / "0.png").write_text("no image")
    with pytest.raises(UserError, match=r"stimulus 's0': .*0\.png cannot be read as an image"):
        sample_stimuli.keep_samples(benchmark.identifier)
    assert not StimulusSample.objects.exists()


def test_a_picture_tells_nothing_else(tmp_path):
    path = tmp_path / "photo.jpg"
    exif = PIL.Exif()
    exif[0x010E] = "where and by whom"
    exif[0x0112] = 6  # to be turned by 90 degrees
    PIL.new("RGB", (400, 100), "red").save(path, exif=exif)
    with PIL.open(BytesIO(sample_stimuli.thumbnail(path))) as image:
        assert (image.format, image.size) == ("WEBP", (50, 200))
        assert set(image.info) <= {"background", "loop"}  # no metadata
        assert not image.getexif()


@pytest.mark.parametrize(("mode", "level"), [("L", 0), ("P", 0), ("LA", 128), ("CMYK", 255), ("I;16", 0)])
def test_images_are_shown_as_models_see_them(tmp_path, mode, level):
    path = tmp_path / ("image.tif" if mode in ("CMYK", "I;16") else "image.png")
    PIL.new(mode, (20, 10)).save(path)
    with PIL.open(BytesIO(sample_stimuli.thumbnail(path))) as image:
        assert (image.mode, image.size, image.getpixel((0, 0))) == ("RGB", (20, 10), (level,) * 3)


def test_stimuli_of_an_installed_benchmark():
    stimuli = audit.first_stimuli("Simulated2026.V1-pls")
    assert len(stimuli) > 8
    assert stimuli.get_stimulus(stimuli["stimulus_id"].iloc[0]).is_file()


def test_a_benchmark_whose_plugin_fails_is_said(monkeypatch):
    def broken(identifier):
        raise RuntimeError("no such file")

    monkeypatch.setattr(audit, "load_benchmark", broken)
    with pytest.raises(UserError, match=r"are not available: RuntimeError: no such file"):
        audit.first_stimuli("Some2026-pls")
    monkeypatch.setattr(audit, "load_benchmark", lambda identifier: lambda model: None)
    with pytest.raises(UserError, match="presents no stimuli"):
        audit.first_stimuli("Some2026-pls")
