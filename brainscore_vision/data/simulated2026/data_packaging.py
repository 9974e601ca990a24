"""Write Simulated2026 as files, as an experiment's data are: a CSV, a ZIP of images, a netCDF.

The registered data are computed, not read from these files; the files are for those who want to look at them or to use
them elsewhere::

    python -m brainscore_vision.data.simulated2026.data_packaging FOLDER
"""

import sys
from pathlib import Path
from typing import Any

from brainscore_core.supported_data_standards.brainio.packaging import (
    package_data_assembly_locally,
    package_stimulus_set_locally,
)
from brainscore_vision.data.simulated2026.packages import IDENTIFIER, assembly, stimulus_set


def package(folder: Path) -> dict[str, Any]:
    """Write stimuli and measurements into `folder`; returns where they are and their hashes."""
    stimuli = package_stimulus_set_locally(
        proto_stimulus_set=stimulus_set(), stimulus_set_identifier=IDENTIFIER, downloads_path=folder
    )
    measured = package_data_assembly_locally(
        proto_data_assembly=assembly(),
        assembly_identifier=IDENTIFIER,
        stimulus_set_identifier=IDENTIFIER,
        assembly_class_name="NeuroidAssembly",
        downloads_path=folder,
    )
    return {"stimulus_set": stimuli, "assembly": measured}


if __name__ == "__main__":
    for kind, written in package(Path(sys.argv[1])).items():
        sys.stdout.write(f"{kind}: {written}\n")
