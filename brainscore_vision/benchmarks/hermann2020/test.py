import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_labeller

SIMULATED = {
    "Hermann2020cueconflict-shape_bias": 0.6667,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_RESNET50 = {
    "Hermann2020cueconflict-shape_bias": 0.21392405,
    "Hermann2020cueconflict-shape_match": 0.14083333,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    pytest.importorskip("torch")
    benchmark = load_benchmark(identifier)
    score = benchmark(small_labeller())
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.parametrize(
    ("network", "bias", "match"), [("alexnet", 0.4294, 0.2358), ("vgg16", 0.1722, 0.1083), ("resnet50", 0.2207, 0.135)]
)
def test_recorded_networks(mirror, network, bias, match):
    for name, expected in (("shape_bias", bias), ("shape_match", match)):
        score = load_benchmark(f"Hermann2020cueconflict-{name}")(load_model(f"{network}-recorded2019"))
        assert float(score) == pytest.approx(expected, abs=5e-5)
        assert score.attrs["stimuli_shown"] == 1280


def test_pictures_at_hand(mirror):
    pytest.importorskip("torch")
    score = load_benchmark("Hermann2020cueconflict-shape_match")(small_labeller())
    assert "160 of the experiment's 1280" in score.attrs["comment"]


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_RESNET50)
def test_published_score_of_resnet50(identifier):
    score = load_benchmark(identifier)(load_model("resnet-50"))
    assert float(score.attrs["raw"]) == pytest.approx(OF_RESNET50[identifier], abs=0.001)
