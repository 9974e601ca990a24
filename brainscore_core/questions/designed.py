"""Stimuli that decide between models, chosen from those of a benchmark by stored products."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks.measurements import measurements_of
from brainscore_core.domains import Domain, domain, find
from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.numerics.correlation import pearson
from brainscore_core.numerics.stimulus_design import FittedMaps, choose_stimuli, fit_maps, probability_of_truth
from brainscore_core.progress import track
from brainscore_core.provenance import recording
from brainscore_core.questions.explained import Selected, load_selected
from brainscore_core.questions.question import Question, rows_matching
from brainscore_core.results.products import Products, collecting
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

if TYPE_CHECKING:
    import pandas as pd

    from brainscore_core.results.store import ResultsStore

_PREDICTIONS, _STIMULI, _DESIGN, _FILES = "predictions.csv", "stimuli.csv", "design.json", "stimuli"
_PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_FILE_COLUMNS = ("image_filename", "stimulus_filename", "filename", "image_file_name", "designed_for")


@dataclass(frozen=True)
class Design:
    """Stimuli whose responses tell models apart.

    - `models`: the models to decide between, followed by others whose predictions are known.
    - `compared`: how many of them are to be decided between.
    - `selected`: recordings of the benchmark.
    - `training`: number of its stimuli that maps were fitted to.
    - `stimulus_set`: of the pool, with its columns and files.
    - `pool`: identifiers of the stimuli that were chosen from.
    - `chosen`: their places in the pool, in the order of their choice.
    - `maps`: for the pool, one for each model.
    - `repetitions`: presentations of each stimulus in the new experiment.
    - `noise`, `training_noise`: variance of the mean responses in the new experiment, and in the benchmark.
    """

    models: tuple[str, ...]
    compared: int
    selected: Selected
    training: int
    stimulus_set: Any
    pool: NDArray[np.str_]
    chosen: NDArray[np.intp]
    maps: tuple[FittedMaps, ...]
    repetitions: int
    noise: NDArray[np.float64]
    training_noise: NDArray[np.float64]

    @property
    def stimuli(self) -> list[str]:
        """Identifiers of the chosen stimuli, in the order of their choice."""
        return self.pool[self.chosen].tolist()

    @property
    def differences(self) -> NDArray[np.float64]:
        """Expected differences at the chosen stimuli over the noise: root mean square over neuroids and pairs."""
        predicted = [side.predictions[self.chosen] for side in self.maps[: self.compared]]
        noise = np.maximum(self.noise, np.finfo(np.float64).tiny)
        squares = [np.mean((one - other) ** 2 / noise, axis=1) for one, other in combinations(predicted, 2)]
        return np.asarray(np.sqrt(np.mean(squares, axis=0)))

    @property
    def predictions(self) -> pd.DataFrame:
        """Predicted responses: a row for each model and chosen stimulus, a column for each neuroid."""
        import pandas as pd

        index = pd.MultiIndex.from_product([self.models, self.stimuli], names=["model", "stimulus_id"])
        values = np.concatenate([side.predictions[self.chosen] for side in self.maps])
        return pd.DataFrame(values, index=index, columns=self.selected.neuroids)

    def power(self, *, draws: int = 200) -> pd.DataFrame:
        """How often the true model is found, with these stimuli and with as many random ones of the pool.

        Columns: ``true`` model (``'none'``: how often the first model wins, 1 / number of models by chance),
        ``designed``, ``random``. The probabilities are simulated from the fitted maps.
        """
        import pandas as pd

        maps = self.maps[: self.compared]
        random = np.random.default_rng(0).choice(len(self.pool), len(self.chosen), replace=False)
        columns = {}
        for name, rows in (("designed", self.chosen), ("random", random)):
            shares, none = probability_of_truth(
                maps, rows, noise=self.noise, training_noise=self.training_noise, draws=draws
            )
            columns[name] = [*shares.tolist(), none]
        return pd.DataFrame({"true": [*self.models[: self.compared], "none"], **columns})

    def write(self, folder: str | os.PathLike[str]) -> str:
        """Write stimuli, predictions and what they are from into a folder, and return the hash of the predictions.

        ``stimuli.csv`` and the files in ``stimuli`` are a stimulus set for ``brainscore package stimuli``; its column
        ``designed_for`` keeps scores on it out of averages. Publish the hash before the experiment, so that everybody
        can see that the predictions preceded it. A folder with other predictions is refused, with a UserError: their
        hash may be published.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        content, about = self.sealed()
        earlier = target / _PREDICTIONS
        digest = about["predictions"]["sha256"]
        if earlier.exists() and sha256(earlier.read_bytes()).hexdigest() != digest:
            raise UserError(f"{earlier} holds the predictions of another design", remedy="name another folder")
        for name, data in (
            (_PREDICTIONS, content),
            (_STIMULI, self._table(target / _FILES).to_csv(index=False).encode()),
            (_DESIGN, json.dumps(about, indent=1).encode() + b"\n"),
        ):
            with replacing(target / name) as file:
                file.write(data)
        return str(digest)

    def sealed(self) -> tuple[bytes, dict[str, Any]]:
        """Return the file of predictions, and what it is about, with its hash."""
        content = self.predictions.to_csv().encode()
        about = {
            "benchmark": self.selected.question.benchmark,
            "question": self.selected.question.as_dict(),
            "models": list(self.models[: self.compared]),
            "stimuli": len(self.chosen),
            "repetitions": self.repetitions,
            "training stimuli": self.training,
            "pool": len(self.pool),
            "pool of": str(self.stimulus_set.identifier),
            "predictions": {"file": _PREDICTIONS, "sha256": sha256(content).hexdigest()},
        }
        return content, about

    def _table(self, folder: Path) -> pd.DataFrame:
        """Rows of the chosen stimuli in their stimulus set; their files, if they have any, are copied into a folder."""
        table = self.stimulus_set.drop_duplicates("stimulus_id")
        table = table.set_index(table["stimulus_id"].astype(str)).loc[self.stimuli]
        table = table.drop(columns=[name for name in _FILE_COLUMNS if name in table.columns]).assign(
            designed_for=" ".join(self.models[: self.compared])
        )
        paths = {str(name): Path(path) for name, path in self.stimulus_set.stimulus_paths.items()}
        if paths:
            folder.mkdir(exist_ok=True)
            names = [f"{number:04d}_{paths[name].name}" for number, name in enumerate(self.stimuli)]
            for name, stimulus in zip(names, self.stimuli, strict=True):
                shutil.copyfile(paths[stimulus], folder / name)
            table["image_filename"] = names
        return table


def design_stimuli(
    benchmark: str,
    models: Sequence[str],
    k: int,
    *,
    repetitions: int = 1,
    pool: str | os.PathLike[str] | None = None,
    neuroids: str | None = None,
    diversity: float = 0.5,
    results: ResultsStore | str | os.PathLike[str] | None = None,
) -> Design:
    """Choose the stimuli whose responses decide best between models.

    - `benchmark`: a benchmark on recordings, whose neuroids will be recorded again.
    - `models`: two or more models with stored products.
    - `k`: number of stimuli.
    - `repetitions`: presentations of each stimulus in the new experiment.
    - `pool`: stimuli to choose from: a folder of pictures or the name of a registered stimulus set, on which the models
      are then run; or an expression that selects stimuli of the benchmark. Maps are fitted to all other stimuli of the
      benchmark. By default, a random half of them, of whole groups.
    - `neuroids`: expression that selects the neuroids to be recorded.
    - `diversity`: see :func:`~brainscore_core.numerics.stimulus_design.choose_stimuli`.
    - `results`: where the models were scored.

    Raises UserError if single repetitions are not known, or the pool is too small.
    """
    if len(models) < 2 or len(set(models)) < len(models):
        raise UserError(f"the models are {', '.join(models) or 'missing'}", remedy="name two or more different models")
    if repetitions < 1 or not 0 <= diversity <= 1:
        raise UserError(
            f"repetitions are {repetitions}, and diversity is {diversity}",
            remedy="present each stimulus at least once, and choose a diversity from 0 to 1",
        )
    question = Question(benchmark=benchmark, neuroids=neuroids)
    described = domain(find("benchmark", benchmark).domain)
    others = None if pool is None else stimuli_of_pool(pool, described)
    selected, products, columns = load_selected(question, None if others is None else models, results, required=models)
    if not selected.noise.any():
        raise UserError(f"single repetitions of {benchmark!r} are not known, from which the noise is estimated")
    if others is not None:
        in_pool = np.zeros(len(selected.stimuli), dtype=bool)
        products = {
            name: products_with_pool(described, name, selected, others)
            for name in track(models, "running models on the pool", len(models), unit="models")
        }
    elif pool is None:
        units = np.random.default_rng(0).permutation(int(selected.groups.max()) + 1)
        in_pool = np.isin(selected.groups, units[: len(units) // 2])
    else:
        in_pool = rows_matching(os.fspath(pool), columns, what="stimuli")
    rows, training = np.flatnonzero(in_pool), np.flatnonzero(~in_pool)
    if others is not None:
        names = others["stimulus_id"].to_numpy().astype(str)
        rows = len(selected.stimuli) + np.arange(len(names))
    else:
        names, others = selected.stimuli[rows], selected.stimulus_set
    if not 2 <= k <= len(rows) or len(training) < 3:
        raise UserError(
            f"{k} stimuli cannot be chosen from a pool of {len(rows)}, with {len(training)} stimuli to fit maps to",
            remedy="choose 2 or more, and fewer than the pool has; or select another pool",
        )
    order = np.concatenate([training, rows])
    fitted = (*models, *(name for name in products if name not in models))
    maps = tuple(
        fit_maps(products[name][np.ix_(order, order)], selected.responses[training])
        for name in track(fitted, "fitting maps", len(fitted), unit="models")
    )
    noise = selected.single_noise / repetitions
    return Design(
        models=fitted,
        compared=len(models),
        selected=selected,
        training=len(training),
        stimulus_set=others,
        pool=names,
        chosen=choose_stimuli(maps[: len(models)], k, noise=noise, diversity=diversity),
        maps=maps,
        repetitions=repetitions,
        noise=noise,
        training_noise=selected.noise[training].mean(axis=0),
    )


def stimuli_of_pool(pool: str | os.PathLike[str], described: Domain) -> Any:
    """Return the stimulus set of a folder of pictures, or of that name; None if the pool is neither."""
    folder = Path(pool)
    if not folder.is_dir():
        known = "stimulus_set" in described.registries and os.fspath(pool) in described.registries["stimulus_set"]
        return described.load("stimulus_set", os.fspath(pool)) if known else None
    paths = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in _PICTURES}
    if len(paths) < 2:
        raise UserError(f"{folder} has {len(paths)} pictures", remedy=f"put pictures there: {', '.join(_PICTURES)}")
    stimuli = StimulusSet({"stimulus_id": list(paths)})
    stimuli.stimulus_paths = paths
    stimuli.identifier = folder.name or "pool"
    return stimuli


def products_with_pool(described: Domain, model: str, selected: Selected, pool: Any) -> NDArray[np.float64]:
    """Run a model on the stimuli of the benchmark and on those of a pool, and multiply its features."""
    names = [*selected.stimuli.tolist(), *pool["stimulus_id"].astype(str)]
    if len(set(names)) < len(names):
        raise UserError("stimuli of the pool have names of stimuli of the benchmark", remedy="rename them")
    record = described.feature("recordings of stimuli")
    measurements = measurements_of(described.load_benchmark(find("benchmark", selected.question.benchmark).identifier))
    with recording(), collecting() as collected:
        record(described.load_model(find("model", model).identifier), measurements, [measurements.averaged(), pool])
    if not collected.files:
        reason = collected.notes[0] if collected.notes else "it recorded no features of one time bin"
        raise UserError(f"{model}: {reason}")
    products = Products.from_bytes(collected.files[0][1])
    place = {name: row for row, name in enumerate(products.stimuli)}
    features = products.values.equivalent_features(np.array([place[name] for name in names]))
    return np.asarray(features @ features.T)


def read_responses(path: str | os.PathLike[str]) -> NeuroidAssembly:
    """Read mean responses from a table: the column ``stimulus_id``, and a column of numbers for each neuroid.

    Raises UserError if the table lacks the column, lists a stimulus twice, or has other values than numbers.
    """
    import pandas as pd

    remedy = "write mean responses: the column stimulus_id, and a column of numbers for each neuroid"
    try:
        table = pd.read_csv(path, dtype={"stimulus_id": str}).set_index("stimulus_id")
        values = table.to_numpy(dtype=np.float64)
    except (OSError, KeyError, ValueError) as error:
        raise UserError(f"{path} has no table of responses: {error}", remedy) from error
    if not table.index.is_unique or not np.isfinite(values).all():
        problem = "missing values" if table.index.is_unique else "a stimulus twice"
        raise UserError(f"{path} has {problem}", remedy)
    coords = {"stimulus_id": ("presentation", table.index), "neuroid_id": ("neuroid", table.columns)}
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def compare_with_predictions(folder: str | os.PathLike[str], measured: Any) -> pd.DataFrame:
    """Correlate what was measured later with the predictions of a design.

    `folder`: written by :meth:`Design.write`. `measured` (NeuroidAssembly, presentation × neuroid): mean responses,
    with ``stimulus_id`` and ``neuroid_id``. Returns: columns ``model``, and ``correlation``: the mean over neuroids of
    the correlation over stimuli, largest first. Raises UserError if the predictions were changed after the design was
    written, or share fewer than 3 stimuli or no neuroid with the measurements.
    """
    import io

    import pandas as pd

    try:
        content = (Path(folder) / _PREDICTIONS).read_bytes()
        about = json.loads((Path(folder) / _DESIGN).read_text())
    except FileNotFoundError as error:
        raise UserError(f"{folder} has no design: {error}", remedy="name a folder of brainscore design") from error
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
