"""Stimuli that decide between models, chosen from those of a benchmark by stored products."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.numerics.correlation import pearson
from brainscore_core.numerics.stimulus_design import FittedMaps, choose_stimuli, fit_maps, probability_of_truth
from brainscore_core.progress import track
from brainscore_core.questions.explained import Selected, load_selected
from brainscore_core.questions.expressions import rows_matching
from brainscore_core.questions.question import Question

if TYPE_CHECKING:
    import pandas as pd

    from brainscore_core.results.store import ResultsStore

_PREDICTIONS, _STIMULI, _DESIGN = "predictions.csv", "stimuli.csv", "design.json"


@dataclass(frozen=True)
class Design:
    """Stimuli whose responses tell models apart.

    - `models`: the models to decide between, followed by all others with stored products.
    - `compared`: how many of them are to be decided between.
    - `selected`: recordings of the benchmark.
    - `training`, `pool`, `chosen`: rows of its stimuli that maps were fitted to, that were chosen from, and that were
      chosen.
    - `maps`: for the pool, one for each model.
    - `repetitions`: presentations of each stimulus in the new experiment.
    - `noise`, `training_noise`: variance of the mean responses in the new experiment, and in the benchmark.
    """

    models: tuple[str, ...]
    compared: int
    selected: Selected
    training: NDArray[np.intp]
    pool: NDArray[np.intp]
    chosen: NDArray[np.intp]
    maps: tuple[FittedMaps, ...]
    repetitions: int
    noise: NDArray[np.float64]
    training_noise: NDArray[np.float64]

    @property
    def stimuli(self) -> list[str]:
        """Identifiers of the chosen stimuli, in the order of their choice."""
        return self.selected.stimuli[self.chosen].tolist()

    @property
    def predictions(self) -> pd.DataFrame:
        """Predicted responses: a row for each model and chosen stimulus, a column for each neuroid."""
        import pandas as pd

        rows = self._rows
        index = pd.MultiIndex.from_product([self.models, self.stimuli], names=["model", "stimulus_id"])
        values = np.concatenate([side.predictions[rows] for side in self.maps])
        return pd.DataFrame(values, index=index, columns=self.selected.neuroids)

    @property
    def _rows(self) -> NDArray[np.intp]:
        position = {row: number for number, row in enumerate(self.pool.tolist())}
        return np.array([position[row] for row in self.chosen.tolist()])

    def power(self, *, draws: int = 200) -> pd.DataFrame:
        """How often the true model is found, with these stimuli and with as many random ones of the pool.

        Columns: ``true`` model (``'none'``: how often the first model wins, 1 / number of models by chance),
        ``designed``, ``random``. The probabilities are simulated from the fitted maps.
        """
        import pandas as pd

        maps = self.maps[: self.compared]
        random = np.random.default_rng(0).choice(len(self.pool), len(self.chosen), replace=False)
        columns = {}
        for name, rows in (("designed", self._rows), ("random", random)):
            shares, none = probability_of_truth(
                maps, rows, noise=self.noise, training_noise=self.training_noise, draws=draws
            )
            columns[name] = [*shares.tolist(), none]
        return pd.DataFrame({"true": [*self.models[: self.compared], "none"], **columns})

    def write(self, folder: str | os.PathLike[str]) -> str:
        """Write stimuli, predictions and what they are from into a folder, and return the hash of the predictions.

        Publish the hash before the experiment, so that everybody can see that the predictions preceded it. A folder
        with other predictions is refused, with a UserError: their hash may be published.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        content = self.predictions.to_csv().encode()
        digest = sha256(content).hexdigest()
        earlier = target / _PREDICTIONS
        if earlier.exists() and sha256(earlier.read_bytes()).hexdigest() != digest:
            raise UserError(f"{earlier} holds the predictions of another design", remedy="name another folder")
        lines = "\n".join(["stimulus_id", *map(_csv_field, self.stimuli)]) + "\n"
        about = {
            "benchmark": self.selected.question.benchmark,
            "question": self.selected.question.as_dict(),
            "models": list(self.models[: self.compared]),
            "stimuli": len(self.chosen),
            "repetitions": self.repetitions,
            "training stimuli": len(self.training),
            "pool": len(self.pool),
            "predictions": {"file": _PREDICTIONS, "sha256": digest},
        }
        for name, data in (
            (_PREDICTIONS, content),
            (_STIMULI, lines.encode()),
            (_DESIGN, json.dumps(about, indent=1).encode() + b"\n"),
        ):
            with replacing(target / name) as file:
                file.write(data)
        return digest


def _csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text


def design_stimuli(
    benchmark: str,
    models: Sequence[str],
    k: int,
    *,
    repetitions: int = 1,
    pool: str | None = None,
    neuroids: str | None = None,
    diversity: float = 0.5,
    results: ResultsStore | str | os.PathLike[str] | None = None,
) -> Design:
    """Choose the stimuli of a benchmark whose responses decide best between models.

    - `benchmark`: a benchmark on recordings, whose neuroids will be recorded again.
    - `models`: two or more models with stored products.
    - `k`: number of stimuli.
    - `repetitions`: presentations of each stimulus in the new experiment.
    - `pool`: expression that selects the stimuli to choose from; maps are fitted to all others. By default, a random
      half, of whole groups.
    - `neuroids`: expression that selects the neuroids to be recorded.
    - `diversity`: see :func:`~brainscore_core.numerics.stimulus_design.choose_stimuli`.
    - `results`: where the models were scored.

    Raises UserError if single repetitions are not known, or the pool is too small.
    """
    if len(models) < 2 or len(set(models)) < len(models):
        raise UserError(f"the models are {', '.join(models) or 'missing'}", remedy="name two or more different models")
    question = Question(benchmark=benchmark, neuroids=neuroids)
    selected, products, columns = load_selected(question, None, results, required=models)
    if not selected.noise.any():
        raise UserError(f"single repetitions of {benchmark!r} are not known, from which the noise is estimated")
    if pool is None:
        units = np.random.default_rng(0).permutation(int(selected.groups.max()) + 1)
        in_pool = np.isin(selected.groups, units[: len(units) // 2])
    else:
        in_pool = rows_matching(pool, columns, what="stimuli")
    rows, training = np.flatnonzero(in_pool), np.flatnonzero(~in_pool)
    if not 2 <= k <= len(rows) or len(training) < 3:
        raise UserError(
            f"{k} stimuli cannot be chosen from a pool of {len(rows)}, with {len(training)} stimuli to fit maps to",
            remedy="choose 2 or more, and fewer than the pool has; or select another pool",
        )
    order = np.concatenate([training, rows])
    names = (*models, *(name for name in products if name not in models))
    maps = tuple(
        fit_maps(products[name][np.ix_(order, order)], selected.responses[training])
        for name in track(names, "fitting maps", len(names), unit="models")
    )
    training_noise = selected.noise[training].mean(axis=0)
    noise = selected.single_noise / repetitions
    chosen = choose_stimuli(maps[: len(models)], k, noise=noise, diversity=diversity)
    return Design(
        models=names,
        compared=len(models),
        selected=selected,
        training=training,
        pool=rows,
        chosen=rows[chosen],
        maps=maps,
        repetitions=repetitions,
        noise=noise,
        training_noise=training_noise,
    )


def compare_with_predictions(folder: str | os.PathLike[str], measured: Any) -> pd.DataFrame:
    """Correlate what was measured later with the predictions of a design.

    `folder`: written by :meth:`Design.write`. `measured` (NeuroidAssembly, presentation × neuroid): mean responses,
    with ``stimulus_id`` and ``neuroid_id``. Returns: columns ``model``, and ``correlation``: the mean over neuroids of
    the correlation over stimuli, largest first. Raises UserError if the predictions were changed after the design was
    written, or share fewer than 3 stimuli or no neuroid with the measurements.
    """
    import io

    import pandas as pd

    content = (Path(folder) / _PREDICTIONS).read_bytes()
    about = json.loads((Path(folder) / _DESIGN).read_text())
    if sha256(content).hexdigest() != about["predictions"]["sha256"]:
        raise UserError(f"{_PREDICTIONS} in {folder} is not the file that {_DESIGN} names: its hash differs")
    predictions = pd.read_csv(io.BytesIO(content), index_col=[0, 1], dtype={"model": str, "stimulus_id": str})
    responses = pd.DataFrame(
        measured.transpose("presentation", "neuroid").values,
        index=measured["stimulus_id"].values.astype(str),
        columns=measured["neuroid_id"].values.astype(str),
    )
    neuroids = [name for name in predictions.columns if name in responses.columns]
    rows = []
    for model, table in predictions.groupby(level=0, sort=False):
        table = table.droplevel(0)
        stimuli = [name for name in table.index if name in responses.index]
        if len(stimuli) < 3 or not neuroids:
            raise UserError(
                f"the measurements share {len(stimuli)} stimuli and {len(neuroids)} neuroids with the predictions",
                remedy="pass responses to at least 3 of them",
            )
        r = pearson(table.loc[stimuli, neuroids].to_numpy(), responses.loc[stimuli, neuroids].to_numpy())
        rows.append({"model": model, "correlation": float(np.nanmean(r))})
    return pd.DataFrame(rows).sort_values("correlation", ascending=False, ignore_index=True)
