import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_models

SIMULATED = {
    "Ferguson2024circle_line-value_delta": 0.3941,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

CEILINGS = {
    "Ferguson2024circle_line-value_delta": 0.883,
    "Ferguson2024color-value_delta": 0.897,
    "Ferguson2024convergence-value_delta": 0.862,
    "Ferguson2024eighth-value_delta": 0.852,
    "Ferguson2024gray_easy-value_delta": 0.907,
    "Ferguson2024gray_hard-value_delta": 0.863,
    "Ferguson2024half-value_delta": 0.898,
    "Ferguson2024juncture-value_delta": 0.767,
    "Ferguson2024lle-value_delta": 0.831,
    "Ferguson2024llh-value_delta": 0.812,
    "Ferguson2024quarter-value_delta": 0.876,
    "Ferguson2024round_f-value_delta": 0.874,
    "Ferguson2024round_v-value_delta": 0.853,
    "Ferguson2024tilted_line-value_delta": 0.912,
}

OF_ALEXNET = {  # raw, divided by the ceiling
    "Ferguson2024circle_line-value_delta": (0.143, 0.162),
    "Ferguson2024color-value_delta": (0.645, 0.719),
    "Ferguson2024convergence-value_delta": (0.024, 0.028),
    "Ferguson2024eighth-value_delta": (0.093, 0.109),
    "Ferguson2024gray_easy-value_delta": (0.799, 0.882),
    "Ferguson2024gray_hard-value_delta": (0.609, 0.706),
    "Ferguson2024half-value_delta": (0.379, 0.423),
    "Ferguson2024juncture-value_delta": (0.191, 0.248),
    "Ferguson2024lle-value_delta": (0.208, 0.25),
    "Ferguson2024llh-value_delta": (0.654, 0.805),
    "Ferguson2024quarter-value_delta": (0.223, 0.255),
    "Ferguson2024round_f-value_delta": (0.455, 0.52),
    "Ferguson2024round_v-value_delta": (0.212, 0.249),
    "Ferguson2024tilted_line-value_delta": (0.445, 0.489),
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=8)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", CEILINGS)
def test_published_ceiling(identifier):
    assert float(load_benchmark(identifier).ceiling) == pytest.approx(CEILINGS[identifier], abs=0.001)


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_ALEXNET)
def test_published_score_of_alexnet(identifier):
    score = load_benchmark(identifier)(load_model("alexnet"))
    assert (float(score.attrs["raw"]), float(score)) == pytest.approx(OF_ALEXNET[identifier], abs=0.001)
