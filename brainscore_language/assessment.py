"""Whether the texts of a benchmark are independent, and what its score owes to those that are not."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks.measurements import (
    Measurements,
    Overlap,
    find_overlaps,
    finding_of,
    measurements_of,
)
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.metric_helpers.transformations import SplitRows
from brainscore_core.plugins import Check
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.findings import Finding
from brainscore_core.supported_data_standards.brainio.stimulus_groups import ORIGINS, grouping_of
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark

if TYPE_CHECKING:
    from brainscore_language.model_helpers.huggingface import HuggingfaceSubject

EQUAL, ALIKE = "equal texts", "texts alike but for case and punctuation"
_WORDS = 3
"""Mean number of words of a presentation below which whole texts are compared, as words recur in any text."""


@dataclass(frozen=True)
class TextAudit:
    """Findings about the texts and splits of a benchmark."""

    benchmark: str
    stimuli: int
    units: dict[str, int]  # number of independent units, by the coordinate that groups stimuli
    overlaps: tuple[Overlap, ...]
    baselines: dict[str, float]  # scores of what needs no language, before they are related to the ceiling
    notes: tuple[str, ...]

    @property
    def independent(self) -> int:
        """The smallest number of independent units."""
        return min(self.units.values(), default=self.stimuli)

    @property
    def clean(self) -> bool:
        """Whether no texts are equal, and splits divide none."""
        return not any(overlap.across or overlap.pairs for overlap in self.overlaps)

    def to_dict(self) -> dict[str, Any]:
        """Numbers and texts for JSON."""
        return asdict(self) | {"independent": self.independent, "clean": self.clean}

    def text(self) -> str:
        """The findings, in a few lines."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        units = ", ".join(f"{number:,} by {name}" for name, number in self.units.items()) or f"{self.stimuli:,}"
        yield f"{self.benchmark}: {self.stimuli:,} stimuli; independent units: {units}"
        yield from (overlap.text() for overlap in self.overlaps)
        if self.baselines:
            yield f"without language: {', '.join(f'{name} {value:.3f}' for name, value in self.baselines.items())}"
        if self.clean:
            examined = any(overlap.share is not None for overlap in self.overlaps)
            yield "No problem was found." if examined else "No problem was found in what was examined."
        yield from (f"note: {note}" for note in self.notes)


def audit(benchmark: Any) -> TextAudit:
    """Examine whether the texts of a benchmark are independent, and what models score that know no language.

    Parameters
    ----------
    benchmark : Benchmark
        Its measurements have ``stimulus`` or ``word``.

    Raises
    ------
    UserError
        If its texts are unknown.
    """
    measurements = measurements_of(benchmark)
    measured = measurements.averaged()
    codes, pairs, units = _groups(measured, measurements.benchmark)
    splits, reason = _splits(measurements, measured)
    question = grouping_of(measured).question if isinstance(measured, DataAssembly) else ""
    return TextAudit(
        benchmark=measurements.benchmark,
        stimuli=len(measured),
        units=units,
        overlaps=tuple(find_overlaps(codes, pairs, splits, reason)),
        baselines=benchmark.baselines if isinstance(benchmark, RecordingBenchmark) else {},
        notes=(question,) if question else (),
    )


def check_texts(benchmark: Any) -> Iterator[Check]:
    """Check whether texts of a benchmark are declared as groups and differ, and list the scores of baselines."""
    name = "its texts are independent units"
    try:
        found = audit(benchmark)
    except DataUnavailable as error:
        yield Check(name, "not applicable", error.message)
        return
    except UserError as error:
        yield Check(name, "not applicable", error.message, error.remedy or "")
        return
    problems = [*found.notes, *(overlap.text() for overlap in found.overlaps if overlap.pairs)]
    units = ", ".join(f"{number} {kind}" for kind, number in found.units.items())
    if problems:
        remedy = "declare STIMULUS_GROUPS in the plugin of the data: the coordinate of whole texts, such as story"
        yield Check(name, "warning", "; ".join(problems), remedy)
    else:
        yield Check(name, "passed", units)
    if found.baselines:
        scores = ", ".join(f"{baseline} {value:.3f}" for baseline, value in found.baselines.items())
        yield Check("scores without language stand beside its scores", "passed", scores)


def split_findings(benchmark: Any) -> list[Finding]:
    """Check that splits do not divide texts that are equal or of one passage or story; nothing is scored."""
    measurements = measurements_of(benchmark)
    measured = measurements.averaged()
    splits, reason = _splits(measurements, measured)
    if not splits or isinstance(getattr(benchmark, "ungrouped_splits", None), str):
        return []
    codes, pairs, _ = _groups(measured, measurements.benchmark)
    return [
        finding_of(overlap, f"keep them together: split_coord={overlap.kind!r}, kfold='group'")
        for overlap in find_overlaps(codes, pairs, splits, reason)
        if overlap.across
    ]


def normalised(text: str) -> str:
    """A text in lower case, without punctuation, its words separated by one space.

    Examples
    --------
    >>> normalised("The  fox, it jumps!")
    'the fox it jumps'
    """
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def shared_texts(first: Any, second: Any) -> list[str]:
    """Normalised texts that two benchmarks, or a benchmark and a list of texts, have in common.

    Parameters
    ----------
    first, second : Benchmark or sequence of str
        Benchmarks, or texts, such as those that a model was trained on.
    """
    sides = []
    for side in (first, second):
        texts = side
        if not isinstance(side, list | tuple):
            measurements = measurements_of(side)
            texts, _ = _texts(measurements.averaged(), measurements.benchmark)
        sides.append({normalised(text) for text in texts})
    return sorted(sides[0] & sides[1])


def untrained_twin(subject: HuggingfaceSubject, *, seed: int = 0) -> HuggingfaceSubject:
    """The same network with the random weights that its class starts from, and the same tokenizer and layers.

    Raises
    ------
    UserError
        If the network cannot be made from a configuration.
    """
    import torch

    from brainscore_language.model_helpers.huggingface import HuggingfaceSubject

    network = subject.basemodel
    if not hasattr(network, "config"):
        raise UserError(
            f"{subject.model_id} has no configuration from which an untrained network could be made",
            "make one yourself, with the class of the network",
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        twin = type(network)(network.config).to(subject.device)
    return HuggingfaceSubject(
        f"{subject.model_id}-untrained", subject.region_layer_mapping, model=twin, tokenizer=subject.tokenizer
    )


def _texts(measured: Any, name: str) -> tuple[list[str], NDArray[np.intp]]:
    """Distinct places of texts, and the text of each presentation."""
    column = next((column for column in ("stimulus", "word") if column in _columns(measured)), None)
    if column is None:
        raise UserError(f"the texts of {name!r} are not known", "give its measurements the coordinate 'stimulus'")
    texts = [str(text) for text in measured[column].values]
    grouping = grouping_of(measured).values if isinstance(measured, DataAssembly) else None
    if grouping is None or np.mean([len(text.split()) for text in texts]) >= _WORDS:
        return texts, np.arange(len(texts))
    codes, _ = pd.factorize(grouping)
    joined = pd.Series(texts).groupby(codes).agg(" ".join)
    return joined.tolist(), np.asarray(codes, dtype=np.intp)


def _columns(measured: Any) -> Sequence[Hashable]:
    return list(measured.coords) if isinstance(measured, DataAssembly) else list(measured.columns)


def _groups(measured: Any, name: str) -> tuple[dict[str, NDArray[np.intp]], dict[str, int], dict[str, int]]:
    """Groups of the presentations by what groups them, numbers of pairs of equal texts, numbers of groups."""
    texts, place = _texts(measured, name)
    codes: dict[str, NDArray[np.intp]] = {}
    pairs: dict[str, int] = {}
    for kind, values in ((EQUAL, texts), (ALIKE, [normalised(text) for text in texts])):
        groups, _ = pd.factorize(np.array(values, dtype=object))
        counts = np.bincount(groups)
        number = int((counts * (counts - 1) // 2).sum()) - sum(pairs.values())
        if number:
            codes[kind], pairs[kind] = np.asarray(groups[place], dtype=np.intp), number
    units = {"texts": len({normalised(text) for text in texts})}
    for coord in ORIGINS:
        if coord in _columns(measured):
            groups, values = pd.factorize(measured[coord].values)
            if 1 < len(values) < len(groups):
                codes[coord], units[coord] = np.asarray(groups, dtype=np.intp), len(values)
    return codes, pairs, units


def _splits(measurements: Measurements, measured: Any) -> tuple[list[SplitRows], str | None]:
    validation = measurements.splits
    if validation is None:
        return [], "the benchmark makes no splits of its stimuli that are known here"
    return validation.split_rows(measured, measured), None
