"""The receipt: everything needed to reproduce, compare and show a score.

It is strict JSON. A number that is not available is None, with its reason in another field.
"""

import math
from dataclasses import asdict, dataclass, field, replace
from numbers import Real
from typing import Any, Literal, Self

import numpy as np

from brainscore_core.domain_names import FIRST
from brainscore_core.formatting import estimate_text, number_text, range_text
from brainscore_core.memory import format_size
from brainscore_core.populations import condition_of_result, details, population
from brainscore_core.receipts.schema import RECEIPTS, SCHEMA_VERSION, identify, migrated, parse, present_time, read
from brainscore_core.strict_json import dumps, plain

State = Literal["scored", "undefined", "not applicable", "failed"]


@dataclass(frozen=True, kw_only=True)
class PluginCode:
    """The folder of code that registered a plugin.

    Attributes
    ----------
    name : str
        Name of the folder, without the path to it.
    sha256 : str or None
        Hash over the names and contents of its files.
    distribution, version : str or None
        The installed package that contains it; None for a private folder.
    """

    name: str
    sha256: str | None = None
    distribution: str | None = None
    version: str | None = None


@dataclass(frozen=True, kw_only=True)
class ScoreAtAngle:
    """The score of a model if its input spanned another visual angle; None, with the reason, if there is none."""

    degrees: float
    value: float | None
    reason: str | None = None

    def text(self) -> str:
        """Write angle and score.

        Examples
        --------
        >>> ScoreAtAngle(degrees=4, value=0.24).text()
        '0.240 at 4°'
        """
        return f"{number_text(self.value) if self.value is not None else 'no score'} at {self.degrees:g}°"


@dataclass(frozen=True, kw_only=True)
class VisualAngle:
    """The visual angle that a model's input spans, in degrees.

    - `degrees`: the angle at which stimuli were shown.
    - `stated`: whether the model states it; if not, it is a default.
    - `others`: scores at other angles, if they were computed.
    """

    degrees: float
    stated: bool
    others: tuple[ScoreAtAngle, ...] = ()

    def text(self) -> str:
        """Write the angle, whether the model states it, and scores at other angles.

        Examples
        --------
        >>> VisualAngle(degrees=8, stated=False).text()
        '8°, not stated by the model: a default'
        """
        source = "as the model states" if self.stated else "not stated by the model: a default"
        others = f"; score {', '.join(other.text() for other in self.others)}" if self.others else ""
        return f"{self.degrees:g}°, {source}{others}"


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """The model that was scored; receipts of earlier versions do not record its `visual_angle`."""

    identifier: str
    plugin: PluginCode | None = None
    visual_angle: VisualAngle | None = None


@dataclass(frozen=True, kw_only=True)
class BenchmarkInfo:
    """The benchmark; `control` marks one that checks the method and is not part of averages."""

    identifier: str
    version: int | str | None = None
    parent: str | None = None
    bibtex: str | None = None
    control: bool = False
    plugin: PluginCode | None = None


@dataclass(frozen=True, kw_only=True)
class ErrorInfo:
    """An error, without paths and names of people and machines."""

    type: str
    message: str
    traceback: str


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number with its standard error and confidence interval.

    Attributes
    ----------
    value, error : float or None
        The number and its standard error.
    error_reason : str or None
        Why there is no standard error.
    ci : (float, float) or None
        Confidence interval of level `ci_level`; infinite where there is no limit, which is null in JSON.
    ci_estimates, ci_method : str or None
        What the interval estimates and what was resampled; the method.
    ci_reason : str or None
        Why there is no interval.
    scale : str or None
        ``'correlation'``, ``'variance'``, ``'similarity'``, ``'accuracy'``, ``'ceiled'`` or ``'unceiled'``.
    unclamped, unclamped_ci : float and (float, float), or None
        Value and interval before they were limited to [0, 1], if they were.
    """

    value: float | None
    error: float | None = None
    error_reason: str | None = None
    ci: tuple[float, float] | None = None
    ci_level: float | None = None
    ci_estimates: str | None = None
    ci_method: str | None = None
    ci_reason: str | None = None
    scale: str | None = None
    unclamped: float | None = None
    unclamped_ci: tuple[float, float] | None = None

    @classmethod
    def from_score(cls, score: Any) -> Self:
        """Read a single-valued score and its attributes.

        Raises
        ------
        ValueError
            If the score is not a single value.

        Examples
        --------
        >>> from brainscore_core.metrics import Score, attach_uncertainty
        >>> score = attach_uncertainty(Score(0.5), error=0.1, reason="too few subjects for an interval")
        >>> Estimate.from_score(score).error
        0.1
        """
        return cls(**_fields_of(score))

    def text(self, *, brief: bool = False) -> str:
        """Write the number with its interval, as :func:`brainscore_core.formatting.estimate_text` does.

        Parameters
        ----------
        brief : bool
            Whether to leave out over what the interval generalises.

        Examples
        --------
        >>> Estimate(value=0.49, error=0.03, ci=(0.43, 0.56), ci_estimates="new stimuli; 60 stimuli").text()
        '0.490 (95 %: 0.430–0.560; new stimuli)'
        """
        return estimate_text(
            self.value,
            error=self.error,
            ci=self.ci,
            level=self.ci_level,
            estimates=self.ci_estimates,
            finding=self.finding,
            brief=brief,
        )

    @property
    def finding(self) -> str | None:
        """Why there is no interval any more, if the interval before the limits of 0 and 1 was beyond them."""
        return self.ci_reason if self.ci is None and self.unclamped_ci is not None else None


@dataclass(frozen=True, kw_only=True)
class CeilingEstimate(Estimate):
    """What the best possible model would reach.

    Attributes
    ----------
    meaning : str or None
        ``'reliability'``, ``'upper bound'``, ``'human-human'`` or ``'none'``.
    lower_bound : float or None
        The lower end of a noise ceiling that is a range.
    """

    meaning: str | None = None
    lower_bound: float | None = None

    @classmethod
    def from_score(cls, score: Any) -> Self:
        """Read a single-valued ceiling and its attributes."""
        attrs = getattr(score, "attrs", {})
        lower = attrs.get("lower_bound", attrs.get("lower_bound_loo"))
        return cls(**_fields_of(score), meaning=_text(attrs.get("meaning")), lower_bound=_number(lower))


@dataclass(frozen=True, kw_only=True)
class DataItem:
    """A registered data set, stimulus set or metric that was used."""

    kind: str
    identifier: str
    plugin: PluginCode | None = None


@dataclass(frozen=True, kw_only=True)
class FileItem:
    """A file that was read; its address without credentials."""

    url: str
    sha1: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class WeightsItem:
    """Weights of a model, as a hash over all of them."""

    identifier: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class FeaturesItem:
    """Features that were recorded from a region of the model, over the stimuli of one recording."""

    region: str
    layers: tuple[str, ...] = ()  # layers that stand for it; empty if the model does not name them
    # numbers of both
    stimuli: int
    features: int
    # participation ratio of the eigenvalues of the features' covariance over these stimuli
    # (:func:`brainscore_core.numerics.participation_ratio`), the mean over time bins; None if undefined
    effective_dimensionality: float | None = None

    def text(self) -> str:
        """Write numbers and layers.

        Examples
        --------
        >>> item = FeaturesItem(region="V1", layers=("a",), stimuli=80, features=4096, effective_dimensionality=12.34)
        >>> item.text()
        'V1: 4,096 features (a) of effective dimensionality 12.3, over 80 stimuli'
        """
        layers = ", ".join(self.layers[:3]) + (f" and {len(self.layers) - 3} more" if len(self.layers) > 3 else "")
        value = self.effective_dimensionality
        return (
            f"{self.region}: {self.features:,} features{f' ({layers})' if layers else ''}"
            + ("" if value is None else f" of effective dimensionality {value:,.1f}")
            + f", over {self.stimuli:,} stimuli"
        )


@dataclass(frozen=True, kw_only=True)
class ProductsItem:
    """Stored products of the features that were recorded from a region: the file ``.products/<sha256>`` of a store."""

    region: str
    layers: tuple[str, ...] = ()  # layers that stand for it; empty if the model does not name them
    stimuli: int  # their number
    sha256: str
    bytes: int

    def text(self) -> str:
        """Write number of stimuli and size.

        Examples
        --------
        >>> ProductsItem(region="V1", layers=("a",), stimuli=80, sha256="", bytes=27360).text()
        'V1: products of 80 stimuli (27.4 kB)'
        """
        return f"{self.region}: products of {self.stimuli:,} stimuli ({format_size(self.bytes)})"


@dataclass(frozen=True, kw_only=True)
class AnswerInfo:
    """What a receipt answers, if it was not scored with the model but from stored products.

    `source` is the id of the receipt that names the products, `question` the question as :class:`Question` writes it.
    """

    source: str
    question: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """The run that a receipt belongs to.

    Attributes
    ----------
    id : str
        The same for all receipts of one run.
    isolated : bool
        Whether the model ran in a process of its own.
    environment : str or None
        Key of the environment that was built for the model; None for the platform's environment.
    packages : dict
        Names and versions of packages in that environment.
    """

    id: str
    isolated: bool = False
    environment: str | None = None
    packages: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Wall-clock seconds; None for a step that was not reached.

    `extraction` is the time of reading or computing activations; it is part of `ceiling` and `score`.
    """

    load_model: float | None = None
    load_benchmark: float | None = None
    ceiling: float | None = None
    score: float | None = None
    extraction: float | None = None
    total: float | None = None


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Highest resident memory of the process in bytes, from its start to the end of this pair.

    `raised_here` says whether this pair set that maximum; if not, the pair itself needed at most that much.
    """

    peak_bytes: int | None = None
    raised_here: bool | None = None


@dataclass(frozen=True, kw_only=True)
class CacheUse:
    """How often stored activations were found, or had to be computed."""

    hits: int = 0
    misses: int = 0


@dataclass(frozen=True, kw_only=True)
class AttachmentInfo:
    """A file beside the receipt: ``'raw'``, ``'predictions'`` and ``'influence'`` are netCDF, ``'log'`` is text."""

    kind: str
    name: str
    sha256: str
    bytes: int

    @property
    def suffix(self) -> str:
        """The end of the file's name, after the receipt's id.

        Examples
        --------
        >>> AttachmentInfo(kind="raw", name="", sha256="", bytes=1).suffix
        '.raw.nc'
        """
        return ".log" if self.kind == "log" else f".{self.kind}.nc"


def _fields_of(score: Any) -> dict[str, Any]:
    array = np.asarray(score)
    if array.size != 1:
        raise ValueError(f"the score must be a single value, not an array of shape {array.shape}")
    from brainscore_core.metrics import Uncertainty  # here, as it imports xarray

    uncertainty = Uncertainty.of(score)
    error, interval = _number(uncertainty.error), _interval(uncertainty.ci)
    return {
        "value": _number(array.item()),
        "error": error,
        "error_reason": None if error is not None else _text(uncertainty.error_reason) or "none was attached",
        "ci": interval,
        "ci_level": None if interval is None else _number(uncertainty.ci_level) or 0.95,
        "ci_estimates": None if interval is None else _text(uncertainty.ci_estimates),
        "ci_method": None if interval is None else _text(uncertainty.ci_method),
        "ci_reason": None if interval is not None else _text(uncertainty.ci_reason) or "none was attached",
        "scale": _text(getattr(score, "attrs", {}).get("scale")),
        "unclamped": _number(uncertainty.unclamped),
        "unclamped_ci": _interval(uncertainty.unclamped_ci),
    }


def _number(value: Any) -> float | None:
    if value is None:
        return None
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        return None
    number = float(array.item())
    return number if math.isfinite(number) else None


def _interval(value: Any) -> tuple[float, float] | None:
    if value is None or isinstance(value, Real | str):
        return None
    limits = np.asarray(value).ravel()
    if limits.shape != (2,) or limits.dtype.kind not in "biuf" or np.isnan(limits.astype(float)).any():
        return None
    return float(limits[0]), float(limits[1])


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Interpreter, operating system, processor and versions of the libraries that numbers depend on.

    `code` is the hash of the platform's own code without its plugins, `threads` the most that a numerical library that
    was loaded might use.
    """

    python: str
    platform: str
    cpu: str | None
    cpu_count: int | None
    packages: dict[str, str]
    code: str | None = None
    threads: int | None = None


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One model scored on one benchmark.

    Attributes
    ----------
    id : str
        Time in UTC to the microsecond, and the beginning of the content's hash; empty before :meth:`identified`.
    created : str
        Time in UTC, ISO 8601.
    model, benchmark : ModelInfo, BenchmarkInfo
        The model and the benchmark, with hashes of both plugins' code.
    domain : str
        Name of the domain; receipts of earlier versions are of vision.
    state : str
        ``'scored'``; ``'undefined'`` (NaN); ``'not applicable'`` (the model cannot do it); ``'failed'``.
    reason : str or None
        Why there is no score.
    error : ErrorInfo or None
        The error of a failed pair.
    score, raw : Estimate or None
        The score relative to the ceiling, and before normalization.
    ceiling : CeilingEstimate or None
        The score of the best possible model.
    data, files, weights : tuple
        Data sets, stimulus sets and metrics that were used, files that were read, the model's weights.
    features : tuple of FeaturesItem
        Features that were recorded from the model; empty for behaviour, and in receipts of earlier versions.
    products : tuple of ProductsItem
        Stored products of these features; not in JSON if there are none.
    answer : AnswerInfo or None
        The question that the score answers; None, and not in JSON, for the score of a model on the benchmark itself.
    run : RunInfo or None
        The run that it belongs to, and the model's own environment.
    environment, seeds, device, timings, memory, cache
        Circumstances of the run.
    attachments : tuple of AttachmentInfo
        Files beside the receipt: arrays as netCDF, output as text.
    notes : tuple of str
        What could not be stored, and why.

    Examples
    --------
    >>> receipt = Receipt(model=ModelInfo(identifier="pixels"), benchmark=BenchmarkInfo(identifier="Some2026-pls"),
    ...                   state="scored", score=Estimate(value=0.25)).identified()
    >>> Receipt.from_json(receipt.to_json()) == receipt
    True
    """

    model: ModelInfo
    benchmark: BenchmarkInfo
    state: State
    domain: str = FIRST
    id: str = ""
    created: str = ""
    reason: str | None = None
    error: ErrorInfo | None = None
    score: Estimate | None = None
    raw: Estimate | None = None
    ceiling: CeilingEstimate | None = None
    data: tuple[DataItem, ...] = ()
    files: tuple[FileItem, ...] = ()
    weights: tuple[WeightsItem, ...] = ()
    features: tuple[FeaturesItem, ...] = ()
    products: tuple[ProductsItem, ...] = ()
    answer: AnswerInfo | None = None
    environment: Environment = field(
        default_factory=lambda: Environment(python="", platform="", cpu=None, cpu_count=None, packages={})
    )
    run: RunInfo | None = None
    seeds: dict[str, int | str | None] = field(default_factory=dict)
    device: str = "cpu"
    timings: Timings = field(default_factory=Timings)
    memory: Memory = field(default_factory=Memory)
    cache: CacheUse = field(default_factory=CacheUse)
    attachments: tuple[AttachmentInfo, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def undetermined(self) -> str | None:
        """Why a score relative to its ceiling says nothing, if so: the ceiling's interval includes 0.

        Programs find the value in `score`; pages show the raw score instead. It follows from what is stored, so that
        receipts of earlier versions have it, too.
        """
        score, ceiling = self.score, self.ceiling
        if score is None or score.value is None or score.scale != "ceiled":
            return None
        if ceiling is None or ceiling.value is None or ceiling.meaning == "none":
            return None
        limits = ceiling.unclamped_ci or ceiling.ci or (math.nan, math.nan)
        value = ceiling.value if ceiling.unclamped is None else ceiling.unclamped
        from brainscore_core.numerics.significance import Uncertain, undetermined_by  # here, as it imports SciPy

        return undetermined_by(Uncertain(value, *limits))

    @property
    def condition(self) -> str:
        """For which few subjects or groups alone the score holds; empty for new ones, and without a score."""
        if self.score is None or self.score.value is None:
            return ""
        return condition_of_result(*(part.ci_estimates for part in (self.score, self.raw) if part is not None))

    def identified(self) -> Self:
        """Return the receipt with time and id, and with names of its attachments."""
        created = self.created or present_time()
        dated = replace(self, created=created)
        attachments = [(each.kind, each.sha256, each.bytes) for each in self.attachments]
        identifier = identify({**_without_absent(asdict(dated)), "id": None, "attachments": attachments}, created)
        named = tuple(replace(each, name=f"{identifier}{each.suffix}") for each in self.attachments)
        return replace(dated, id=identifier, attachments=named)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types that follow the schema.

        Raises
        ------
        ReceiptError
            If the content does not follow the schema.
        """
        data: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "id": self.id, "created": self.created}
        data |= {key: value for key, value in plain(_without_absent(asdict(self))).items() if key not in data}
        RECEIPTS.validate(data)
        return data

    def to_json(self) -> str:
        """Convert to strict JSON: without NaN, UTF-8, indented."""
        return dumps(self.to_dict()) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read and check a receipt; a receipt of an earlier version is migrated.

        Raises
        ------
        ReceiptError
            If the text is not JSON, does not follow the schema, or was written by a newer version.
        """
        return cls.from_dict(parse(text))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make a receipt from plain JSON types, after checking them against the schema.

        Raises
        ------
        ReceiptError
            If the content does not follow the schema, or was written by a newer version.
        """
        version = data.get("schema_version") if isinstance(data, dict) else None
        data = migrated(data)
        RECEIPTS.validate(data, origin="" if version == data.get("schema_version") else f" of version {version}")
        return read(cls, data, checked=False)


def _without_absent(content: dict[str, Any]) -> dict[str, Any]:
    """Leave out fields that earlier receipts of this version do not have, where there is nothing to say."""
    return {key: value for key, value in content.items() if value or key not in ("products", "answer")}


def summary(receipt: Receipt, *, stored: str | None = None) -> list[tuple[str, str]]:
    """Summarize a receipt, line by line.

    `stored` is the address to which it was written. Lines are names and texts, with reasons of undefined values.
    """
    benchmark = receipt.benchmark.identifier
    if receipt.benchmark.version is not None:
        benchmark += f" (version {receipt.benchmark.version})"
    lines = [("model", receipt.model.identifier), ("benchmark", benchmark)]
    if receipt.benchmark.control:
        lines.append(("", "a control of the method: not part of averages"))
    state = str(receipt.state)
    lines.append(("state", f"{state}: {receipt.reason}" if receipt.reason else state))
    if receipt.score is not None:
        if receipt.undetermined:
            raw = f" (raw {number_text(receipt.raw.value)})" if receipt.raw and receipt.raw.value is not None else ""
            lines.append(("score", f"undetermined{raw}: {receipt.undetermined}"))
        else:
            lines.append(("score", receipt.score.text() if receipt.score.value is not None else "undefined"))
        if receipt.condition:
            lines.append(("holds for", receipt.condition))
        if not receipt.score.finding:
            lines += _about_interval(receipt.score, undetermined=receipt.undetermined is not None)
    if receipt.raw is not None:
        scale = f" ({receipt.raw.scale})" if receipt.raw.scale else ""
        lines.append(("raw", _beside(receipt.raw, receipt.score) + scale))
    if receipt.ceiling is not None:
        meaning = f" ({receipt.ceiling.meaning})" if receipt.ceiling.meaning else ""
        lines.append(("ceiling", _beside(receipt.ceiling, receipt.score) + meaning))
    elif receipt.score is not None:
        lines.append(("ceiling", "none"))
    lines += [("features", item.text()) for item in receipt.features]
    lines += [("products", item.text()) for item in receipt.products]
    if receipt.model.visual_angle is not None:  # not of language, nor of earlier receipts
        lines.append(("visual angle", _about_angle(receipt.model.visual_angle)))
    shown = receipt.score.finding if receipt.score is not None else None
    lines += [("note", note) for note in receipt.notes if note != shown]
    if stored is not None:
        lines.append(("receipt", stored))
    return lines


def _about_angle(angle: VisualAngle) -> str:
    """Write the visual angle, and what to do if it is a default."""
    if angle.stated or angle.others:
        return angle.text()
    return (
        f"{angle.text()}. Scores depend on it: state visual_degrees; "
        f"--visual-angles scores at {angle.degrees / 2:g}° and {angle.degrees * 2:g}°, too"
    )


def _beside(estimate: Estimate, score: Estimate | None) -> str:
    """Write a number below the score, with the population that its interval is about only if it is another one."""
    above = "" if score is None else population(score.ci_estimates)
    return (
        replace(estimate, ci_estimates=None).text() if population(estimate.ci_estimates) == above else estimate.text()
    )


def _about_interval(score: Estimate, *, undetermined: bool) -> list[tuple[str, str]]:
    """Say what the interval of a score estimates; the line of the score has named the population."""
    lines = []
    if score.ci is None:
        lines.append(("interval", f"none: {score.ci_reason or 'no reason is given'}"))
    else:
        method = f" ({score.ci_method})" if score.ci_method else ""
        estimates = f"{range_text(*score.ci)}; {score.ci_estimates}" if undetermined else details(score.ci_estimates)
        lines.append(("interval", (estimates or "of the score") + method))
    if score.unclamped is not None and score.unclamped != score.value and not undetermined:
        lines.append(("unclamped", number_text(score.unclamped)))
    return lines
