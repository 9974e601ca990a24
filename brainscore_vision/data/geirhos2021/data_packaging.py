"""How the published files of Geirhos et al. 2021 become assemblies and stimulus sets.

Two sources have the same trials, under other names (:mod:`.published`), so one of them is taken for all of a test:

- *The authors' files*, where they lie in a mirror or in the cache, or a folder with the test's images is named. The
  authors publish the trials at https://github.com/bethgelab/model-vs-human; ``sources.csv`` pins the CSV file of every
  observer by URL and sha256. Images are those of the folder ``$BRAINSCORE_GEIRHOS2021_STIMULI/<test>``; of edges,
  silhouettes and cue conflict those that were published with Geirhos et al. 2019; of all others, which derive from
  ImageNet or ImageNet-Sketch, those of the Brain-Score platform, under the authors' names.
- *The objects of the Brain-Score platform* otherwise, by their hashes; and where these cannot be had, the authors'
  files from the network.

Receipts tell which files were read.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from brainscore_core.errors import DataUnavailable
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.fetch import SeveralUnavailable
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.data.geirhos2019 import data_packaging as geirhos2019
from brainscore_vision.data.geirhos2019.data_packaging import stimuli_in_folder
from brainscore_vision.data.geirhos2019.trials import behavior, read_trials, stimulus_table
from brainscore_vision.data.geirhos2021.published import (
    load_published_assembly,
    load_published_stimuli,
    under_authors_names,
)
from brainscore_vision.data_sources.tables import at_hand, fetch_sources, read_sources

STIMULI_VARIABLE: Final = "BRAINSCORE_GEIRHOS2021_STIMULI"
"""Environment variable that names a folder with images, one folder a test below it."""

_RELEASE = "https://github.com/bethgelab/model-vs-human/releases/tag/v0.1"
_FOLDER = Path(__file__).parent


T = TypeVar("T")


def load_observers(test: str) -> DataAssembly:
    """Decisions of all observers of one test, from the source that the module names.

    `test`: name of the test, such as ``'colour'``. Result: presentation, with the levels stimulus_id, truth, condition,
    subject, session, trial, response_time (seconds). From the authors' files: for cue conflict also shape and texture,
    and a ``stimulus_set`` that names all stimuli without files, as the ceiling needs none. From the platform: also
    image_id_long, choice, category and the columns of the stimulus set. A DataUnavailable if neither source can be
    reached.

    References
    ----------
    .. [1] Geirhos et al. 2021, https://doi.org/10.48550/arXiv.2106.07411
    """
    published = "" if _are_the_authors(test) else _tried(load_published_assembly, test)
    return _authors_observers(test) if isinstance(published, str) else published


def load_stimuli(test: str) -> StimulusSet:
    """Images of one test, from the source that the module names.

    `test`: name of the test, such as ``'colour'``. Result: under the names that :func:`load_observers` has. Of cue
    conflict as many as are listed with Geirhos et al. 2019, where the authors' files are taken and no folder has them
    all. A DataUnavailable if the images can be had from nowhere; it says how to obtain them.
    """
    published = "" if _are_the_authors(test) else _tried(load_published_stimuli, test)
    return _authors_stimuli(test) if isinstance(published, str) else published


def _are_the_authors(test: str) -> bool:
    """Whether a test is taken from the authors' files."""
    return _folder(test) is not None or at_hand(read_sources(_FOLDER, containing=f"/raw-data/{test}/"))


def _tried(load: Callable[[str], T], test: str) -> T | str:
    """What was loaded, or why it is unavailable."""
    try:
        return load(test)
    except DataUnavailable as error:
        first = error.errors[0] if isinstance(error, SeveralUnavailable) else error
        return str(first).partition("\n")[0]


def _folder(test: str) -> Path | None:
    """Folder of a test's images that the user named."""
    named = os.environ.get(STIMULI_VARIABLE)
    folder = Path(named).expanduser() / test if named else None
    return folder if folder is not None and folder.is_dir() else None


def _authors_observers(test: str) -> DataAssembly:
    identifier = f"Geirhos2021_{test}"
    trials = read_trials(fetch_sources(read_sources(_FOLDER, containing=f"/raw-data/{test}/")))
    return behavior(trials, stimulus_table(trials, identifier=identifier), identifier=identifier)


def _authors_stimuli(test: str) -> StimulusSet:
    folder = _folder(test)
    if folder is not None:
        return stimuli_in_folder(_first_observer_stimuli(test), folder, variable=STIMULI_VARIABLE)
    if test in geirhos2019.TESTS:
        return geirhos2019.load_stimuli(test, identifier=f"Geirhos2021_{test}")
    published = _tried(load_published_stimuli, test)
    if not isinstance(published, str):
        return under_authors_names(published, _first_observer_stimuli(test))
    named = os.environ.get(STIMULI_VARIABLE)
    reason = (
        f"{STIMULI_VARIABLE} names {named}, which has no folder {test}" if named else "no folder with them is named"
    )
    raise DataUnavailable(
        f"the images of Geirhos2021_{test} derive from other data sets and may not be redistributed; {reason}, and the "
        f"Brain-Score platform's cannot be had: {published}",
        remedy=f"Obtain {test}.tar.gz from {_RELEASE}, unpack it as <folder>/{test}, "
        f"and set {STIMULI_VARIABLE}=<folder>.",
    )


def _first_observer_stimuli(test: str) -> StimulusSet:
    # every observer of a test saw every image
    first = read_sources(_FOLDER, containing=f"/raw-data/{test}/{test}_subject-01_")
    return stimulus_table(read_trials(fetch_sources(first)), identifier=f"Geirhos2021_{test}")
