"""How the published files of Geirhos et al. 2021 become assemblies and stimulus sets.

The authors publish the trials at https://github.com/bethgelab/model-vs-human; ``sources.csv`` pins the CSV file of
every observer by URL and sha256. Images of edges, silhouettes and cue conflict were published with Geirhos et al. 2019
and are taken from there. All others derive from ImageNet or ImageNet-Sketch and are not listed here: who has obtained
them names their folder in the environment variable ``BRAINSCORE_GEIRHOS2021_STIMULI``, with one folder a test below it.
"""

import os
from pathlib import Path
from typing import Final

from brainscore_core.errors import DataUnavailable
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.data._sources import fetch_sources, read_sources
from brainscore_vision.data.geirhos2019 import data_packaging as geirhos2019
from brainscore_vision.data.geirhos2019.folder import stimuli_in_folder
from brainscore_vision.data.geirhos2019.trials import behavior, read_trials, stimulus_table

__all__ = ["STIMULI_VARIABLE", "load_observers", "load_stimuli"]

STIMULI_VARIABLE: Final = "BRAINSCORE_GEIRHOS2021_STIMULI"
"""Environment variable that names a folder with images, one folder a test below it."""

_RELEASE = "https://github.com/bethgelab/model-vs-human/releases/tag/v0.1"
_FOLDER = Path(__file__).parent


def load_observers(test: str) -> BehavioralAssembly:
    """Decisions of all observers of one test.

    Parameters
    ----------
    test : str
        Name of the test, such as ``'colour'``.

    Returns
    -------
    BehavioralAssembly
        presentation, with the levels stimulus_id, truth, condition, subject, session, trial, response_time (seconds),
        for cue conflict also shape and texture. Its ``stimulus_set`` names all stimuli, without files: the ceiling
        needs none.

    References
    ----------
    .. [1] Geirhos et al. 2021, https://doi.org/10.48550/arXiv.2106.07411
    """
    identifier = f"Geirhos2021_{test}"
    trials = read_trials(fetch_sources(read_sources(_FOLDER, containing=f"/raw-data/{test}/")))
    return behavior(trials, stimulus_table(trials, identifier=identifier), identifier=identifier)


def load_stimuli(test: str) -> StimulusSet:
    """Images of one test.

    Parameters
    ----------
    test : str
        Name of the test, such as ``'colour'``.

    Returns
    -------
    StimulusSet
        From the folder ``$BRAINSCORE_GEIRHOS2021_STIMULI/<test>`` where there is one; otherwise, for edge, silhouette
        and cue-conflict, the images that Geirhos et al. 2019 published (of cue conflict as many as are listed there).

    Raises
    ------
    DataUnavailable
        If the images cannot be redistributed and no folder with them is named.
    """
    folder = os.environ.get(STIMULI_VARIABLE)
    if folder and (Path(folder).expanduser() / test).is_dir():
        stimuli = _first_observer_stimuli(test)
        return stimuli_in_folder(stimuli, Path(folder).expanduser() / test, variable=STIMULI_VARIABLE)
    if test in geirhos2019.TESTS:
        return geirhos2019.load_stimuli(test, identifier=f"Geirhos2021_{test}")
    reason = (
        f"{STIMULI_VARIABLE} names {folder}, which has no folder {test}" if folder else "no folder with them is named"
    )
    raise DataUnavailable(
        f"the images of Geirhos2021_{test} derive from other data sets and may not be redistributed; {reason}",
        remedy=f"Obtain {test}.tar.gz from {_RELEASE}, unpack it as <folder>/{test}, "
        f"and set {STIMULI_VARIABLE}=<folder>.",
    )


def _first_observer_stimuli(test: str) -> StimulusSet:
    # every observer of a test saw every image
    first = read_sources(_FOLDER, containing=f"/raw-data/{test}/{test}_subject-01_")
    return stimulus_table(read_trials(fetch_sources(first)), identifier=f"Geirhos2021_{test}")
