"""What the benchmarks on pictures of things measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)

_SITES = {"V1": 742, "V4": 315, "IT": 298}  # reliable ones of both animals
_MAPPINGS = {
    "ridge": ("ridge_split", "ridge regression with penalty 1, one for each animal"),
    "ridgecv": ("ridgecv_split", "ridge regression with a penalty chosen on training pictures, one for each animal"),
}

METADATA = {
    f"Papale2025.{region}-{name}": BenchmarkMetadata(
        title=f"Pictures of things in {region} ({name})",
        description=(
            "How well do a model's responses to pictures of things predict spiking activity in "
            f"{region}, on pictures that the prediction was not fitted to?"
        ),
        stimuli=StimuliMetadata(
            n=100,
            kind="photographs of things",
            visual_degrees=18,
            notes=("Predictions are fitted to 22,248 other pictures.", "The animals saw them at 17.3° and 18.6°."),
        ),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=(region,),
            task="passive viewing",
            method="electrophysiology",
            n_subjects=2,
            n_neuroids=sites,
            access="private",
            preprocessing="activity 70–170 ms after onset; test pictures averaged over 30 repetitions",
            notes=("Sites of a reliability above .3.",),
        ),
        metric=MetricMetadata(
            name=metric,
            kind="regression",
            mapping=mapping,
            ceiling="reliability: split halves of the repetitions, Spearman–Brown corrected, median over sites",
        ),
    )
    for region, sites in _SITES.items()
    for name, (metric, mapping) in _MAPPINGS.items()
}
