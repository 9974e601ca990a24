"""What models explain of recordings alone, together, and not at all, from their stored products."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks.measurements import measurements_of
from brainscore_core.domains import domain, find
from brainscore_core.errors import UserError
from brainscore_core.formatting import estimate_text, number_text
from brainscore_core.numerics.explained_variance import Explained, Unexplained, explain, unexplained
from brainscore_core.plurals import counted
from brainscore_core.progress import track
from brainscore_core.questions.answers import features_of, sources_of
from brainscore_core.questions.asked import Asked, apply_question, columns_of
from brainscore_core.questions.question import Question
from brainscore_core.receipts.assessment import NeuroidShares, StimulusShown
from brainscore_core.receipts.assessment import Unexplained as AtlasResult
from brainscore_core.results.store import ResultsStore
from brainscore_core.results.validity import is_small_picture
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import grouping_of

if TYPE_CHECKING:
    import pandas as pd

    from brainscore_core.figures import Pictures, Plot, Svg
    from brainscore_core.numerics.resampling import Interval

Rows = NDArray[np.intp]

MOST_POINTS, MOST_STIMULI = 1_000, 40
"""Numbers of neuroids and of stimuli that are stored with an atlas."""

_PICTURE_SIDE = 96  # pixels
_IN_A_ROW = 5

FOLDS = 10
"""Number of parts that stimuli, or groups of them, are divided into; each is predicted once."""

FEWEST = 5
"""Number of stimuli, or groups of them, from which maps are fitted."""


@dataclass(frozen=True)
class Selected:
    """Recordings that a question selects, as arrays.

    - `responses`, `noise` (stimuli × neuroids): mean responses, and the variance of each mean over repetitions; 0 if no
      repetitions are known.
    - `single_noise`: mean variance of single presentations.
    - `stimuli`, `neuroids`: their identifiers.
    - `groups`: groups of stimuli, whose members are predicted together.
    - `group_name`: coordinate of the groups; None if each stimulus varies on its own.
    - `stimulus_set`: columns and files of the stimuli.
    """

    question: Question
    responses: NDArray[np.float64]
    noise: NDArray[np.float64]
    single_noise: NDArray[np.float64]
    stimuli: NDArray[np.str_]
    neuroids: NDArray[np.str_]
    groups: Rows
    group_name: str | None
    stimulus_set: Any

    @property
    def splits(self) -> list[tuple[Rows, Rows]]:
        """Training and test rows: whole groups, in a fixed random order."""
        units = np.random.default_rng(0).permutation(int(self.groups.max()) + 1)
        if len(units) < FEWEST:
            what = counted(len(units), "stimulus" if self.group_name is None else "group of stimuli")
            raise UserError(f"{what} cannot be divided into parts to fit and to test", f"select at least {FEWEST}")
        tested = [np.isin(self.groups, part) for part in np.array_split(units, min(FOLDS, len(units)))]
        return [(np.flatnonzero(~rows), np.flatnonzero(rows)) for rows in tested]

    @property
    def condition(self) -> str:
        """What shares are about, for displays."""
        fitted = len(self.splits[0][0])
        units = "stimuli" if self.group_name is None else f"{self.group_name} groups"
        return f"maps fitted to {fitted} of {counted(len(self.stimuli), 'stimulus')}; over new {units} and neuroids"


@dataclass(frozen=True)
class Explanation:
    """What two to four models explain of the signal.

    `selected`: the recordings. `explained`: errors of all combinations of models.
    """

    models: tuple[str, ...]
    selected: Selected
    explained: Explained

    def shares(self) -> dict[str, tuple[float, Interval]]:
        """Shares of the signal: of each combination of models exactly, and of all together; may be negative."""
        named = {}
        for members, values in self.explained.parts().items():
            names = " and ".join(self.models[number] for number in members)
            label = names if len(members) == len(self.models) and len(members) > 1 else f"only {names}"
            named[label] = self.explained.share(values)
        everything = tuple(range(len(self.models)))
        for number, model in enumerate(self.models):
            named[f"{model}, alone"] = self.explained.share(self.explained.explained((number,)))
        named["all together"] = self.explained.share(self.explained.explained(everything))
        return named

    def to_pandas(self) -> pd.DataFrame:
        """Make a table with one row for each share."""
        import pandas as pd

        rows = [
            {"explained by": label, "share": share, "error": interval.error, "low": interval.low, "high": interval.high}
            for label, (share, interval) in self.shares().items()
        ]
        return pd.DataFrame(rows)

    def plot(self) -> Plot:
        """Draw the shares with their intervals."""
        from brainscore_core.figures import Dots, DotsRow, Plot, dots_with_intervals

        title = f"Explained variance of {self.selected.question.benchmark}"
        rows = [
            DotsRow(label=label, value=share, low=interval.low, high=interval.high, text=number_text(share))
            for label, (share, interval) in self.shares().items()
        ]
        chart = Dots(
            rows=rows,
            title=title,
            description=self.selected.condition,
            x_title=f"share of the signal of {len(self.selected.neuroids)} neuroids",
            reference=0,
            width=560,
        )
        return Plot(dots_with_intervals(chart), title)

    def text(self) -> str:
        """A line for each share, and what they are about."""
        shares = self.shares()
        width = max(map(len, shares))
        lines = [
            f"{label:<{width}}  {estimate_text(share, error=interval.error, ci=(interval.low, interval.high))}"
            for label, (share, interval) in shares.items()
        ]
        return "\n".join(
            [*lines, f"Shares of the signal of {len(self.selected.neuroids)} neuroids; {self.selected.condition}."]
        )


@dataclass(frozen=True)
class Atlas:
    """What no model explains, for each neuroid and stimulus."""

    models: tuple[str, ...]
    selected: Selected
    unexplained: Unexplained

    def neuroids(self, *, margin: float = 0.1, level: float = 0.05) -> pd.DataFrame:
        """Make a table of the neuroids.

        Columns: ``signal``, the variance that can be explained as a share of all; ``best``, ``combined``, the shares of
        the signal that the best model and the best combination explain; ``unexplained``; ``model``, chosen in most
        folds; ``reliable``, whether there is a signal; ``found``, whether more than `margin` of it is unexplained, with
        at most `level` of all found ones expected to be false.
        """
        import pandas as pd

        values = self.unexplained
        reliable, found = values.neuroids(margin=margin, level=level)
        signal = (values.total - values.noise).mean(axis=0)
        counts = np.array([(values.chosen == number).sum(axis=0) for number in range(-1, len(self.models))])
        names = np.array(["none", *self.models])
        with np.errstate(invalid="ignore", divide="ignore"):
            best, combined = (
                np.where(reliable, 1 - (errors - values.noise).mean(axis=0) / signal, np.nan)
                for errors in (values.best, values.combined)
            )
            share = signal / values.total.mean(axis=0)
        return pd.DataFrame(
            {
                "neuroid_id": self.selected.neuroids,
                "signal": share,
                "best": best,
                "combined": combined,
                "unexplained": 1 - combined,
                "model": names[counts.argmax(axis=0)],
                "reliable": reliable,
                "found": found,
            }
        )

    def stimuli(self, *, margin: float = 0.1, level: float = 0.05) -> pd.DataFrame:
        """Make a table of the stimuli, most unexplained first; ``unexplained`` is in units of a neuroid's signal."""
        import pandas as pd

        values = self.unexplained
        used = values.neuroids(margin=margin, level=level)[0]
        reliable, found = values.stimuli(margin=margin, level=level)
        scale = np.where(used, (values.total - values.noise).mean(axis=0), np.inf)
        number = max(int(used.sum()), 1)
        table = pd.DataFrame(
            {
                "stimulus_id": self.selected.stimuli,
                "signal": ((values.total - values.noise) / scale).sum(axis=1) / number,
                "unexplained": ((values.combined - values.noise) / scale).sum(axis=1) / number,
                "reliable": reliable,
                "found": found,
            }
        )
        return table.sort_values("unexplained", ascending=False, ignore_index=True)

    def result(self, *, margin: float = 0.1) -> AtlasResult:
        """Return what is stored and drawn: numbers, neuroids with a signal, and stimuli, with pictures if public."""
        table = self.neuroids(margin=margin)
        reliable = table[table["reliable"]]
        columns = [reliable[name].tolist()[:MOST_POINTS] for name in ("signal", "best", "combined", "found")]
        stimuli = self.stimuli(margin=margin)
        stimuli_found = int(stimuli["found"].sum())
        stimuli = stimuli[stimuli["found"]].head(MOST_STIMULI)
        names, question = stimuli["stimulus_id"].tolist(), self.selected.question
        return AtlasResult(
            question=question.text(),
            neuroids=len(table),
            reliable=len(reliable),
            found=int(table["found"].sum()),
            margin=margin,
            best=reliable["best"].median(),
            combined=reliable["combined"].median(),
            condition=self.selected.condition,
            points=tuple(
                NeuroidShares(signal=signal, best=best, combined=combined, found=found)
                for signal, best, combined, found in zip(*columns, strict=True)
            ),
            stimuli_found=stimuli_found,
            stimuli=stimuli_shown(question, names, stimuli["unexplained"].tolist()),
        )

    def plot(self, *, margin: float = 0.1) -> Plot:
        """Draw what the best combination explains of each neuroid's signal, and the stimuli that none explains."""
        from brainscore_core.figures import Plot

        title = f"Unexplained variance of {self.selected.question.benchmark}"
        return Plot(draw_atlas(self.result(margin=margin), title=title), title)

    def text(self, *, margin: float = 0.1) -> str:
        """How many neuroids have a signal, and in how many of them much is unexplained."""
        table = self.neuroids(margin=margin)
        reliable = table[table["reliable"]]
        found = int(table["found"].sum())
        lines = [
            f"{len(table)} neuroids, {len(reliable)} with a reliable signal",
            f"in {found} of them more than {100 * margin:.0f} % of the signal is unexplained by the best combination "
            f"of {counted(len(self.models), 'model')} (at most 5 % of these are expected to be false)",
        ]
        if len(reliable):
            lines.append(
                f"median share of the signal that is explained: {reliable['best'].median():.3f} by the best model, "
                f"{reliable['combined'].median():.3f} by the best combination"
            )
        return "\n".join([*lines, f"({self.selected.condition})"])


def stimuli_shown(question: Question, names: Sequence[str], values: Sequence[float]) -> tuple[StimulusShown, ...]:
    """Stimuli with a number each, and with small pictures if those of the benchmark are public."""
    name = find("benchmark", question.benchmark)
    described, pictures = domain(name.domain), {}
    if names and described.offers("pictures of stimuli"):
        load = described.feature("pictures of stimuli")
        pictures = load(described.load_benchmark(name.identifier), names[:MOST_STIMULI], side=_PICTURE_SIDE)[0]
    return tuple(
        StimulusShown(stimulus=stimulus, value=value, picture=pictures.get(stimulus, ""))
        for stimulus, value in zip(names, values, strict=True)
    )


def draw_atlas(atlas: AtlasResult, *, title: str, identifier: str = "") -> Svg:
    """Draw what no model explains: a point for each neuroid with a signal, and pictures of stimuli if there are any."""
    from brainscore_core.figures import Panel, Point, Scatter, panels

    share = "" if atlas.margin is None else f"{100 * atlas.margin:.0f} %"
    points = [
        Point(
            x=point.signal,
            y=point.combined,
            kind=int(point.found),
            label=f"signal {number_text(point.signal)}, explained {number_text(point.combined)} by the best combination"
            + ("" if point.best is None else f", {number_text(point.best)} by the best model"),
        )
        for point in atlas.points
        if point.signal is not None and point.combined is not None
    ]
    chart = Scatter(
        points=points,
        title=title,
        x_title="signal, as a share of all variance",
        y_title="explained share of the signal",
        kinds=("other neuroids", f"more than {share} unexplained") if atlas.found else (),
    )
    rows = [[Panel(chart=chart)]]
    if (pictures := stimulus_pictures(atlas.stimuli, title=title)) is not None:
        notes = ("in units of a neuroid's signal, most first",)
        rows.append([Panel(chart=pictures, heading="Unexplained signal of stimuli", notes=notes)])
    return panels(rows, title=title, description=atlas.condition, identifier=identifier)


def stimulus_pictures(stimuli: Sequence[StimulusShown], *, title: str, most: int = 15) -> Pictures | None:
    """Small pictures of stimuli in rows, each with its number; None if no picture is known."""
    from brainscore_core.figures import Picture, Pictures

    shown = [
        Picture(address=each.picture, name=each.stimulus, text="" if each.value is None else number_text(each.value))
        for each in stimuli
        if is_small_picture(each.picture)
    ][:most]
    rows = [("", shown[start : start + _IN_A_ROW]) for start in range(0, len(shown), _IN_A_ROW)]
    if rows:  # the last row is as wide as the others
        missing = _IN_A_ROW - len(rows[0][1])
        return Pictures(rows=rows, title=title, width=400 * (1 - missing / _IN_A_ROW))
    return None


def explain_models(
    benchmark: str | Question,
    models: Sequence[str],
    *,
    stimuli: str | None = None,
    neuroids: str | None = None,
    results: ResultsStore | str | os.PathLike[str] | None = None,
) -> Explanation:
    """Divide the signal of a benchmark's recordings among models that were scored on it, without running them.

    - `benchmark`: a benchmark on recordings, or a question that selects from it.
    - `models`: two to four models with stored products.
    - `stimuli`, `neuroids`: expressions that select stimuli and neuroids, as for
      :func:`~brainscore_core.questions.ask`.
    - `results`: where the models were scored.

    Returns: its shares are relative to the variance of the mean responses without noise, which needs single
    repetitions; without them, to all variance. Raises UserError if a model has no products of these stimuli, or the
    benchmark does not compare recordings.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_vision import score
    >>> store = tempfile.mkdtemp()
    >>> models = ["gabor", "simulated-truth"]
    >>> for model in models:
    ...     outcome = score(model, "Simulated2026.V1-rdm", results=store)
    >>> explanation = explain_models("Simulated2026.V1-rdm", models, stimuli="orientation < 60", results=store)
    >>> list(explanation.shares())[:3]
    ['only gabor', 'only simulated-truth', 'gabor and simulated-truth']
    """
    if not 2 <= len(models) <= 4 or len(set(models)) < len(models):
        number = counted(len(models), "model")
        raise UserError(
            f"{number} {'is' if len(models) == 1 else 'are'} named", remedy="name two to four different models"
        )
    selected, products, _ = load_selected(_question(benchmark, stimuli, neuroids), models, results)
    explained = explain(
        list(products.values()), selected.responses, selected.splits, noise=selected.noise, groups=selected.groups
    )
    return Explanation(tuple(models), selected, explained)


def unexplained_by(
    benchmark: str | Question,
    models: Sequence[str] | None = None,
    *,
    stimuli: str | None = None,
    neuroids: str | None = None,
    results: ResultsStore | str | os.PathLike[str] | None = None,
) -> Atlas:
    """Find which neuroids and stimuli no model explains; arguments as for :func:`explain_models`, of any number.

    By default, all models with stored products are used. A reliable signal can only be told from single repetitions.
    """
    selected, products, _ = load_selected(_question(benchmark, stimuli, neuroids), models, results)
    if not selected.noise.any():
        raise UserError(
            f"single repetitions of {selected.question.benchmark!r} are not known, without which signal cannot be told "
            "from noise"
        )
    result = unexplained(
        list(products.values()), selected.responses, selected.splits, noise=selected.noise, groups=selected.groups
    )
    return Atlas(tuple(products), selected, result)


def _question(benchmark: str | Question, stimuli: str | None, neuroids: str | None) -> Question:
    if isinstance(benchmark, Question):
        return benchmark
    return Question(benchmark=benchmark, stimuli=stimuli, neuroids=neuroids)


def load_selected(
    question: Question,
    models: Sequence[str] | None,
    results: ResultsStore | str | os.PathLike[str] | None,
    *,
    required: Sequence[str] = (),
) -> tuple[Selected, dict[str, NDArray[np.float64]], dict[str, NDArray[Any]]]:
    """Load recordings that a question selects, products of models' features, and columns of the stimuli.

    `models` are required; without them, all that have products are used, among which `required` must be.
    """
    store = results if isinstance(results, ResultsStore) else ResultsStore(results)
    # maps are fitted here, so that neither the benchmark's metric nor its ceiling matters
    asked = apply_question(replace(question, metric="rdm", ceiling="none", split=None))
    sources, refused = sources_of(store, asked, models)
    for name in models or required:
        if name in refused or name not in {receipt.model.identifier for receipt in sources}:
            raise UserError(f"{name}: {refused.get(name, 'it was not scored on ' + question.benchmark)}")
    products = {}
    for receipt in track(sources, "reading products", len(sources), unit="models"):
        features = np.asarray(features_of(asked, receipt, store)[0].values, dtype=np.float64)
        products[receipt.model.identifier] = features @ features.T
    if not products:
        raise UserError("no model has stored products", remedy="score the models again")
    question = replace(question, benchmark=asked.question.benchmark)  # without the domain, as in receipts
    return _selected(asked, question), products, columns_of(asked.targets[0], "presentation")


def _selected(asked: Asked, question: Question) -> Selected:
    """Mean responses in the order of the products, with their noise and groups."""
    target = asked.targets[0].transpose("presentation", "neuroid")
    names = target["stimulus_id"].values
    if len(set(names.tolist())) < len(names):
        raise UserError(f"{question.benchmark!r} measured stimuli several times", "average over repetitions first")
    values = np.asarray(target.values, dtype=np.float64)
    used = np.isfinite(values).all(axis=0)
    if not used.any():
        raise UserError(f"no neuroid of {question.benchmark!r} was measured with all selected stimuli")
    noise, single = _noise(asked, names)
    grouping = grouping_of(target)
    groups = np.arange(len(names)) if grouping.values is None else np.unique(grouping.values, return_inverse=True)[1]
    return Selected(
        question=question,
        responses=values[:, used],
        noise=noise[:, used],
        single_noise=single[used],
        stimuli=names.astype(str),
        neuroids=target["neuroid_id"].values.astype(str)[used],
        groups=groups,
        group_name=grouping.name,
        stimulus_set=target.attrs.get("stimulus_set", StimulusSet({"stimulus_id": names})),
    )


def _noise(asked: Asked, names: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Variance of each mean response (stimuli × neuroids) and of single ones (neuroids); 0 without repetitions."""
    target = asked.targets[0]
    shape = (len(names), target.sizes["neuroid"])
    try:
        repeated = measurements_of(asked.benchmark).single_repetitions()
    except UserError:
        return np.zeros(shape), np.zeros(shape[1])
    if "time_bin" in repeated.dims:
        repeated = repeated.isel(time_bin=0, drop=True)
    repeated = repeated.isel(
        neuroid=np.flatnonzero(np.isin(repeated["neuroid_id"].values, target["neuroid_id"].values))
    )
    values = np.asarray(repeated.transpose("presentation", "neuroid").values, dtype=np.float64)
    positions = {name: row for row, name in enumerate(names.tolist())}
    rows = np.array([positions.get(name, -1) for name in repeated["stimulus_id"].values.tolist()])
    values, rows = values[rows >= 0], rows[rows >= 0]
    measured = np.isfinite(values)
    counts, sums, squares = (np.zeros(shape) for _ in range(3))
    np.add.at(counts, rows, measured)
    np.add.at(sums, rows, np.where(measured, values, 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        np.add.at(squares, rows, np.where(measured, values - (sums / counts)[rows], 0) ** 2)
        variance = squares / (counts - 1) / counts
    # where a stimulus was shown once, the neuroid's mean variance
    single = squares.sum(axis=0) / np.maximum((counts - 1).clip(0).sum(axis=0), 1)
    return np.where(counts > 1, variance, single / np.maximum(counts, 1)), single
