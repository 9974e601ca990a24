"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.igustibagus2024 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    stimuli = StimuliMetadata(kind="objects in many styles")
    if row.kind == "readout":
        return BenchmarkMetadata(
            title="Generalisation of a readout of IT to other styles of pictures",
            description="A readout of a model's IT learns objects on photographs. How often is it right in 13 styles?",
            stimuli=stimuli,
            data=DataMetadata(kind="engineering", task="passive viewing", notes=("There are no measurements.",)),
            metric=MetricMetadata(
                name="accuracy",
                kind="accuracy",
                mapping="ridge classifier on standardised responses",
                ceiling="upper bound: every choice is right",
            ),
        )
    return BenchmarkMetadata(
        title="Objects in many styles in IT (ridge)",
        description="How well do a model's responses to objects in many styles predict spiking activity in macaque IT?",
        stimuli=stimuli,
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=(row.region,),
            task="passive viewing",
            method="electrophysiology",
            access="private",
            preprocessing="activity 70–170 ms after onset, averaged over repetitions",
            notes=("Sites of a reliability above .7.",),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
