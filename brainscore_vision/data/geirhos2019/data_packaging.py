"""How the published files of Geirhos et al. 2019 become assemblies and stimulus sets.

The authors publish trials and images at https://github.com/rgeirhos/texture-vs-shape (images: CC BY 4.0).
``sources.csv`` pins every file that is used, by URL and sha256. All edge and silhouette images are listed; of the 1,280
cue-conflict images every eighth. A copy of all of them is taken from the folder that the environment variable
``BRAINSCORE_GEIRHOS2019_STIMULI`` names: the folder ``stimuli`` of a clone of that repository.
"""

import filecmp
import os
from pathlib import Path
from typing import Final

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.data.geirhos2019.trials import behavior, read_trials, stimulus_id, stimulus_table
from brainscore_vision.data_sources.tables import Source, fetch_sources, read_sources

_SHOWN = 3
_ENDINGS = {".png", ".jpg", ".jpeg"}


def stimuli_in_folder(stimuli: StimulusSet, folder: Path, *, variable: str) -> StimulusSet:
    """Find the image of every stimulus in `folder` and the folders below it.

    A file belongs to a stimulus if its name, without the trial's number and the observer's (``s01`` or ``dnn``), is the
    ``stimulus_id``; where a test has one condition only, it may also be the last part of it (``airplane1-clock2.png``).

    `stimuli`: all stimuli of a test, without files. `variable`: environment variable that named the folder, for
    messages. Result: a copy of `stimuli` with files. A DataUnavailable if the folder or some of its images are missing;
    a UserError if two different files could be the same stimulus.
    """
    if not folder.is_dir():
        raise DataUnavailable(
            f"{variable}: no folder {folder}", remedy=f"create it with the images, or unset {variable}"
        )
    stimuli_by_name = _names(stimuli)
    paths: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        stimulus = stimuli_by_name.get(stimulus_id(path.name)) if path.suffix.lower() in _ENDINGS else None
        if stimulus is None or not path.is_file():
            continue
        first = paths.setdefault(stimulus, path)
        if first != path and not filecmp.cmp(first, path, shallow=False):
            raise UserError(
                f"{first} and {path} differ, but both could be the stimulus {stimulus!r}",
                remedy="keep only the images that were shown to networks, or remove one of the two",
            )
    missing = [name for name in stimuli["stimulus_id"] if name not in paths]
    if missing:
        raise DataUnavailable(
            f"{variable}: {len(missing)} of {len(stimuli)} images of {stimuli.identifier} are missing in {folder}, "
            f"such as {', '.join(missing[:_SHOWN])}",
            remedy=f"complete the folder, or unset {variable}",
        )
    result = stimuli.copy()
    result.stimulus_paths = paths
    return result


def _names(stimuli: StimulusSet) -> dict[str, str]:
    names = {name: name for name in stimuli["stimulus_id"]}
    if stimuli["condition"].nunique() == 1:
        names |= {name.rpartition("_")[2]: name for name in stimuli["stimulus_id"]}
    return names


STIMULI_VARIABLE: Final = "BRAINSCORE_GEIRHOS2019_STIMULI"
"""Environment variable that names a folder with all images."""

TESTS: Final = {
    "cue-conflict": ("style-transfer-512-nomask-experiment", "style-transfer-preprocessed-512"),
    "edge": ("edge-experiment", "edges"),
    "silhouette": ("silhouette-filled-experiment", "filled-silhouettes"),
}
"""Folders of the trials and of the images, by test."""

_RETRAINED = "style-transfer-512-nomask-experiment-trained-CNNs"
_FOLDER = Path(__file__).parent


def load_observers(test: str) -> BehavioralAssembly:
    """Decisions of the ten observers of one test.

    `test`: one of :data:`TESTS`. Result: presentation, with the levels stimulus_id, truth, condition, subject, session,
    trial, response_time (seconds), for cue conflict also shape and texture. Its ``stimulus_set`` names all stimuli,
    without files.

    References
    ----------
    .. [1] Geirhos et al. 2019, https://doi.org/10.48550/arXiv.1811.12231
    """
    experiment, _ = TESTS[test]
    identifier = f"Geirhos2019_{test}"
    trials = read_trials(fetch_sources(read_sources(_FOLDER, containing=f"/{experiment}/{experiment}_subject-")))
    return behavior(trials, stimulus_table(trials, identifier=identifier), identifier=identifier)


def load_networks() -> BehavioralAssembly:
    """Decisions of all networks of the published experiments.

    Result: presentation, with the levels stimulus_id, truth, condition, subject (the network, as the file names it),
    test, experiment (the published folder: two of them hold a network called alexnet, which are different networks),
    session, trial, response_time (NaN).

    References
    ----------
    .. [1] Geirhos et al. 2019, https://doi.org/10.48550/arXiv.1811.12231
    """
    import pandas as pd

    sources = network_sources()
    tables = [
        read_trials([path]).assign(test=test, experiment=experiment, subject=network)
        for (test, experiment, network), path in zip(sources, fetch_sources(sources.values()), strict=True)
    ]
    trials = pd.concat(tables, ignore_index=True)
    assembly = behavior(trials, stimulus_table(trials, identifier="Geirhos2019"), identifier="Geirhos2019_networks")
    levels = {name: ("presentation", trials[name].to_numpy().astype(str)) for name in ("test", "experiment")}
    return assembly.assign_coords(levels)


def network_sources() -> dict[tuple[str, str, str], Source]:
    """Files of networks' decisions by (test, experiment, network).

    Examples
    --------
    >>> sorted(network for test, _, network in network_sources() if test == "edge")
    ['alexnet', 'googlenet', 'vgg']
    """
    folders = {experiment: test for test, (experiment, _) in TESTS.items()} | {_RETRAINED: "cue-conflict"}
    sources_by_test = {}
    for source in read_sources(_FOLDER, containing="/raw-data/"):
        experiment = source.url.split("/")[-2]
        network = source.name.removeprefix(f"{TESTS[folders[experiment]][0]}_")
        network = network.removesuffix("_session_1.csv").removesuffix("_session-1.csv")
        if not network.startswith("subject-"):
            sources_by_test[folders[experiment], experiment, network] = source
    return sources_by_test


def load_stimuli(test: str, *, identifier: str | None = None) -> StimulusSet:
    """Images of one test.

    `test`: one of :data:`TESTS`. `identifier`: name of the stimulus set; by default ``Geirhos2019_<test>``. Result: 224
    × 224 RGB images. Of cue conflict only the 160 that ``sources.csv`` lists, unless the environment variable
    ``BRAINSCORE_GEIRHOS2019_STIMULI`` names a folder with all 1,280.
    """
    experiment, images = TESTS[test]
    identifier = identifier or f"Geirhos2019_{test}"
    # any observer saw every image
    trials = read_trials(fetch_sources(read_sources(_FOLDER, containing=f"/{experiment}/{experiment}_subject-01_")))
    stimuli = stimulus_table(trials, identifier=identifier)
    if folder := os.environ.get(STIMULI_VARIABLE):
        return stimuli_in_folder(stimuli, Path(folder).expanduser() / images, variable=STIMULI_VARIABLE)
    sources = {source.name: source for source in read_sources(_FOLDER, containing=f"/stimuli/{images}/")}
    ids = {name.rpartition("_")[2]: name for name in stimuli["stimulus_id"]}
    paths = {ids[name]: path for name, path in zip(sources, fetch_sources(sources.values()), strict=True)}
    covered = StimulusSet(stimuli[stimuli["stimulus_id"].isin(paths)].reset_index(drop=True))
    covered.identifier = identifier
    covered.stimulus_paths = paths
    return covered
