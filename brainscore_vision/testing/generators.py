"""Generators of simulated data, one for each kind of experiment; `brainscore_vision.testing.stand_ins` calls them."""

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
    resolve_assembly_class,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import picture_features, write_pictures


def seed_of(name: str) -> int:
    """Seed that depends on a name only.

    Examples
    --------
    >>> seed_of("Simulated2026") == seed_of("Simulated2026")
    True
    """
    return zlib.crc32(name.encode())


def columns(prefix: str, count: int, **of_stimuli: Sequence[Any]) -> pd.DataFrame:
    """Table of simulated stimuli: names, and further columns whose values are repeated in turn.

    `prefix`: beginning of the stimuli's names. `**of_stimuli`: values of each further column.

    Examples
    --------
    >>> columns("image", 3, truth=["cat", "dog"])["truth"].tolist()
    ['cat', 'dog', 'cat']
    """
    table = {"stimulus_id": [f"{prefix}{number:04d}" for number in range(count)]}
    return pd.DataFrame(
        table | {name: [values[k % len(values)] for k in range(count)] for name, values in of_stimuli.items()}
    )


def pictures(folder: Path, *, table: pd.DataFrame, name: str, kind: str | None = None, size: int = 32) -> StimulusSet:
    """Write a picture for each stimulus of a table.

    `table`: with the column ``stimulus_id``. `name`: name of the stimulus set, from which the seed is derived. `kind`:
    column with kinds of stimuli: pictures of the same kind are similar. `size`: width and height in pixels.
    """
    stimuli = StimulusSet(table)
    kinds = None if kind is None else pd.factorize(table[kind])[0].tolist()
    ids = [str(one) for one in table["stimulus_id"]]
    paths = write_pictures(folder, ids, seed=seed_of(name) % 2**31, size=size, kinds=kinds)
    stimuli.stimulus_paths = dict(zip(table["stimulus_id"], paths.values(), strict=True))
    return stimuli


def recordings(
    stimuli: StimulusSet,
    *,
    name: str,
    cls: str = "NeuroidAssembly",
    subjects: Sequence[str] = ("subject1", "subject2"),
    regions: Sequence[str] = ("V1", "V2", "V4", "IT"),
    neuroids: int = 3,
    repetitions: int = 1,
    time_bins: Sequence[tuple[float, float]] | None = ((70, 170),),
    of_neuroids: Mapping[str, float] | None = None,
    unreliable: float | None = None,
    subject_coord: str = "subject",
    region_coord: bool = True,
    repetition_coord: str | None = "repetition",
    numbered_bins: bool = False,
    copied: Sequence[str] = (),
    attrs: Mapping[str, Any] | None = None,
) -> DataAssembly:
    """Simulate recordings: random linear functions of the pictures, the same for a family of assemblies, with noise.

    `name`: name of the family: assemblies of the same name have the same neuroids. `cls`: class of the assembly.
    `subjects`, `regions`: who, and where was recorded. `neuroids`: number of reliable neuroids of each subject in each
    region. `repetitions`: how often each stimulus was shown. `time_bins`: starts and ends; None: no dimension
    ``time_bin``. `of_neuroids`: coordinates of neuroids, and the value for a reliable neuroid. `unreliable`: the value
    of these coordinates for one further neuroid of each subject and region, which is only noise. `subject_coord`: name
    of the coordinate of subjects. `region_coord`: whether the regions are stated. `repetition_coord`: name of the
    coordinate of repetitions; None if there is none. `numbered_bins`: whether time bins have the coordinate
    ``time_bin_id``. `copied`: columns of the stimuli that presentations have, too. `attrs`: attributes of the assembly.
    Result: presentation × neuroid[ × time_bin].
    """
    own = neuroids + (unreliable is not None)
    places = [(subject, region, k) for subject in subjects for region in regions for k in range(own)]
    features = picture_features(stimuli)
    weights = np.random.default_rng(seed_of(name)).standard_normal((features.shape[1], len(places)))
    reliable = np.array([k < neuroids for *_, k in places])
    noise = np.where(reliable, np.linspace(0.3, 0.6, len(places)), 4.0)
    signal = np.repeat(features @ weights / 4, repetitions, axis=0)[:, :, np.newaxis]
    bins = len(time_bins) if time_bins is not None else 1
    rng = np.random.default_rng([seed_of(name), len(stimuli), repetitions])
    course = np.linspace(0.6, 1.0, bins) if bins > 1 else np.ones(1)
    values = signal * course + noise[:, np.newaxis] * rng.standard_normal((*signal.shape[:2], bins))
    coords: dict[str, Any] = {
        "stimulus_id": ("presentation", np.repeat(stimuli["stimulus_id"].to_numpy(), repetitions)),
        "neuroid_id": ("neuroid", np.arange(len(places))),
        subject_coord: ("neuroid", np.array([subject for subject, *_ in places])),
    }
    if repetition_coord is not None:
        coords[repetition_coord] = ("presentation", np.tile(np.arange(repetitions), len(stimuli)))
    for column in copied:
        coords[column] = ("presentation", np.repeat(stimuli[column].to_numpy(), repetitions))
    if region_coord:
        coords["region"] = ("neuroid", np.array([region for _, region, _ in places]))
    for coord, value in (of_neuroids or {}).items():
        coords[coord] = ("neuroid", np.where(reliable, value, unreliable if unreliable is not None else value))
    dims = ["presentation", "neuroid"]
    if time_bins is None:
        values = values[:, :, 0]
    else:
        dims.append("time_bin")
        coords["time_bin_start"] = ("time_bin", [start for start, _ in time_bins])
        coords["time_bin_end"] = ("time_bin", [end for _, end in time_bins])
        if numbered_bins:
            coords["time_bin_id"] = ("time_bin", np.arange(len(time_bins)))
    made = resolve_assembly_class(cls)(NeuroidAssembly(values, coords=coords, dims=dims))
    made.attrs.update(attrs or {})
    return made


def answers(
    stimuli: StimulusSet,
    *,
    name: str,
    truth: str = "truth",
    subjects: int = 4,
    accuracy: tuple[float, float] = (0.5, 0.9),
    copied: Sequence[str] = (),
) -> BehavioralAssembly:
    """Simulate people who name each stimulus, some more often rightly than others.

    `name`: name of the assembly, from which the seed is derived. `truth`: column of the stimuli with the right answer.
    `accuracy`: accuracy of the first and of the last. `copied`: columns of the stimuli that trials have, too. Result:
    choices, with ``subject``, ``stimulus_id`` and the copied columns.
    """
    rng = np.random.default_rng(seed_of(name))
    right = stimuli[truth].to_numpy().astype(str)
    categories = np.unique(right)
    trials = len(right) * subjects
    chance = np.repeat(np.linspace(*accuracy, subjects), len(right))
    difficulty = np.tile(rng.uniform(-0.2, 0.2, len(right)), subjects)  # the same for all people
    wrong = categories[
        (np.searchsorted(categories, np.tile(right, subjects)) + rng.integers(1, len(categories), trials))
        % len(categories)
    ]
    chosen = np.where(rng.uniform(size=trials) < chance + difficulty, np.tile(right, subjects), wrong)
    coords: dict[str, Any] = {
        "stimulus_id": ("presentation", np.tile(stimuli["stimulus_id"].to_numpy(), subjects)),
        "subject": ("presentation", np.repeat([f"person{k + 1}" for k in range(subjects)], len(right))),
    }
    for column in copied:
        coords[column] = ("presentation", np.tile(stimuli[column].to_numpy(), subjects))
    return BehavioralAssembly(chosen, coords=coords, dims=["presentation"])
