"""Published scores of models of vision."""

from typing import Final

from brainscore_core.runner.reproduction import PublishedScore


def _alexnet(benchmark: str, value: float, tolerance: float) -> PublishedScore:
    return PublishedScore(model="alexnet", benchmark=benchmark, value=value, tolerance=tolerance)


PUBLISHED_SCORES: Final = (
    _alexnet("tong.Coggan2024_fMRI.V1-rdm", 0.0182585, 0.005),
    _alexnet("tong.Coggan2024_fMRI.V2-rdm", 0.3352083, 0.005),
    _alexnet("tong.Coggan2024_fMRI.V4-rdm", 0.3008136, 0.005),
    _alexnet("tong.Coggan2024_fMRI.IT-rdm", 0.4486508, 0.005),
    _alexnet("tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity", 0.1318, 0.001),
    _alexnet("Papale2025.V1-ridgecv", 0.75668312, 0.001),
    _alexnet("Papale2025.V4-ridgecv", 0.57444855, 0.001),
    _alexnet("Papale2025.IT-ridgecv", 0.46021319, 0.001),
    *(
        PublishedScore(model=model, benchmark="Rajalingham2018-i2n", value=value, tolerance=0.005, quantity="raw")
        for model, value in (("alexnet", 0.253), ("pixels", 0.0139))
    ),
)
"""Ten pairs that tests of brainscore-vision 2.4.2 score with the model itself rather than with stored features."""
