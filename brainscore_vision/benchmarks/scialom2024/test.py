import re

import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.s3 import load_file_from_s3
from brainscore_vision import load_benchmark
from brainscore_vision.benchmark_helpers import PrecomputedFeatures
from brainscore_vision.testing import small_labeller

SIMULATED = {
    "Scialom2024_rgbBehavioralAccuracyDistance": 0.2607,
    "Scialom2024_phosphenes-allBehavioralErrorConsistency": 0.0508,
    "Scialom2024_rgbEngineeringAccuracy": 0.125,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

CEILINGS = {
    "Scialom2024_rgbBehavioralAccuracyDistance": 0.98484,
    "Scialom2024_contoursBehavioralAccuracyDistance": 0.97794,
    "Scialom2024_phosphenes-12BehavioralAccuracyDistance": 0.94213,
    "Scialom2024_phosphenes-16BehavioralAccuracyDistance": 0.90114,
    "Scialom2024_phosphenes-21BehavioralAccuracyDistance": 0.89134,
    "Scialom2024_phosphenes-27BehavioralAccuracyDistance": 0.77732,
    "Scialom2024_phosphenes-35BehavioralAccuracyDistance": 0.78466,
    "Scialom2024_phosphenes-46BehavioralAccuracyDistance": 0.78246,
    "Scialom2024_phosphenes-59BehavioralAccuracyDistance": 0.79745,
    "Scialom2024_phosphenes-77BehavioralAccuracyDistance": 0.83475,
    "Scialom2024_phosphenes-100BehavioralAccuracyDistance": 0.86073,
    "Scialom2024_segments-12BehavioralAccuracyDistance": 0.86167,
    "Scialom2024_segments-16BehavioralAccuracyDistance": 0.8202,
    "Scialom2024_segments-21BehavioralAccuracyDistance": 0.8079,
    "Scialom2024_segments-27BehavioralAccuracyDistance": 0.78282,
    "Scialom2024_segments-35BehavioralAccuracyDistance": 0.77724,
    "Scialom2024_segments-46BehavioralAccuracyDistance": 0.85391,
    "Scialom2024_segments-59BehavioralAccuracyDistance": 0.8341,
    "Scialom2024_segments-77BehavioralAccuracyDistance": 0.86227,
    "Scialom2024_segments-100BehavioralAccuracyDistance": 0.92517,
    "Scialom2024_phosphenes-allBehavioralErrorConsistency": 0.45755,
    "Scialom2024_segments-allBehavioralErrorConsistency": 0.42529,
    "Scialom2024_phosphenes-allBehavioralAccuracyDistance": 0.89533,
    "Scialom2024_segments-allBehavioralAccuracyDistance": 0.89052,
}

OF_RESNET50 = {
    "Scialom2024_rgbBehavioralAccuracyDistance": 0.92616,
    "Scialom2024_contoursBehavioralAccuracyDistance": 0.25445,
    "Scialom2024_phosphenes-12BehavioralAccuracyDistance": 0.84177,
    "Scialom2024_phosphenes-16BehavioralAccuracyDistance": 0.77513,
    "Scialom2024_phosphenes-21BehavioralAccuracyDistance": 0.76437,
    "Scialom2024_phosphenes-27BehavioralAccuracyDistance": 0.56895,
    "Scialom2024_phosphenes-35BehavioralAccuracyDistance": 0.52008,
    "Scialom2024_phosphenes-46BehavioralAccuracyDistance": 0.29478,
    "Scialom2024_phosphenes-59BehavioralAccuracyDistance": 0.19022,
    "Scialom2024_phosphenes-77BehavioralAccuracyDistance": 0.13569,
    "Scialom2024_phosphenes-100BehavioralAccuracyDistance": 0.11234,
    "Scialom2024_segments-12BehavioralAccuracyDistance": 0.72937,
    "Scialom2024_segments-16BehavioralAccuracyDistance": 0.57043,
    "Scialom2024_segments-21BehavioralAccuracyDistance": 0.493,
    "Scialom2024_segments-27BehavioralAccuracyDistance": 0.30014,
    "Scialom2024_segments-35BehavioralAccuracyDistance": 0.22442,
    "Scialom2024_segments-46BehavioralAccuracyDistance": 0.14312,
    "Scialom2024_segments-59BehavioralAccuracyDistance": 0.12072,
    "Scialom2024_segments-77BehavioralAccuracyDistance": 0.12996,
    "Scialom2024_segments-100BehavioralAccuracyDistance": 0.1154,
    "Scialom2024_phosphenes-allBehavioralErrorConsistency": 0.18057,
    "Scialom2024_segments-allBehavioralErrorConsistency": 0.15181,
    "Scialom2024_rgbEngineeringAccuracy": 0.91666,
    "Scialom2024_contoursEngineeringAccuracy": 0.25,
    "Scialom2024_phosphenes-12EngineeringAccuracy": 0.08333,
    "Scialom2024_phosphenes-16EngineeringAccuracy": 0.08333,
    "Scialom2024_phosphenes-21EngineeringAccuracy": 0.08333,
    "Scialom2024_phosphenes-27EngineeringAccuracy": 0.08333,
    "Scialom2024_phosphenes-35EngineeringAccuracy": 0.125,
    "Scialom2024_phosphenes-46EngineeringAccuracy": 0.08333,
    "Scialom2024_phosphenes-59EngineeringAccuracy": 0.08333,
    "Scialom2024_phosphenes-77EngineeringAccuracy": 0.08333,
    "Scialom2024_phosphenes-100EngineeringAccuracy": 0.08333,
    "Scialom2024_segments-12EngineeringAccuracy": 0.08333,
    "Scialom2024_segments-16EngineeringAccuracy": 0.08333,
    "Scialom2024_segments-21EngineeringAccuracy": 0.08333,
    "Scialom2024_segments-27EngineeringAccuracy": 0.08333,
    "Scialom2024_segments-35EngineeringAccuracy": 0.08333,
    "Scialom2024_segments-46EngineeringAccuracy": 0.08333,
    "Scialom2024_segments-59EngineeringAccuracy": 0.08333,
    "Scialom2024_segments-77EngineeringAccuracy": 0.10416,
    "Scialom2024_segments-100EngineeringAccuracy": 0.10416,
}
"""Raw scores of a ResNet-50, whose choices are published."""


def tolerance(identifier):
    return 0.01 if "-all" in identifier else 0.001


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    pytest.importorskip("torch")
    benchmark = load_benchmark(identifier)
    score = benchmark(small_labeller())
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", CEILINGS)
def test_published_ceiling(identifier):
    assert float(load_benchmark(identifier).ceiling) == pytest.approx(CEILINGS[identifier], abs=tolerance(identifier))


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", OF_RESNET50)
def test_published_score_of_resnet50(identifier, tmp_path):
    condition = re.split("Behavioral|Engineering", identifier)[0].replace("rgb", "RGB")
    key = f"benchmarks/Scialom2024/resnet50_julios_{condition}.nc"
    bucket, key = ("brainio-brainscore", f"/{key}") if "Engineering" in identifier else ("brainscore-vision", key)
    path = load_file_from_s3(bucket, key, tmp_path / "choices.nc")
    model = PrecomputedFeatures(BehavioralAssembly.from_files(file_path=path), visual_degrees=8)
    raw = load_benchmark(identifier)(model).attrs["raw"]
    assert float(raw) == pytest.approx(OF_RESNET50[identifier], abs=tolerance(identifier))
