"""What the benchmarks on 17 sets of distorted images measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.geirhos2021 import BIBTEX

_TESTS = {  # name in the identifier: what is shown, kind of stimuli, images that are scored, people
    "colour": ("photographs without colour", "distorted photographs", 640, 4),
    "contrast": ("photographs of low contrast", "distorted photographs", 800, 4),
    "cueconflict": ("the shape of one object with the texture of another", "shape and texture in conflict", 1280, 10),
    "edge": ("edges of objects", "outlines", 160, 10),
    "eidolonI": ("eidolons, disarrayed photographs of full coherence", "distorted photographs", 800, 4),
    "eidolonII": ("eidolons, disarrayed photographs of medium coherence", "distorted photographs", 640, 4),
    "eidolonIII": ("eidolons, disarrayed photographs without coherence", "distorted photographs", 480, 4),
    "falsecolour": ("photographs in the opponent colours", "distorted photographs", 560, 4),
    "highpass": ("high-pass filtered photographs", "distorted photographs", 640, 4),
    "lowpass": ("low-pass filtered photographs", "distorted photographs", 800, 4),
    "phasescrambling": ("photographs with noise added to their phases", "distorted photographs", 640, 4),
    "powerequalisation": ("photographs of equalised power spectra", "distorted photographs", 560, 4),
    "rotation": ("rotated photographs", "distorted photographs", 960, 4),
    "silhouette": ("silhouettes of objects", "silhouettes", 160, 10),
    "sketch": ("sketches of objects", "sketches", 800, 7),
    "stylized": ("photographs in the style of paintings", "distorted photographs", 800, 5),
    "uniformnoise": ("photographs with uniform noise", "distorted photographs", 800, 4),
}

_LEFT_OUT = "Undistorted images and conditions in which people are near chance are left out."
_NOTES: dict[str, tuple[str, ...]] = dict.fromkeys(("edge", "silhouette", "sketch", "stylized"), ()) | {
    "cueconflict": ("Without a folder of all images, the 160 of them that are pinned for download are shown.",)
}


def _metadata(name: str, description: str, data: DataMetadata, metric: MetricMetadata) -> BenchmarkMetadata:
    shown, kind, images, _ = _TESTS[name]
    measure = "Error consistency" if metric.name == "error_consistency" else "Accuracy"
    return BenchmarkMetadata(
        title=f"{measure} on {shown}",
        description=description,
        stimuli=StimuliMetadata(
            n=images,
            kind=kind,
            visual_degrees=3 if metric.name == "error_consistency" else None,  # accuracy: as large as the model sees
            notes=_NOTES.get(name, (_LEFT_OUT,)),
        ),
        data=data,
        metric=metric,
        bibtex=BIBTEX,
    )


def _error_consistency(name: str) -> BenchmarkMetadata:
    shown, *_, people = _TESTS[name]
    return _metadata(
        name,
        f"People and models name {shown}. Are they right and wrong on the same images, beyond what their accuracies "
        "make them by chance?",
        DataMetadata(
            kind="behavioural",
            species="human",
            task="naming",
            method="behaviour",
            n_subjects=people,
            access="public",
            notes=("16 categories to choose from.", _COPIES),
        ),
        MetricMetadata(
            name="error_consistency",
            kind="consistency",
            ceiling="human-human: Cohen's kappa between all pairs of people",
        ),
    )


def _accuracy(name: str) -> BenchmarkMetadata:
    return _metadata(
        name,
        f"Models name {_TESTS[name][0]}. How often are they right?",
        DataMetadata(kind="engineering", task="naming", access="public", notes=("16 categories to choose from.",)),
        MetricMetadata(name="accuracy", kind="accuracy", ceiling="upper bound: every image named rightly"),
    )


_COPIES = "The authors publish trials and images; the copy in the platform's storage is private."

METADATA = {f"Geirhos2021{name}-error_consistency": _error_consistency(name) for name in _TESTS} | {
    f"Geirhos2021{name}-top1": _accuracy(name) for name in _TESTS
}
