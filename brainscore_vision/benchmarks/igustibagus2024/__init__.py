"""Predictivity of macaque IT, and generalisation to other styles of pictures (Igusti Bagus et al. 2022)."""

from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark, bound_score, normalise
from brainscore_core.metrics import Score
from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_ceiling, load_stimulus_set
from brainscore_vision.benchmark_helpers.aggregation import mean_of_sampled
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    average_repetition,
    of_region,
    rows_with,
    with_own_stimuli,
)
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow, read_metadata
from brainscore_vision.benchmark_helpers.neural_common import patterns, record
from brainscore_vision.benchmark_helpers.table_benchmarks import RowBenchmark, first_time_bin, make_benchmark
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)

SOURCES: Final = ("COCOColor", "Art", "COCOGray", "TDW", "Silhouette")
STYLES: Final = (
    *("silhouettes", "edges", "original", "sketch", "textures", "painting", "mosaic", "grayscale"),
    *("convex_hull", "outline", "silhouette", "line_drawing", "cartoon"),
)
DOMAINS: Final = {
    "hvm": ("Silhouette", "original"),
    "convex_hull": ("Silhouette", "convex_hull"),
    "outline": ("Silhouette", "outline"),
    "skeleton": ("Silhouette", "skeleton"),
    "silhouette": ("Silhouette", "silhouette"),
    "cartoon": ("Art", "cartoon"),
    "line_drawing": ("Art", "line_drawing"),
    "mosaic": ("Art", "mosaic"),
    "painting": ("Art", "painting"),
    "sketch": ("Art", "sketch"),
    "cococolor": ("COCOColor", None),
    "cocogray": ("COCOGray", None),
    "tdw": ("TDW", None),
}
"""Source and style of the pictures of each domain; the first one is trained on."""

SILHOUETTES: Final = ("convex_hull", "outline", "skeleton", "silhouette")
TEST_IMAGES: Final = 30
PENALTIES: Final = (0.0001, 0.001, 0.01, 0.1, 1, 10)
TIME_BIN: Final = (70, 170)


def make(benchmark: str) -> Benchmark:
    """Make a benchmark of the table."""
    options: dict[str, Any] = {}
    if benchmark == "Igustibagus2024-ridge":
        options = {"prepare": reliable_of_styles, "splitting": {"preprocess_indices": keep_backgrounds_apart}}
    return make_benchmark(__file__, benchmark, bibtex=BIBTEX, kinds={"readout": Readout}, **options)


def reliable_of_styles(assembly: DataAssembly, row: BenchmarkRow) -> DataAssembly:
    """Presentations of the compared styles, and neuroids whose reliability over all styles exceeds the row's threshold.

    Neuroids that were not recorded on every stimulus are left out: one of the animals did not see all styles.

    Result: presentation × neuroid.
    """
    assembly = first_time_bin(of_region(assembly, row.region))
    consistency = load_ceiling("internal_consistency")(assembly).attrs["raw"].mean("split").values
    recorded = average_repetition(assembly).notnull().all("presentation").values
    kept = np.intersect1d(rows_with(assembly, "stimulus_source", SOURCES), rows_with(assembly, "object_style", STYLES))
    selected = assembly.isel(
        presentation=kept, neuroid=np.flatnonzero(recorded & (consistency > row.threshold))
    ).dropna("presentation", how="all")
    return with_own_stimuli(selected, assembly.attrs)


def keep_backgrounds_apart(
    train: NDArray[np.intp], test: NDArray[np.intp], source: DataAssembly
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Leave out training pictures of objects whose silhouette, or original, is tested.

    `train`, `test`: rows of `source`. `source`: with ``background_id``, the same for an object and its silhouettes; 0:
    a picture without such variants. Result: `train, test`.
    """
    background = np.asarray(source["background_id"].values)
    tested = background[test]
    return train[~np.isin(background[train], tested[tested != 0])], test


class Readout(RowBenchmark):
    """Accuracy of a linear readout of IT that learns ten objects on photographs, in 13 styles of pictures.

    The readout (ridge classifier on standardised responses) is trained on all photographs but 30 and tested on these
    30, on their silhouettes, and on 30 pictures in each other style. A picture's accuracy is the share of the other
    nine objects for which the right one has the greater value. The score is the mean over styles of the mean over
    random splits. An engineering benchmark without measurements.

    `row`: stimuli, region and visual angle. `n_splits`: number of random splits; they are the same for all models. (The
    published ones are not seeded.).
    """

    n_splits = 1000

    def measurements(self) -> VisualMeasurements:
        """Stimuli, without measurements."""
        return self._measurements(LazyLoad(lambda: load_stimulus_set(self._row.stimuli)), "labels", TIME_BIN)

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate`, and train and test readouts.

        Result: a Score in [0, 1]; .5 is chance. ``attrs['raw'].attrs['raw']`` has the domains' values.
        """
        stimuli = load_stimulus_set(self._row.stimuli)
        (recordings,) = record(candidate, self.measurements(), [stimuli])
        responses = patterns(recordings, stimuli["stimulus_id"])
        accuracies = np.array(
            [_accuracies(responses, stimuli, np.random.RandomState(split)) for split in range(self.n_splits)]
        )
        each = Score(accuracies.mean(axis=0), coords={"domain": ("domain", list(DOMAINS))}, dims=["domain"])
        raw = mean_of_sampled(each, units="domains")
        raw.attrs.update({Score.RAW_VALUES_KEY: each, "scale": "accuracy"})
        return bound_score(normalise(raw, self.ceiling))


def _accuracies(responses: NDArray[Any], stimuli: StimulusSet, random: np.random.RandomState) -> list[float]:
    """Accuracy in each domain, for one random split."""
    from sklearn.linear_model import RidgeClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    labels, background = stimuli["object_label"].to_numpy().astype(str), stimuli["background_id"].to_numpy()
    rows = {name: _rows_of(stimuli, *kind) for name, kind in DOMAINS.items()}
    tested = {"hvm": _sample(rows["hvm"], labels, random)}
    for name in DOMAINS:
        if name in SILHOUETTES:
            tested[name] = rows[name][np.isin(background[rows[name]], background[tested["hvm"]])]
        elif name != "hvm":
            tested[name] = _sample(rows[name], labels, random)
    trained = np.setdiff1d(rows["hvm"], tested["hvm"])
    readout = make_pipeline(StandardScaler(), RidgeClassifierCV(alphas=PENALTIES))
    readout.fit(responses[trained], labels[trained])
    return [_pairwise(readout, responses[tested[name]], labels[tested[name]]) for name in DOMAINS]


def _rows_of(stimuli: StimulusSet, source: str, style: str | None) -> NDArray[np.intp]:
    rows = rows_with(stimuli, "stimulus_source", source)
    return rows if style is None else rows[rows_with(stimuli.iloc[rows], "object_style", style)]


def _sample(rows: NDArray[np.intp], labels: NDArray[Any], random: np.random.RandomState) -> NDArray[np.intp]:
    from sklearn.model_selection import train_test_split

    if len(rows) <= TEST_IMAGES:
        return rows
    chosen, _ = train_test_split(rows, train_size=TEST_IMAGES, stratify=labels[rows], random_state=random)
    return np.asarray(chosen, dtype=np.intp)


def _pairwise(readout: Any, responses: NDArray[Any], labels: NDArray[Any]) -> float:
    """Share of pairs of the right and another category in which the right one has the greater value."""
    values, categories = readout.decision_function(responses), readout.classes_
    right = np.searchsorted(categories, labels)
    own = values[np.arange(len(labels)), right][:, np.newaxis]
    return float(((own > values).sum(axis=1) / (len(categories) - 1)).mean())


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make, _key)
