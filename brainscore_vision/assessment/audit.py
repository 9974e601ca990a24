"""Whether the stimuli of a benchmark are independent, and what its score owes to those that are not."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks.measurements import (
    Overlap,
    find_overlaps,
    measurements_of,
    measurements_or_none,
)
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.formatting import number_text, range_text
from brainscore_core.metric_helpers.alignment import coord_values
from brainscore_core.plugins import Check
from brainscore_core.progress import stage
from brainscore_core.strict_json import plain
from brainscore_vision.assessment.dependence import (
    Parts,
    SerialTest,
    find_dependence,
    grouping_of_parts,
    groups_of,
    parts_of,
    repetitions_of,
    responses_of,
    splits_of,
    stimulus_table,
)
from brainscore_vision.assessment.duplicates import THRESHOLD, Pair, merge_groups
from brainscore_vision.assessment.severity import BLOCKS, DUPLICATES, Loss, blocks_of_time, find_losses
from brainscore_vision.benchmark_helpers.neural_checks import neural_findings
from brainscore_vision.benchmark_helpers.screen import stimulus_files
from brainscore_vision.benchmark_helpers.test_helper import first_shown
from brainscore_vision.metric_helpers.repetitions import Copies, equal_responses
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.registries import benchmark_registry, load_benchmark, load_stimulus_set

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Audit:
    """Findings about the stimuli, repetitions and splits of a benchmark."""

    benchmark: str
    stimuli: int
    # Number of independent units if equal files and near-duplicates are merged (``'pictures'``), and if they are merged
    # with the groups of a coordinate (its name)
    units: dict[str, int]
    overlaps: tuple[Overlap, ...]  # deterministic: equal files, near-duplicates, groups
    copies: tuple[Copies, ...]
    pairs: tuple[Pair, ...]  # the most similar stimuli; at most 50 pairs of equal files and 50 near-duplicates
    tests: tuple[SerialTest, ...]  # statistical; empty unless the recordings tell the order of presentations
    losses: tuple[Loss, ...]  # severity of what was found across splits
    notes: tuple[str, ...]  # what was not examined, and why
    threshold: float  # similarity of near-duplicates
    seed: int  # of permutations and random features

    @property
    def independent(self) -> int:
        """The smallest number of independent units."""
        return min(self.units.values(), default=self.stimuli)

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not (
            any(overlap.across or overlap.pairs for overlap in self.overlaps)
            or self.copies
            or any(test.found for test in self.tests)
        )

    def to_dict(self) -> dict[str, Any]:
        """Numbers and texts for JSON; files are named without their folder, undefined numbers are None."""
        content = asdict(self)
        for pair in content["pairs"]:
            for key in ("first_path", "second_path"):
                pair[key] = Path(pair[key]).name
        content["independent"], content["clean"] = self.independent, self.clean
        return plain(content)

    def text(self) -> str:
        """The findings, in a few lines."""
        return "\n".join(_lines(self))

    def picture(self, *, pairs: int = 8, size: int = 128) -> Any:
        """Show the most similar pairs, one above the other in each column.

        `pairs`: number of pairs; near-duplicates come first. `size`: height and width of a picture, in pixels. A
        UserError if there is no pair of pictures.
        """
        from PIL import Image

        from brainscore_vision.model_helpers.images import load_rgb

        shown = sorted(self.pairs, key=lambda pair: pair.equal)[:pairs]
        if not shown:
            raise UserError(f"{self.benchmark!r} has no equal or nearly equal pictures", remedy="see text()")
        columns = [
            np.vstack([load_rgb(path, size=size) for path in (pair.first_path, pair.second_path)]) for pair in shown
        ]
        return Image.fromarray(np.hstack(columns))


def audit(benchmark: Any, *, model: BrainModel | None = None, seed: int = 0) -> Audit:
    """Examine whether the stimuli of a benchmark are independent, and what its score owes to those that are not.

    Parameters
    ----------
    benchmark : Benchmark
        Benchmarks on recordings are examined completely; of other benchmarks only the pictures of their
        ``stimulus_set``. A mean over subjects or folds is represented by the first one.
    model : BrainModel, optional
        Model whose scores tell the severity. By default, features that have nothing to do with the recordings, and
        small pictures.
    seed : int
        Seed of permutations and random features.

    Returns
    -------
    Audit

    Raises
    ------
    UserError
        If the stimuli of the benchmark are unknown, or their files cannot be read.

    Notes
    -----
    Equal files have the same SHA-256. For near-duplicates see
    :func:`~brainscore_vision.assessment.duplicates.find_duplicates`. Coordinates in
    :data:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.ORIGINS` (of the recordings or of the
    stimulus set) count from five values on, of which one has several stimuli; fewer are kinds, not groups. Groups of
    stimuli that the benchmark does not declare are noted.

    Equal responses are reported if fewer than 0.0001 equal pairs are expected by chance.

    Serial tests: :func:`serial_tests`.

    Severity: the metric is applied with its own splits and with splits of groups, by
    :class:`~brainscore_core.metric_helpers.transformations.CrossValidation` with ``group_coord`` (same number of
    splits, same share of groups, not stratified); for dependence over time, with ten blocks of successive presentations
    and a gap of ten presentations between training and test stimuli [1]_. If training and test stimuli are fixed,
    training stimuli whose group is tested are left out. The interval of the difference is Student's over 8 draws of
    unrelated features; that of pixels and models comes from
    :func:`~brainscore_core.numerics.predictions.compare_predictivity`, with groups as the units.

    References
    ----------
    .. [1] Racine (2000). Consistent cross-validatory model-selection for dependent data: hv-block cross-validation.
           Journal of Econometrics 99, 39–61. https://doi.org/10.1016/S0304-4076(00)00030-0

    Examples
    --------
    >>> from brainscore_vision import load_benchmark
    >>> found = audit(load_benchmark("Simulated2026.V1-rdm"))  # doctest: +SKIP
    >>> found.stimuli, found.tests, found.losses  # doctest: +SKIP
    (800, (), ())
    """
    with stage(f"audit of {getattr(benchmark, 'identifier', type(benchmark).__name__)}"):
        parts = parts_of(benchmark)
        table, duplicates = stimulus_table(parts)
        notes = list(parts.notes)
        if duplicates.reason is not None:
            compared = "no pictures" if duplicates.pixels is None else "all other pictures"
            notes.append(f"{compared} were compared: {duplicates.reason}")
        if undeclared := grouping_of_parts(parts).question:
            notes.append(undeclared)
        codes = groups_of(table, duplicates)
        splits, reason = splits_of(parts, table)
        overlaps = tuple(find_overlaps(codes, duplicates.pair_numbers, splits, reason))
        units = {"pictures": int(duplicates.alike.max()) + 1} if len(table) else {}
        for name, of_group in codes.items():
            if name not in ("equal files", "near-duplicates"):
                units[name] = len(np.unique(merge_groups(of_group, duplicates.alike)))
        copies, more = _copies(parts)
        tests, order, unknown = find_dependence(parts, seed)
        notes += more + unknown
        rules = {overlap.kind: codes[overlap.kind] for overlap in overlaps if overlap.across}
        if "equal files" in rules or "near-duplicates" in rules:
            rules = {name: rule for name, rule in rules.items() if name not in ("equal files", "near-duplicates")}
            rules = {DUPLICATES: duplicates.alike, **rules}
        if order is not None and any(test.found and test.recordings == "averaged" for test in tests):
            rules[BLOCKS] = blocks_of_time(table, order)
        losses = tuple(find_losses(parts, table, rules, duplicates, order, model, seed)) if rules else ()
        if losses and getattr(parts.benchmark, "alpha_coord", None) is not None:
            notes.append(
                f"for the severity, neuroids of all values of {parts.benchmark.alpha_coord!r} are fitted together"
            )
        return Audit(
            benchmark=parts.name,
            stimuli=len(table),
            units=units,
            overlaps=overlaps,
            copies=copies,
            pairs=duplicates.pairs,
            tests=tests,
            losses=losses,
            notes=tuple(notes),
            threshold=THRESHOLD,
            seed=seed,
        )


def _copies(parts: Parts) -> tuple[tuple[Copies, ...], list[str]]:
    """Equal responses to several stimuli, and in several repetitions."""
    equal, notes = [], []
    repeated, why = repetitions_of(parts)
    if why:
        notes.append(f"repetitions were not examined: {why}")
    for kind, recordings in (("stimuli", parts.recordings[:1]), ("repetitions", repeated)):
        for assembly in recordings:
            ids = coord_values(assembly, "stimulus_id", role="recordings").astype(str)
            copies = equal_responses(kind, responses_of(assembly), ids)
            if copies is not None and copies.may_be_chance:
                notes.append(
                    f"equal responses of {copies.presentations} presentations ({kind}) may be chance: the responses "
                    "have few different values"
                )
            elif copies is not None:
                equal.append(copies)
    return tuple(equal), notes


def _lines(found: Audit) -> Iterator[str]:
    units = ", ".join(f"{number:,} by {name}" for name, number in found.units.items())
    yield f"{found.benchmark}: {found.stimuli:,} stimuli; independent units: {units}"
    yield from (overlap.text() for overlap in found.overlaps)
    for copies in found.copies:
        yield (
            f"equal responses: {copies.presentations:,} of {copies.of:,} presentations equal another one "
            f"({'different repetitions' if copies.kind == 'repetitions' else 'different stimuli'}), "
            f"such as {', '.join(copies.examples[:3])}"
        )
    for test in found.tests:
        within = f" within {test.within}" if test.within else ""
        yield (
            f"{test.kind} over {test.order!r} ({test.recordings}{within}): {number_text(test.value)}, "
            f"p = {test.p_corrected:.3f} (Holm)"
        )
    for loss in found.losses:
        if loss.default is None or loss.grouped is None:
            yield f"severity, {loss.rule}, {loss.model}: {loss.reason}"
            continue
        interval = f" (95 %: {range_text(*loss.ci)})" if loss.ci else f" ({loss.reason})"
        yield (
            f"severity, {loss.rule}, {loss.model}: {number_text(loss.default)} by the benchmark's splits, "
            f"{number_text(loss.grouped)} with groups kept together; loss {number_text(loss.loss)}{interval}"
        )
    if found.clean:
        yield "No problem was found." if not found.notes else "No problem was found in what was examined."
    yield from (f"note: {note}" for note in found.notes)


_PAIRS_WITH_PICTURES = 12
"""Number of pairs of an audit that are stored with pictures, near-duplicates first."""
_PICTURE_SIDE = 64
"""Length of the longer side of a picture, in pixels."""
_JPEG_QUALITY = 75


def has_public_stimuli(benchmark: str) -> bool:
    """Whether the metadata of a registered benchmark say that its data are public.

    Examples
    --------
    >>> has_public_stimuli("Geirhos2021sketch-error_consistency")
    True
    """
    from brainscore_vision.catalogue.contents import catalogue

    (entry,) = catalogue(models=[], benchmarks=[benchmark]).benchmarks
    data = None if entry.metadata is None else entry.metadata.data
    return data is not None and data.access == "public"


def add_thumbnails(result: dict[str, Any], pairs: Sequence[Pair]) -> None:
    """Add ``first_picture`` and ``second_picture`` to the first pairs of an audit, if both can be read.

    `result` has the fields of the audit as JSON types and is changed; `pairs` are the same pairs, with the paths of
    their files.
    """
    both = sorted(zip(result["pairs"], pairs, strict=True), key=lambda each: each[1].equal)
    for entry, pair in both[:_PAIRS_WITH_PICTURES]:
        try:
            pictures = [thumbnail(path) for path in (pair.first_path, pair.second_path)]
        except UserError:  # equal files need not be pictures
            continue
        entry["first_picture"], entry["second_picture"] = pictures


def thumbnail(path: str | Path, *, side: int = _PICTURE_SIDE) -> str:
    """Make a small JPEG of a picture, as a data URI of at most a few kilobytes.

    `side` is the length of the longer side in pixels. A UserError if the file is not a picture.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (640, 480)).save(path := Path(folder, "a.png"))
    ...     thumbnail(path)[:30]
    'data:image/jpeg;base64,/9j/4AA'
    """
    from brainscore_vision.model_helpers.images import load_image

    small = load_image(path)
    small.thumbnail((side, side))
    stream = BytesIO()
    small.save(stream, "JPEG", quality=_JPEG_QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{b64encode(stream.getvalue()).decode()}"


def pictures_of_stimuli(benchmark: Benchmark, names: Sequence[str], *, side: int) -> tuple[dict[str, str], str]:
    """Thumbnails of stimuli by name if they are public, and why there are none."""
    if benchmark.identifier not in benchmark_registry or not has_public_stimuli(benchmark.identifier):
        return {}, "It is not known that the stimuli are public."
    averaged = measurements_of(benchmark).averaged()
    stimuli = averaged.attrs.get("stimulus_set", averaged)
    try:
        if not stimuli.stimulus_paths:
            stimuli = load_stimulus_set(stimuli.identifier)
        files = {str(name): path for name, path in stimulus_files(stimuli).items()}
    except (UserError, DataUnavailable) as error:
        return {}, f"The stimuli are not available: {error.message}"
    return {name: thumbnail(files[name], side=side) for name in names if name in files}, ""


def first_stimuli(identifier: str) -> StimulusSet:
    """Return the first stimuli that a benchmark presents; this loads its data."""
    try:
        benchmark = load_benchmark(identifier)
        # on a screen as wide as theirs, stimuli are the original files, which are the same for any angle
        degrees = getattr(measurements_or_none(benchmark), "screen_degrees", 8.0)
        shown = first_shown(benchmark, degrees=degrees)
    except UserError:
        raise
    except Exception as error:  # plugins can raise any error
        raise UserError(f"the stimuli of {identifier!r} are not available: {type(error).__name__}: {error}") from error
    if shown is None:
        raise UserError(f"benchmark {identifier!r} presents no stimuli")
    return shown.stimuli


def check_benchmark(benchmark: Any) -> Iterator[Check]:
    """Check whether recordings are fit for a benchmark, and whether the groups of its stimuli are declared."""
    yield from _check_recordings(benchmark)
    yield from _check_groups(benchmark)


def _check_recordings(benchmark: Any) -> Iterator[Check]:
    """Findings of the checklist for neural benchmarks."""
    name = "its recordings are fit for it"
    try:
        measurements = measurements_or_none(benchmark)
        if measurements is None:
            yield Check(name, "not applicable", "it does not say what it measures; define measurements()")
            return
        if not measurements.compares.startswith("recordings"):
            return
        measurements.averaged()
        findings = list(neural_findings(benchmark))
    except DataUnavailable as error:
        yield Check(name, "not applicable", error.message)
        return
    except UserError as error:
        yield Check(name, "failed", error.message, error.remedy or "")
        return
    for finding in findings:
        check = f"recordings: {finding.check}"
        yield Check(check, "warning" if finding.severity == "warning" else "failed", finding.culprit, finding.remedy)
    if not findings:
        yield Check(name, "passed")


def _check_groups(benchmark: Any) -> Iterator[Check]:
    """Whether stimuli that share a coordinate's values are declared as groups, or as independent."""
    name = "its groups of stimuli are declared"
    try:
        parts = parts_of(benchmark)
        grouping = grouping_of_parts(parts)
    except UserError as error:
        yield Check(name, "not applicable", error.message)
        return
    if grouping.question:
        yield Check(name, "warning", grouping.finding, grouping.remedy)
    elif parts.neural:
        yield Check(name, "passed")
