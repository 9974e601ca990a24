"""Trials of the psychophysical experiments of Geirhos and colleagues: CSV files, one an observer and session."""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

CUE_CONFLICT = "cue-conflict"
"""The test whose images have the shape of one object and the texture of another."""

_TRIAL_NUMBER = re.compile(r"^\d+_")
_OBSERVER = re.compile(r"_(?:s\d+|dnn)_")
_CUES = re.compile(r"([a-z]+)\d+-([a-z]+)\d+\.png$")
_LEVELS = ("stimulus_id", "truth", "condition", "subject", "session", "trial", "response_time")


def stimulus_id(image_name: str) -> str:
    """What all observers' names of one image have in common.

    Each observer saw a copy of the image under a name with the trial's number and the observer's.

    `image_name`: column ``imagename`` of the published trials, or a file's name in the published stimuli. Result: the
    name without the two.

    Examples
    --------
    >>> stimulus_id("0042_edg_s07_0_oven_00_oven10.png"), stimulus_id("0042_edg_dnn_0_oven_00_oven10.png")
    ('edg_0_oven_00_oven10.png', 'edg_0_oven_00_oven10.png')
    """
    return _OBSERVER.sub("_", _TRIAL_NUMBER.sub("", image_name, count=1), count=1)


def read_trials(paths: Iterable[Path]) -> pd.DataFrame:
    """Read published trials.

    `paths`: CSV files with the columns subj, session, trial, rt, object_response, category, condition, imagename.
    Result: columns ``stimulus_id, truth, condition, subject, session, trial, response_time, choice`` and ``file`` (name
    of the CSV file without its ending). ``condition`` is text as published; ``response_time`` is in seconds, NaN for
    networks and where no answer was given in time, which is the choice ``na``.
    """
    tables = []
    for path in paths:
        # "na" is an answer here, and "0.00" a condition's name
        table = pd.read_csv(path, dtype=str, keep_default_na=False).rename(columns=str.lower)
        tables.append(table.assign(file=Path(path).stem))
    trials = pd.concat(tables, ignore_index=True)
    return pd.DataFrame(
        {
            "stimulus_id": trials["imagename"].map(stimulus_id),
            "truth": trials["category"],
            "condition": trials["condition"],
            "subject": trials["subj"],
            "session": trials["session"].astype(int),
            "trial": trials["trial"].astype(int),
            "response_time": trials["rt"].astype(float),
            "choice": trials["object_response"],
            "file": trials["file"],
        }
    )


def stimulus_table(trials: pd.DataFrame, *, identifier: str) -> StimulusSet:
    """The stimuli of these trials, without their files.

    `trials`: from :func:`read_trials`. `identifier`: name of the stimulus set. Result: columns ``stimulus_id, truth,
    condition``, for cue conflict also ``shape`` and ``texture``; sorted by ``stimulus_id``.
    """
    columns = ["stimulus_id", "truth", "condition"]
    table = trials[columns].drop_duplicates("stimulus_id").sort_values("stimulus_id", ignore_index=True)
    if identifier.endswith(CUE_CONFLICT):
        table = with_shape_and_texture(table)
    stimuli = StimulusSet(table)
    stimuli.identifier = identifier
    return stimuli


def with_shape_and_texture(table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns ``shape`` and ``texture``, which the names of cue-conflict images tell.

    `table`: with ``stimulus_id`` such as ``s5n_0_bird_00_bird3-clock2.png``: shape of a bird, texture of a clock.

    Examples
    --------
    >>> import pandas as pd
    >>> with_shape_and_texture(pd.DataFrame({"stimulus_id": ["s5n_0_bird_00_bird3-clock2.png"]}))["texture"].item()
    'clock'
    """
    cues = table["stimulus_id"].str.extract(_CUES)
    wrong = table["stimulus_id"][cues[0].isna()]
    if len(wrong):
        raise UserError(
            f"{wrong.iloc[0]!r} does not end as the name of a cue-conflict image does",
            remedy="expected is <shape><number>-<texture><number>.png, such as bird3-clock2.png",
        )
    return table.assign(shape=cues[0], texture=cues[1])


def behavior(trials: pd.DataFrame, stimuli: StimulusSet, *, identifier: str) -> BehavioralAssembly:
    """Trials as an assembly.

    `trials`: from :func:`read_trials`. `stimuli`: becomes ``stimulus_set`` of the assembly; its columns shape and
    texture become levels. `identifier`: name of the data set. Result: presentation; the values are the choices.
    """
    columns = {name: trials[name].to_numpy() for name in _LEVELS}
    cues = [name for name in ("shape", "texture") if name in stimuli.columns]
    by_stimulus = stimuli.set_index("stimulus_id")
    for name in cues:
        columns[name] = by_stimulus[name].loc[trials["stimulus_id"]].to_numpy()
    assembly = BehavioralAssembly(
        trials["choice"].to_numpy(dtype=object).astype(str),
        coords={
            name: ("presentation", values.astype(str) if values.dtype.kind not in "ifb" else values)
            for name, values in columns.items()
        },
        dims=["presentation"],
    )
    assembly.name = identifier
    stimulus_attrs = {"stimulus_set": stimuli, "stimulus_set_identifier": stimuli.identifier}
    assembly.attrs |= {"identifier": identifier, **stimulus_attrs}
    return assembly
