"""What the Brain-Score platform published of Geirhos et al. 2021: assemblies and stimulus sets in S3, with images.

Identifiers, conditions and columns are not the authors' files': a stimulus is ``cr_oven_40_n04111531_14126`` here and
``cl_cr_oven_40_n04111531_14126.png`` there.
"""

from typing import Final, NamedTuple

from brainscore_core.plugins.tables import read_table
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.data.geirhos2019.trials import stimulus_id

BUCKET: Final = "brainscore-storage/brainio-brainscore"
VERSION: Final = "null"


class Published(NamedTuple):
    """sha1 of the three objects of a test."""

    nc: str
    csv: str
    zip: str


PUBLISHED: Final = {
    row["test"]: Published(row["nc"], row["csv"], row["zip"]) for row in read_table(__file__, "published.csv")
}
"""By test."""


def load_published_assembly(test: str) -> DataAssembly:
    """Decisions of all observers of a test, tied to their stimulus set.

    `test`: key of :data:`PUBLISHED`.
    """
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(
        identifier=f"brendel.Geirhos2021_{test}",
        version_id=VERSION,
        sha1=PUBLISHED[test].nc,
        bucket=BUCKET,
        cls="BehavioralAssembly",
        stimulus_set_loader=lambda: load_published_stimuli(test),
    )


def load_published_stimuli(test: str) -> StimulusSet:
    """All images of a test.

    `test`: key of :data:`PUBLISHED`.
    """
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=f"Geirhos2021_{test}",
        bucket=BUCKET,
        csv_sha1=PUBLISHED[test].csv,
        zip_sha1=PUBLISHED[test].zip,
        csv_version_id=VERSION,
        zip_version_id=VERSION,
    )


def under_authors_names(published: StimulusSet, stimuli: StimulusSet) -> StimulusSet:
    """The authors' table of a test's stimuli, with the published images.

    `published`: with the images' file names as they were shown to networks in the column ``image_id_long``. `stimuli`:
    all stimuli of the test under the authors' names, without files. Result: the stimuli whose image is published.
    """
    paths = {
        stimulus_id(f"{long_name}.png"): published.get_stimulus(name)
        for name, long_name in zip(published["stimulus_id"], published["image_id_long"], strict=True)
    }
    covered = StimulusSet(stimuli[stimuli["stimulus_id"].isin(paths)].reset_index(drop=True))
    covered.identifier = stimuli.identifier
    covered.stimulus_paths = {name: paths[name] for name in covered["stimulus_id"]}
    return covered
