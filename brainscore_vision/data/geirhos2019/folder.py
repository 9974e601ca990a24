"""Stimuli that a user obtained: images in a folder, found by their names."""

import filecmp
from pathlib import Path

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.data.geirhos2019.trials import stimulus_id

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
