"""What the benchmarks on properties of V1 neurons measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.marques2020.citations import (
    CAVANAUGH,
    DE_VALOIS_FREQUENCY,
    DE_VALOIS_ORIENTATION,
    FREEMAN_ZIEMBA,
    RINGACH,
    SCHILLER,
)

METADATA = read_metadata(
    __file__,
    bibtex={
        "Marques2020_Cavanaugh2002-*": CAVANAUGH,
        "Marques2020_DeValois1982-peak_sf": DE_VALOIS_FREQUENCY,
        "Marques2020_DeValois1982-pref_or": DE_VALOIS_ORIENTATION,
        "Marques2020_FreemanZiemba2013-*": FREEMAN_ZIEMBA,
        "Marques2020_Ringach2002-*": RINGACH,
        "Marques2020_Schiller1976-*": SCHILLER,
    },
)
