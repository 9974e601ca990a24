"""Tables of the report, rankings among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brainscore.report._report import Report
from brainscore.report._view import STATES, Group, Row
from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.formatting import estimate_text, number_text, p_text, printable
from brainscore_core.progress import track
from brainscore_core.results.export import export_table
from brainscore_core.results.validity import difference_text, percent_text, share_text
from brainscore_core.scoring import ResultsStore

if TYPE_CHECKING:
    from brainscore_core.statistics.comparison import Comparisons, Ranking


def rankings_of(report: Report, store: ResultsStore) -> dict[str, Ranking]:
    """Rank the models of each benchmark on which at least two were scored.

    All pairs of models are compared on what both were measured on, which reads all stored predictions. Left out are
    benchmarks of which the store has newer receipts than the report shows.
    """
    from brainscore_core.statistics.comparison import compare

    rankings = {}
    for _, group in track(report.groups, "ranking the models", len(report.groups), unit="benchmarks"):
        models = [row.model for row in group.rows if row.value is not None]
        if len(models) < 2:
            continue
        comparisons = compare(models, [group.benchmark], results=store)
        shown = {row.receipt.id for row in group.rows}
        if all(receipt in shown for comparison in comparisons for receipt in comparison.receipts):
            rankings[group.benchmark] = comparisons.ranks(group.benchmark)
    return rankings


TABLE_ENDINGS = (".tex", ".md", ".csv")
_BENCHMARKS_PER_TABLE = 3  # benchmarks, so that it fits on a page
_MEANS_PER_TABLE = 4
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    '"': r"\textquotedbl{}", "|": r"\textbar{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "−": r"$-$", "–": "--", "°": r"$^{\circ}$",
}  # fmt: skip
_MARKDOWN = {letter: f"\\{letter}" for letter in "\\`*_{}[]|~$"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


@dataclass(frozen=True)
class Cell:
    """A text in a table, bold if it is the best of its column."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A table of texts; the title is its caption."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def write_table(report: Report, path: Path) -> None:
    """Write a report's numbers as tables; the ending of the name says whether as LaTeX, Markdown or CSV.

    CSV is one table with a row for each score and the columns of an export.
    """
    if path.suffix.lower() == ".csv":
        export_table(report.board.receipts.values(), path)
        return
    _write(table_text(report, path.suffix.lower()), path)


def write_comparisons(comparisons: Comparisons, path: Path) -> None:
    """Write comparisons of models as a table; the ending of the name says whether as LaTeX, Markdown or CSV.

    CSV has the columns of :meth:`~brainscore_core.statistics.comparison.Comparisons.to_pandas`.
    """
    ending = path.suffix.lower()
    if ending == ".csv":
        _write(comparisons.to_pandas().to_csv(index=False), path)
        return
    rows = [
        (
            pair.benchmark,
            f"{pair.first} − {pair.second}",
            "–" if pair.difference is None else estimate_text(pair.difference, ci=pair.ci, brief=True),
            "–" if pair.p_corrected is None else p_text(pair.p_corrected).removeprefix("p ").removeprefix("= "),
            pair.units or "–",
            pair.verdict,
        )
        for pair in comparisons
    ]
    correction = {"holm": "corrected by Holm", "benjamini-hochberg": "corrected by Benjamini and Hochberg"}
    p_values = correction.get(comparisons.correction, "not corrected")
    title = f"Differences of scores ({100 * comparisons.level:g} % interval); p-values are {p_values}."
    header = ("Benchmark", "Models", "Difference", "p", "Resampled", "Outcome")
    _write(_writer(ending)(Table(title, header, tuple(tuple(map(Cell, row)) for row in rows))), path)


def _write(text: str, path: Path) -> None:
    with replacing(path) as file:
        file.write(text.encode("utf-8", "replace"))


def _writer(ending: str) -> Callable[[Table], str]:
    writers = {".tex": _latex, ".md": _markdown}
    if ending not in writers:
        raise UserError(f"a table cannot be written as {ending!r}", "end its name in .tex, .md or .csv")
    return writers[ending]


def table_text(report: Report, ending: str) -> str:
    """Write a report's numbers as tables: averages along the tree, then the benchmarks, three in each table.

    `ending` is ``'.tex'`` or ``'.md'``. Baseline models and recoveries of benchmarks that were assessed come last.
    Every number has its interval. The best of a column is bold, and so is what equals it to the three digits that are
    printed; where models were ranked, all that may be the best. LaTeX needs the packages booktabs and, before 2020,
    textcomp.
    """
    write = _writer(ending)
    return "\n".join(write(table) for table in _tables(report))


def _tables(report: Report) -> Iterator[Table]:
    board = report.board
    means = [index for index in board.first_columns if board.nodes[index].kind == "mean"]
    for start in range(0, len(means), _MEANS_PER_TABLE):
        yield _averages(report, means[start : start + _MEANS_PER_TABLE])
    groups = [group for _, group in report.groups]
    for kind in (
        [group for group in groups if group.ceiled and not group.control],
        [group for group in groups if not group.ceiled and not group.control],
        [group for group in groups if group.ceiled and group.control],
        [group for group in groups if not group.ceiled and group.control],
    ):
        for start in range(0, len(kind), _BENCHMARKS_PER_TABLE):
            yield _benchmarks(report, kind[start : start + _BENCHMARKS_PER_TABLE])
    yield from _validity(report)


def _averages(report: Report, places: Sequence[int]) -> Table:
    board = report.board
    means = board.means[board.over]
    best = [_best(means[model][index].value for model in board.models) for index in places]
    rows = []
    for model in board.models:
        cells = [Cell(model)]
        for index, top in zip(places, best, strict=True):
            mean = means[model][index]
            coverage = f"{mean.coverage.n_scored} of {mean.coverage.n_all}"
            text = f"{mean.text}; {coverage}"
            cells.append(Cell(text, mean.value is not None and number_text(mean.value) == top))
        rows.append(tuple(cells))
    rule = "What has no score counts as 0" if board.over == "all" else "What has no score is left out"
    title = f"Averages (95 % interval); benchmarks scored. {rule}."
    return Table(title, ("Model", *(board.nodes[index].title for index in places)), tuple(rows))


def _benchmarks(report: Report, groups: Sequence[Group]) -> Table:
    by_model = [{row.model: row for row in group.rows} for group in groups]
    best = [_best_models(report, group) for group in groups]
    rows = []
    for model in report.board.models:
        its = [rows_.get(model) for rows_ in by_model]
        if any(row is not None for row in its):
            cells = (_score(row, model in of) for row, of in zip(its, best, strict=True))
            rows.append((Cell(model), *cells))
    scale = "relative to the ceiling" if groups[0].ceiled else "as measured, without a ceiling"
    controls = "; controls on simulated measurements" if groups[0].control else ""
    title = f"Scores {scale} (95 % interval){controls}."
    return Table(title, ("Model", *(group.benchmark for group in groups)), tuple(rows))


def _validity(report: Report) -> Iterator[Table]:
    """Tables of models beside the best baseline model, and of recoveries."""
    controls, recoveries = [], []
    for name, validity in report.validity.items():
        for model, result in validity.by_model.items():
            control, is_above = result.best, result.above_all_controls
            if control is not None:
                score = estimate_text(result.score, ci=result.ci, brief=True)
                best = f"{control.name}, {estimate_text(control.score, ci=control.ci, brief=True)}"
                difference = difference_text(control.difference.value, control.difference.ci) or "–"
                above = "–" if is_above is None else "yes" if is_above else "no"
                controls.append(tuple(map(Cell, (name, model, score, best, difference, above))))
        candidates = validity.recovery_result.candidates
        for confusion in validity.recovery_result.confusions:
            share, chance = share_text(confusion.overall), percent_text(1 / len(candidates))
            recoveries.append(tuple(map(Cell, (name, confusion.generator, share, chance, ", ".join(candidates)))))
    if controls:
        title = "Scores and the best baseline model (95 % interval), not clamped; each test is one-sided at 5 %."
        header = ("Benchmark", "Model", "Score", "Best baseline model", "Model − baseline", "Above all baseline models")
        yield Table(title, header, tuple(controls))
    if recoveries:
        title = "How often the true model scores best in simulated experiments (95 % interval)."
        yield Table(title, ("Benchmark", "Responses", "Share", "By chance", "Candidates"), tuple(recoveries))


def _best_models(report: Report, group: Group) -> set[str]:
    """Those that may be the best where models were ranked, else those with the highest number in print."""
    ranking = report.rankings.get(group.benchmark)
    if ranking is not None:
        return {ranked_model.model for ranked_model in ranking.models if ranked_model.best == 1}
    top = _best(row.value for row in group.rows)
    return {row.model for row in group.rows if row.value is not None and number_text(row.value) == top}


def _score(row: Row | None, best: bool) -> Cell:
    if row is None:
        return Cell("–")
    if row.state == "undetermined":
        return Cell(f"{STATES[row.state]} (raw {row.raw})")
    if row.value is None:
        return Cell(STATES[row.state])
    return Cell(row.score, best)


def _best(values: Iterator[float | None]) -> str:
    there = [value for value in values if value is not None]
    return number_text(max(there)) if there else ""


def _latex(table: Table) -> str:
    def escaped(text: str) -> str:
        return "".join(_LATEX.get(letter, letter) for letter in printable(text))

    numeric = [all(not cell.text[:1].isalpha() for cell in cells) for cells in zip(*table.rows, strict=True)]
    columns = "l" + "".join("r" if right else "l" for right in (numeric or [True] * len(table.header))[1:])
    lines = [
        r"\begin{table}",
        rf"\caption{{{escaped(table.title)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(escaped(text) for text in table.header) + r" \\",
        r"\midrule",
    ]
    lines += [_line(row, escaped, r"\textbf{{{}}}", " & ") + r" \\" for row in table.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _markdown(table: Table) -> str:
    def escaped(text: str) -> str:
        return "".join(_MARKDOWN.get(letter, letter) for letter in printable(text))

    lines = [
        table.title, "",
        f"| {' | '.join(escaped(text) for text in table.header)} |",
        f"|{'---|' + '---:|' * (len(table.header) - 1)}",
    ]  # fmt: skip
    lines += [f"| {_line(row, escaped, '**{}**', ' | ')} |" for row in table.rows]
    return "\n".join([*lines, ""])


def _line(row: Sequence[Cell], escaped: Callable[[str], str], bold: str, between: str) -> str:
    return between.join(bold.format(escaped(cell.text)) if cell.best else escaped(cell.text) for cell in row)
