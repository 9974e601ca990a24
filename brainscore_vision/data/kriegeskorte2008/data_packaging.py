"""How the published MATLAB files of the 92-object experiment become dissimilarities and stimuli.

The files lie in the demos of rsatoolbox (https://github.com/rsagroup/rsatoolbox, MIT); ``sources.csv`` pins them by URL
and sha256. All of them hold the objects in one order, that of ``stimuli_92objs``.

Each data set is a `DataAssembly` rdm × pair: a row is one representational dissimilarity matrix, a column one pair of
objects, in the order of the matrix' upper triangle read row by row (as :func:`scipy.spatial.distance.squareform` takes
it).
"""

from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np

from brainscore_core.files import replacing, sweep
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.fetch import cache_home
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.data_sources.tables import fetch_sources, read_sources


def image_folder(sha256: str) -> Path:
    """Folder of the cache for images out of the file with this hash."""
    return cache_home() / sha256 / "images"


def write_images(images: dict[str, np.ndarray], folder: Path) -> dict[str, Path]:
    """Write images as PNG files, unless they are there already.

    `images`: arrays (height × width × 3, uint8) by stimulus.

    Notes
    -----
    The same pixels give the same bytes. A file that holds other pixels than it should is replaced. Each file is moved
    into place in one step, so an interrupted process leaves none half-written and several may write at once.
    """
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)  # what a killed process left unfinished
    paths = {stimulus: folder / f"{stimulus}.png" for stimulus in images}
    for stimulus, path in paths.items():
        if not _holds(path, images[stimulus]):
            with replacing(path) as stream:
                Image.fromarray(images[stimulus]).save(stream, format="PNG", compress_level=9)
    return paths


def _holds(path: Path, pixels: np.ndarray) -> bool:
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.mode == "RGB" and np.array_equal(np.asarray(image), pixels)
    except (OSError, SyntaxError, ValueError):
        return False  # missing or broken: written anew


STIMULUS_IDS: Final = tuple(f"object_{number:02}" for number in range(1, 93))
"""Names of the objects in the order of the published files, which give them none."""

_SUPPLEMENT = "Kriegeskorte_Neuron2008_supplementalData.mat"


def load_stimuli() -> StimulusSet:
    """The 92 images: colour photographs of isolated objects on a grey background, 175 × 175.

    Result: columns ``stimulus_id``; ``category`` (six, as published); ``animate, human, face, body, natural,
    artificial, monkey_or_ape`` (bool, as published: ``natural`` includes animals, ``artificial`` means artificial
    objects).

    References
    ----------
    .. [1] Kriegeskorte et al. 2008, https://doi.org/10.1016/j.neuron.2008.10.043
    """
    supplement = _read(_SUPPLEMENT)
    objects = supplement["stimuli_92objs"][0]
    labels = [str(label[0]) for label in supplement["categoryLabels"][0]]
    members = dict(zip(labels, supplement["categoryVectors"].T.astype(bool), strict=True))
    stimuli = StimulusSet(
        {
            "stimulus_id": list(STIMULUS_IDS),
            "category": [str(item["category"][0]) for item in objects],
            "animate": members["animate"],
            "human": members["human"],
            "face": members["face"],
            "body": members["body"],
            "natural": np.array([bool(item["natural"].item()) for item in objects]),
            "artificial": members["artiObj"],
            "monkey_or_ape": members["monkeyape"],
        }
    )
    images = {name: np.asarray(item["image"]) for name, item in zip(STIMULUS_IDS, objects, strict=True)}
    stimuli.identifier = "Kriegeskorte2008"
    stimuli.stimulus_paths = write_images(images, image_folder(_source(_SUPPLEMENT).sha256))
    return stimuli


def load_human_it() -> DataAssembly:
    """Dissimilarities in human IT: fMRI of four subjects, two sessions each.

    Result: rdm × pair, 8 × 4,186: 1 − Pearson correlation between response patterns; levels ``subject, session,
    species, region`` and ``stimulus_id, other_stimulus_id``.

    References
    ----------
    .. [1] Kriegeskorte et al. 2008, https://doi.org/10.1016/j.neuron.2008.10.043
    """
    published = _read("92_brainRDMs.mat")["RDMs"][0]
    rdms = list(published.ravel())
    # published as 'hIT | BE | Session: 1'
    labels = [str(rdm["name"][0]).split(" | ") for rdm in rdms]
    return _dissimilarities(
        [_condensed(rdm["RDM"]) for rdm in rdms],
        identifier="Kriegeskorte2008.IT-human",
        subject=[subject for _, subject, _ in labels],
        session=[int(session.removeprefix("Session: ")) for _, _, session in labels],
        species=["human"] * len(rdms),
        region=["IT"] * len(rdms),
    )


def load_monkey_it() -> DataAssembly:
    """Dissimilarities in monkey IT: 674 neurons of two monkeys, pooled.

    Result: rdm × pair, 1 × 4,186: 1 − Pearson correlation between response patterns; levels ``recording, species,
    region`` and ``stimulus_id, other_stimulus_id``.

    References
    ----------
    .. [1] Kriegeskorte et al. 2008, https://doi.org/10.1016/j.neuron.2008.10.043
    .. [2] Kiani et al. 2007, https://doi.org/10.1152/jn.00024.2007
    """
    published = {str(rdm["name"][0]): rdm["RDM"] for rdm in _read(_SUPPLEMENT)["RDMs_mIT_hIT_fig1"][0]}
    name = "mIT_674neurons"
    return _dissimilarities(
        [np.asarray(published[name], dtype=float).ravel()],
        identifier="Kriegeskorte2008.IT-monkey",
        recording=[name],
        species=["monkey"],
        region=["IT"],
    )


def load_judgements() -> DataAssembly:
    """Dissimilarities as 16 people judged them by arranging the images.

    Result: rdm × pair, 16 × 4,186; levels ``subject`` and ``stimulus_id, other_stimulus_id``.

    References
    ----------
    .. [1] Mur et al. 2013, https://doi.org/10.3389/fpsyg.2013.00128
    """
    rdms = _read("92_behavRDMs.mat")["rdms_behav_92"][0]
    return _dissimilarities(
        [_condensed(rdm["RDM"]) for rdm in rdms],
        identifier="Kriegeskorte2008.judgements",
        # published as 'simJudge | subject1'
        subject=[str(rdm["name"][0]).split(" | ")[1] for rdm in rdms],
        species=["human"] * len(rdms),
    )


def load_models() -> DataAssembly:
    """Dissimilarities of the published models.

    Result: rdm × pair, 8 × 4,186; levels ``model`` (as published: animacy, FaceBodyManmadeNatobj, monkeyIT, EVA, HMAX,
    V1, Silhouette, RADON), ``kind`` (model or measured) and ``stimulus_id, other_stimulus_id``.

    References
    ----------
    .. [1] Kriegeskorte et al. 2008, https://doi.org/10.1016/j.neuron.2008.10.043
    .. [2] Nili et al. 2014, https://doi.org/10.1371/journal.pcbi.1003553
    """
    rdms = _read("92_modelRDMs.mat")["Models"][0]
    names = [str(rdm["name"][0]) for rdm in rdms]
    return _dissimilarities(
        [_condensed(rdm["RDM"]) for rdm in rdms],
        identifier="Kriegeskorte2008.models",
        model=names,
        kind=["measured" if name == "monkeyIT" else "model" for name in names],
    )


def _source(name: str) -> Any:
    return read_sources(Path(__file__).parent, containing=f"/{name}")[0]


def _read(name: str) -> dict[str, Any]:
    from scipy.io import loadmat

    (path,) = fetch_sources([_source(name)])
    content: dict[str, Any] = loadmat(path)
    return content


def _condensed(rdm: Any) -> np.ndarray:
    square = np.asarray(rdm, dtype=float)
    return square[np.triu_indices(len(square), k=1)]


def _dissimilarities(rows: list[np.ndarray], *, identifier: str, **levels: list[Any]) -> DataAssembly:
    pairs = list(combinations(STIMULUS_IDS, 2))
    values = np.stack(rows)
    assembly = DataAssembly(
        values,
        coords={
            **{level: ("rdm", labels) for level, labels in levels.items()},
            "stimulus_id": ("pair", [first for first, _ in pairs]),
            "other_stimulus_id": ("pair", [second for _, second in pairs]),
        },
        dims=["rdm", "pair"],
    )
    stimuli = load_stimuli()
    assembly.name = identifier
    stimulus_attrs = {"stimulus_set": stimuli, "stimulus_set_identifier": stimuli.identifier}
    assembly.attrs |= {"identifier": identifier, **stimulus_attrs}
    return assembly
