"""An experiment whose truth is known: drawn stimuli, simulated neuroids, and benchmarks on them.

Simulated2026 is its published data set; the selection of layers uses other stimuli and other noise. Measurements are
expected responses of an encoding model, plus noise of known variance, repeated. Nothing is fitted and nothing is looked
up: expected responses are a fixed function of the pixels.

* V1: energies of quadrature Gabor filters [1]_ divisively normalised [2]_ and averaged over the 4° × 4°
  around fixation. A neuroid weights them by tuning curves for orientation (von Mises) and spatial frequency
  (Gaussian in octaves), rectifies smoothly, and adds its own spontaneous activity.
* IT: the normalised energies of the whole image, averaged over neighbouring positions, are compared with stored
  prototypes (Gaussian tuning), four exemplars of each category; the best match over positions counts [3]_. A neuroid
  prefers one category: it weights that category's prototypes most, others at random, adds a resting
  drive and rectifies smoothly.

References
----------
.. [1] Adelson & Bergen 1985, https://doi.org/10.1364/JOSAA.2.000284
.. [2] Heeger 1992, https://doi.org/10.1017/S0952523800009640
.. [3] Riesenhuber & Poggio 1999, https://doi.org/10.1038/14819
"""

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.files import replacing
from brainscore_core.metric_helpers.uncertainty import attach_interval
from brainscore_core.metrics import Ceiling, Score
from brainscore_core.numerics import compare_rdms, influence_interval, rdm, spearman_brown
from brainscore_core.paths import simulated_data_home
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.images import load_grey
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
from brainscore_vision.registries import load_ceiling, load_metric
from brainscore_vision.stimuli.gabor_bank import GaborBank, GaborFilters

IMAGE_SIZE = 128
VISUAL_DEGREES = 8
PER_CATEGORY = 100
CATEGORIES = ("grating", "plaid", "texture", "rings", "star", "disc", "square", "cross")
SEED = 2026
"""Of drawings and of noise."""

_GREY = 128.0

Parameters = dict[str, float]


def parameters(category: str, number: int) -> Parameters:
    """Parameters of one stimulus.

    `category`: one of `CATEGORIES`. `number`: which exemplar, from 0. Result: ``orientation`` (degrees), ``frequency``
    (cycles per degree), ``phase`` (degrees), ``x``, ``y`` (centre, degrees right of and below fixation), ``radius``
    (degrees), ``contrast`` (Michelson, 0 to 1).
    """
    return dict(_drawn_parameters(category, number))


@lru_cache(maxsize=2048)  # each of several benchmarks asks for those of all stimuli
def _drawn_parameters(category: str, number: int) -> Parameters:
    # RandomState: its streams are frozen for ever, those of numpy's newer generators are not
    random = np.random.RandomState([SEED, CATEGORIES.index(category), number])
    return {
        "orientation": float(random.uniform(0, 180)),
        "frequency": float(np.exp(random.uniform(np.log(0.7), np.log(4.5)))),
        "phase": float(random.uniform(0, 360)),
        "x": float(random.uniform(-1.0, 1.0)),
        "y": float(random.uniform(-1.0, 1.0)),
        "radius": float(random.uniform(1.2, 2.8)),
        "contrast": float(random.uniform(0.35, 1.0)),
    }


def draw(category: str, number: int) -> NDArray[np.uint8]:
    """Draw one stimulus.

    `category`: one of `CATEGORIES`. `number`: which exemplar, from 0. Result: `IMAGE_SIZE` × `IMAGE_SIZE`; grey levels;
    128 is the background.

    Examples
    --------
    >>> draw("grating", 0).shape
    (128, 128)
    """
    shape = parameters(category, number)
    # RandomState as in `parameters`; one more number in the seed makes another stream
    random = np.random.RandomState([SEED, CATEGORIES.index(category), number, 1])
    axis = (np.arange(IMAGE_SIZE) + 0.5) * VISUAL_DEGREES / IMAGE_SIZE - VISUAL_DEGREES / 2
    x, y = axis[np.newaxis] - shape["x"], axis[:, np.newaxis] - shape["y"]
    angle, phase = np.deg2rad(shape["orientation"]), np.deg2rad(shape["phase"])
    across, along = x * np.sin(angle) + y * np.cos(angle), x * np.cos(angle) - y * np.sin(angle)
    distance = np.hypot(x, y)
    wave = 2 * np.pi * shape["frequency"]
    aperture = _inside(distance, shape["radius"] + 0.8)
    if category == "grating":
        pattern = np.cos(wave * across + phase) * aperture
    elif category == "plaid":
        pattern = (np.cos(wave * across + phase) + np.cos(wave * along + phase)) / 2 * aperture
    elif category == "texture":
        pattern = _texture(x, y, shape["frequency"], shape["orientation"], spread=25.0, random=random) * aperture
    elif category == "rings":
        pattern = np.cos(wave * distance + phase) * aperture
    elif category == "star":
        arms = 2 + int(shape["frequency"] * 2)
        pattern = np.tanh(3 * np.cos(arms * np.arctan2(across, along) + phase)) * aperture
    elif category == "disc":
        pattern = _sign(phase) * _inside(distance, shape["radius"])
    elif category == "square":
        pattern = _sign(phase) * _inside(np.maximum(np.abs(across), np.abs(along)), shape["radius"] * 0.85)
    else:
        arm, length = shape["radius"] * 0.3, shape["radius"] * 1.1
        bars = [
            _inside(np.abs(short), arm) * _inside(np.abs(long), length)
            for short, long in ((across, along), (along, across))
        ]
        pattern = _sign(phase) * np.maximum(*bars)
    pattern = pattern + 0.12 * _texture(x, y, 1.5, 0.0, spread=90.0, random=random)
    levels = _GREY + 127 * np.clip(shape["contrast"] * pattern, -1, 1)
    return np.round(levels).astype(np.uint8)


def drawn_stimuli(identifier: str, exemplars: Iterable[int], folder: Path) -> StimulusSet:
    """Exemplars of each category; drawn and written into `folder` as PNG files on first use.

    They have ``object_name`` and the parameters that they were drawn from (:func:`parameters`).
    """
    from PIL import Image

    rows, paths = [], {}
    for category in CATEGORIES:
        for number in exemplars:
            name = f"{category}_{number:02d}"
            paths[name] = folder / f"{name}.png"
            if not paths[name].exists():
                with replacing(paths[name]) as stream:
                    # the default level takes three times as long, for files that are 7% smaller
                    Image.fromarray(draw(category, number)).save(stream, format="PNG", compress_level=1)
            rows.append({"stimulus_id": name, "object_name": category, "image_label": category}
                        | parameters(category, number))  # fmt: skip
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = identifier
    return stimuli


def _inside(distance: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """1 inside, 0 outside, with an edge of about two pixels."""
    return 0.5 * (1 - np.tanh((distance - radius) / 0.08))


def _sign(phase: float) -> float:
    return 1.0 if phase < np.pi else -1.0


def _texture(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    frequency: float,
    orientation: float,
    *,
    spread: float,
    random: np.random.RandomState,
) -> NDArray[np.float64]:
    """Sum of gratings with random orientations within ± `spread` degrees and random phases; variance 1/2."""
    waves = 24
    angles = np.deg2rad(orientation + random.uniform(-spread, spread, waves))
    frequencies = 2 * np.pi * frequency * np.exp(random.uniform(-0.4, 0.4, waves))
    phases = random.uniform(0, 2 * np.pi, waves)
    # cos(a + b) = cos a cos b − sin a sin b, with a of columns and b of rows: two products of matrices
    columns = x.T * (frequencies * np.sin(angles))
    rows = y * (frequencies * np.cos(angles)) + phases
    total = np.cos(rows) @ np.cos(columns).T - np.sin(rows) @ np.sin(columns).T
    return total / np.sqrt(waves)


REPETITIONS = 12

Array = NDArray[np.float64]

NEUROIDS = 96
"""Neuroids of each region."""

_ORIENTATIONS = np.arange(0.0, 180.0, 30.0)
_FREQUENCIES = np.array([0.75, 1.5, 3.0])
_GRID = 8
_SEMI_SATURATION = 0.1
_PROTOTYPES_PER_CATEGORY = 4
_IT_RESTING_DRIVE = 1.0
_TUNING_WIDTH = 60.0  # of squared distance to a prototype
_NEUROID_SEED = 1985
_RELIABILITIES = (0.75, 0.95)


class EncodingModel:
    """Expected responses of the simulated neuroids.

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_vision.simulated_experiment import draw
    >>> model = EncodingModel()
    >>> energies = model.energies(draw("grating", 0))
    >>> model.v1(energies[np.newaxis]).shape, model.it(energies[np.newaxis]).shape
    ((1, 96), (1, 96))
    """

    def __init__(self) -> None:
        orientation, frequency = np.meshgrid(_ORIENTATIONS, _FREQUENCIES, indexing="ij")
        filters = GaborFilters.from_bandwidths(
            orientation=orientation.ravel(),
            frequency=frequency.ravel(),
            frequency_bandwidth=1.5,
            orientation_bandwidth=40.0,
        )
        self._bank = GaborBank(filters, size=IMAGE_SIZE, visual_degrees=VISUAL_DEGREES, grid=_GRID, dtype=np.complex128)

    def energies(self, image: NDArray[np.uint8]) -> Array:
        """Divisively normalised energies of one image.

        `image`: 128 × 128. Result: filters × positions × positions; in [0, filters): energy / (semi-saturation² + mean
        energy over the filters at the position).
        """
        energy = np.abs(self._bank((image.astype(np.float64) - 128) / 128)) ** 2
        return energy / (_SEMI_SATURATION**2 + energy.mean(axis=0))

    def v1(self, energies: Array) -> Array:
        """Expected V1 responses, images × neuroids, from energies, images × filters × positions × positions."""
        centre = slice(_GRID // 2 - 2, _GRID // 2 + 2)
        pooled = energies[:, :, centre, centre].mean(axis=(2, 3))
        return _rectify(pooled @ self._v1_weights) + self._v1_spontaneous

    def it(self, energies: Array) -> Array:
        """Expected IT responses, images × neuroids, from energies, images × filters × positions × positions."""
        return _rectify(self._similarities(energies) @ self._it_weights + _IT_RESTING_DRIVE)

    @cached_property
    def _v1_weights(self) -> Array:
        random = np.random.RandomState([_NEUROID_SEED, 1])  # frozen stream, see `_drawn_parameters`
        filters = self._bank.filters
        preferred = random.uniform(0, 180, NEUROIDS)
        frequency = np.exp(random.uniform(np.log(_FREQUENCIES[0]), np.log(_FREQUENCIES[-1]), NEUROIDS))
        offset = np.deg2rad(2 * (filters.orientation[:, np.newaxis] - preferred))
        octaves = np.log2(filters.frequency[:, np.newaxis] / frequency)
        weights = np.exp(2.0 * (np.cos(offset) - 1)) * np.exp(-0.5 * (octaves / 0.6) ** 2)
        return weights / weights.sum(axis=0)

    @cached_property
    def _v1_spontaneous(self) -> Array:
        return np.random.RandomState([_NEUROID_SEED, 3]).gamma(2.0, 0.7, NEUROIDS)

    @cached_property
    def _it_weights(self) -> Array:
        random = np.random.RandomState([_NEUROID_SEED, 2])
        preferred = np.arange(NEUROIDS) % len(CATEGORIES)
        category = np.repeat(np.arange(len(CATEGORIES)), _PROTOTYPES_PER_CATEGORY)[:, np.newaxis]
        weights = random.standard_normal((len(category), NEUROIDS)) * 0.3
        return weights + np.where(category == preferred, random.uniform(0.5, 1.5, weights.shape), 0.0)

    @cached_property
    def _prototypes(self) -> Array:
        """Patches of 2 × 2 positions (after averaging) from exemplars that are not among the stimuli."""
        exemplars = range(PER_CATEGORY, PER_CATEGORY + _PROTOTYPES_PER_CATEGORY)
        images = [draw(category, number) for category in CATEGORIES for number in exemplars]
        maps = _average_neighbours(np.stack([self.energies(image) for image in images]))
        middle = maps.shape[-1] // 2
        return maps[:, :, middle - 1 : middle + 1, middle - 1 : middle + 1].reshape(len(images), -1)

    def _similarities(self, energies: Array) -> Array:
        maps = _average_neighbours(energies)
        best = np.full((len(energies), len(self._prototypes)), np.inf)
        for row in range(maps.shape[-1] - 1):
            for column in range(maps.shape[-1] - 1):
                patches = maps[:, :, row : row + 2, column : column + 2].reshape(len(energies), -1)
                squared = (
                    (patches**2).sum(axis=1)[:, np.newaxis]
                    - 2 * patches @ self._prototypes.T
                    + (self._prototypes**2).sum(axis=1)
                )
                best = np.minimum(best, squared)
        return np.exp(-best / _TUNING_WIDTH)


def _average_neighbours(maps: Array) -> Array:
    """Average over blocks of 2 × 2 positions that overlap by half."""
    return (maps[..., :-1, :-1] + maps[..., 1:, :-1] + maps[..., :-1, 1:] + maps[..., 1:, 1:]) / 4


def _rectify(drive: Array) -> Array:
    return np.logaddexp(0.0, 2 * drive) / 2


class Simulation(NamedTuple):
    """Measurements of one region and what is known about them."""

    responses: Array  # repetitions × stimuli × neuroids
    noise_sd: Array  # standard deviation of the noise of one repetition
    reliability: Array  # True reliability of the average over all repetitions


def reliability_of(expected: Array, noise_sd: Array, repetitions: int = REPETITIONS) -> Array:
    """True reliability of the average over repetitions, for these very stimuli.

    Reliability is the share of variance that is not noise: S² / (S² + σ² / R), with S² the variance of the expected
    responses over the stimuli (divisor n − 1), σ² the noise variance of one repetition, R the number of repetitions.
    A split-half correlation corrected after Spearman and Brown estimates the same quantity.

    `expected`: stimuli × neuroids. `noise_sd`: standard deviation of the noise of one repetition.

    Examples
    --------
    >>> import numpy as np
    >>> reliability_of(np.array([[-1.0], [0.0], [1.0]]), np.array([2.0]), repetitions=4)
    array([0.5])
    """
    signal = expected.var(axis=0, ddof=1)
    return signal / (signal + noise_sd**2 / repetitions)


def noise_sd_for(expected: Array, reliability: Array, repetitions: int = REPETITIONS) -> Array:
    """Noise of one repetition that gives the average over repetitions this reliability."""
    signal = expected.var(axis=0, ddof=1)
    return np.sqrt(repetitions * signal * (1 - reliability) / reliability)


def simulate(expected: Array, *, stream: int, repetitions: int = REPETITIONS) -> Simulation:
    """Measure: add independent Gaussian noise to the expected responses, once a repetition.

    `expected`: stimuli × neuroids. `stream`: which stream of random numbers; another for each region. `repetitions`:
    how often each stimulus is shown. Result: reliabilities are spread evenly from 0.75 to 0.95 over the neuroids, in
    random order.
    """
    random = np.random.RandomState([SEED, stream])  # a stream that is frozen for ever
    neuroids = expected.shape[1]
    noise_sd = noise_sd_for(expected, random.permutation(np.linspace(*_RELIABILITIES, neuroids)), repetitions)
    noise = random.standard_normal((repetitions, *expected.shape))
    return Simulation(
        responses=expected + noise_sd * noise,
        noise_sd=noise_sd,
        reliability=reliability_of(expected, noise_sd, repetitions),
    )


def measured_assembly(identifier: str, stimuli: StimulusSet, simulations: Mapping[str, Simulation]) -> NeuroidAssembly:
    """Measurements of all regions, single repetitions.

    Result: presentation × neuroid. ``presentation`` has the columns of the stimuli and ``repetition``; ``neuroid`` has
    ``neuroid_id``, ``region``, ``noise_sd`` (noise of one repetition) and ``reliability`` (true reliability of the
    average over repetitions).
    """
    responses = np.concatenate([simulation.responses for simulation in simulations.values()], axis=2)
    repetitions, shown, neuroids = responses.shape
    coords: dict[str, Any] = {
        str(column): ("presentation", np.tile(stimuli[column].to_numpy(), repetitions)) for column in stimuli.columns
    }
    coords["repetition"] = ("presentation", np.repeat(np.arange(repetitions), shown))
    labels = [(region, number) for region, simulation in simulations.items()
              for number in range(len(simulation.noise_sd))]  # fmt: skip
    coords["neuroid_id"] = ("neuroid", [f"{region}.{number}" for region, number in labels])
    coords["region"] = ("neuroid", [region for region, _ in labels])
    for name in ("noise_sd", "reliability"):
        values = [getattr(simulation, name) for simulation in simulations.values()]
        coords[name] = ("neuroid", np.concatenate(values))
    measured = NeuroidAssembly(
        responses.reshape(repetitions * shown, neuroids), coords=coords, dims=["presentation", "neuroid"]
    )
    measured.name = identifier
    measured.attrs |= {"identifier": identifier, "stimulus_set_identifier": identifier, "stimulus_set": stimuli}
    return measured


class ControlBenchmark(NeuralBenchmark):
    """A neural benchmark whose measurements are simulated: it checks the method, not the brain."""

    control = True


class SplitHalfRDM(Ceiling):
    """Expected Spearman correlation of the measured RDM with the RDM of the responses without noise.

    Repetitions are split into random halves; each half is averaged and gives an RDM; the two correlate by r. After
    Spearman and Brown, the RDM of all repetitions has the reliability 2r / (1 + r): the share of its variance that is
    not noise. A noise-free model correlates with it by the square root of that.

    `splits`: random splits that are averaged.

    Notes
    -----
    This holds where noise adds to dissimilarities independently of them. Correlation distance is such a case if the
    response patterns share a large common part (neuroids differ in spontaneous activity more than stimuli change
    their responses): it then is close to a squared Euclidean distance, to which noise adds a constant. Where patterns
    without a common part differ in strength, noise lowers the correlation of weak ones most; both halves share
    that distortion and the ceiling exceeds what the true responses reach.

    The bounds of Nili et al. 2014 (https://doi.org/10.1371/journal.pcbi.1003553) answer another question, with several
    subjects: their upper bound contains the subject's own noise, so that even the true model stays below it.
    """

    meaning = "upper bound"

    def __init__(self, *, splits: int = 10, seed: int = 1) -> None:
        self._splits = splits
        self._seed = seed

    def __call__(self, assembly: DataAssembly, /, *args: Any, **kwargs: Any) -> Score:
        """Estimate the ceiling.

        `assembly`: presentation × neuroid, with ``repetition`` and ``stimulus_id`` on ``presentation``. Result:
        ``raw``: one value a split. ``error`` and ``ci``: over stimuli. A UserError if there are fewer than two
        repetitions, or halves do not agree at all.
        """
        labels = np.unique(assembly["repetition"].values)
        if len(labels) < 2:
            raise UserError(
                f"{len(labels)} repetition: halves need at least two",
                remedy="pass the measurements before their repetitions are averaged",
            )
        names = ("stimulus_id", "repetition")  # fewer coordinates take less time to group by
        coords = {name: ("presentation", assembly[name].values) for name in names}
        assembly = DataAssembly(assembly.values, coords=coords, dims=assembly.dims)
        random = np.random.default_rng(self._seed)
        values, influences = [], []
        for _ in range(self._splits):
            shuffled = random.permutation(labels)
            first, second = (
                rdm(_responses(assembly, half)) for half in (shuffled[: len(labels) // 2], shuffled[len(labels) // 2 :])
            )
            similarity = compare_rdms(first, second)
            if not similarity.value > 0:
                raise UserError(
                    f"the RDMs of two halves of the repetitions correlate by {similarity.value:.3g}: "
                    f"{similarity.reason or 'the measurements are noise only'}",
                    remedy="check that repetitions and stimuli are labelled rightly",
                )
            value = float(np.sqrt(spearman_brown(similarity.value)))
            values.append(value)
            influences.append(similarity.influence / (value * (1 + similarity.value) ** 2))
        score = Score(float(np.mean(values)))
        score.attrs["raw"] = Score(values, coords={"split": ("split", np.arange(self._splits))}, dims=["split"])
        score.attrs["scale"] = "similarity"
        score.attrs["meaning"] = self.meaning
        interval = influence_interval(float(score), np.mean(influences, axis=0), correlation=True)
        estimates = "expected correlation of a noise-free RDM with the measured one"
        return attach_interval(score, interval, units="stimuli for these neuroids", estimates=estimates)


def _responses(assembly: DataAssembly, repetitions: np.ndarray) -> np.ndarray:
    half = assembly.isel(presentation=np.flatnonzero(np.isin(assembly["repetition"].values, repetitions)))
    return average_repetition(half).sortby("stimulus_id").transpose("presentation", "neuroid").values


SELECTION = "Simulated2026-selection"
EXEMPLARS = range(200, 230)  # Simulated2026 shows 0 to 99; the prototypes of its neuroids are 100 to 103
_STREAMS = {"V1": 11, "IT": 12}


def selection_benchmark(identifier: str) -> ControlBenchmark:
    """Make ``Simulated2026-selection.V1`` or ``.IT`` with ``-pls`` or ``-rdm``.

    An UnknownIdentifier if the name is unknown.
    """
    region, _, metric = identifier.removeprefix(f"{SELECTION}.").partition("-")
    if region not in _STREAMS or metric not in ("pls", "rdm"):
        raise UnknownIdentifier(
            f"there is no benchmark {identifier}",
            remedy=f"known: {', '.join(f'{SELECTION}.{known}-pls and -rdm' for known in _STREAMS)}",
        )
    stimuli = drawn_stimuli(SELECTION, EXEMPLARS, simulated_data_home() / "selection-v1")
    model = EncodingModel()
    energies = np.stack([model.energies(load_grey(stimuli.get_stimulus(name))) for name in stimuli["stimulus_id"]])
    expected = model.v1(energies) if region == "V1" else model.it(energies)
    measured = measured_assembly(SELECTION, stimuli, {region: simulate(expected, stream=_STREAMS[region])})
    ceiling: Ceiling = load_ceiling("internal_consistency") if metric == "pls" else SplitHalfRDM()
    return ControlBenchmark(
        identifier=identifier,
        version=1,
        assembly=average_repetition(measured),
        similarity_metric=load_metric(metric),
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=REPETITIONS,
        ceiling_func=lambda: ceiling(measured),
        repetitions=measured,
        parent="control",
    )
