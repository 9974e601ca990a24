import pytest

from brainscore_vision import load_benchmark
from brainscore_vision.benchmark_helpers import PrecomputedFeatures
from brainscore_vision.benchmark_helpers.test_helper import VisualDegreesTests
from brainscore_vision.testing import small_models

SIMULATED = {
    "Cadena2017-pls": 0.6558,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_ITSELF = {
    "Cadena2017-pls": 0.577474,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=2)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", OF_ITSELF)
def test_published_score_of_the_recordings(identifier):
    benchmark = load_benchmark(identifier)
    model = PrecomputedFeatures(benchmark._assembly.content, visual_degrees=benchmark._visual_degrees)
    assert float(benchmark(model).attrs["raw"]) == pytest.approx(OF_ITSELF[identifier], abs=0.005)


@pytest.mark.private_access
def test_published_size():
    sizes = load_benchmark("Cadena2017-pls")._assembly.content.sizes
    assert (sizes["presentation"], sizes["neuroid"]) == (6249, 166)


@pytest.mark.private_access
@pytest.mark.parametrize(("degrees", "grey"), [(14, 0.32655), (6, 0.29641)])
def test_published_share_of_grey(degrees, grey):
    image = "0fe27ddd5b9ea701e380063dc09b91234eba3551"
    VisualDegreesTests().amount_gray_test("Cadena2017-pls", degrees, image, pytest.approx(grey, abs=0.0001))
