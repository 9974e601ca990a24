"""Number and effective dimensionality of the features that are recorded from a model, for the receipt."""

from typing import Any

import numpy as np

from brainscore_core.numerics import effective_dimensionality
from brainscore_core.provenance import is_recorded, note
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


def note_features(recordings: DataAssembly, region: str) -> None:
    """Note how many features a model has in a region, and their effective dimensionality, if this is recorded.

    `recordings`: presentation × neuroid[ × time_bin]; of several time bins, the mean of their dimensionalities is
    noted.

    Notes
    -----
    The effective dimensionality is the participation ratio of the eigenvalues of the features' covariance [1]_, from
    all features and stimuli. How it relates to scores: [2]_. It is undefined for a single stimulus, for features that
    do not vary and for features that are not finite.

    References
    ----------
    .. [1] Gao et al. (2017). bioRxiv 214262. https://doi.org/10.1101/214262
    .. [2] Elmoznino & Bonner (2024). PLOS Computational Biology 20, e1011792.
       https://doi.org/10.1371/journal.pcbi.1011792

    Examples
    --------
    >>> from brainscore_core.provenance import recording
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> values = NeuroidAssembly(np.vstack([np.eye(3), -np.eye(3)]), coords={"layer": ("neuroid", ["a"] * 3)},
    ...                          dims=["presentation", "neuroid"])
    >>> with recording() as record:
    ...     note_features(values, "V1")
    >>> round(record.items[0]["effective_dimensionality"], 6)
    3.0
    """
    if not is_recorded("features") or 0 in recordings.shape:
        return
    table = recordings.transpose("presentation", "neuroid", ...)
    layers = table["layer"].values if "layer" in table.coords else np.array([])
    note(
        "features",
        region=region,
        layers=list(dict.fromkeys(map(str, layers.tolist()))),
        stimuli=len(table),
        features=int(table.sizes["neuroid"]),
        effective_dimensionality=_effective_dimensionality(table.values),
    )


def _effective_dimensionality(values: Any) -> float | None:
    slices = [values] if values.ndim == 2 else [values[:, :, time_bin] for time_bin in range(values.shape[2])]
    try:
        value = float(np.mean([effective_dimensionality(slice_values) for slice_values in slices]))
    except ValueError:  # a single stimulus, or values that are not finite
        return None
    return value if np.isfinite(value) else None
