"""Conformance checks, which authors can run on their own plugins: models, benchmarks, data and metrics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from brainscore_core.errors import DataUnavailable, NotApplicable, UserError

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

Result = Literal["passed", "not applicable", "warning", "failed"]


@dataclass(frozen=True)
class Check:
    """Outcome of one check.

    Attributes
    ----------
    name : str
        What was checked.
    result : {'passed', 'not applicable', 'warning', 'failed'}
        Not applicable: the plugin does not support it, or data for the check are not available; not an error.
        Warning: unusual, but possibly intended.
    explanation : str
        Why it is not applicable, or what the problem is.
    remedy : str
        How to fix it, if the explanation does not say so.
    """

    name: str
    result: Result
    explanation: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        details = "; ".join(text for text in (self.explanation, self.remedy) if text)
        return f"{self.name}: {self.result}" + (f" – {details}" if details else "")


class CheckedReference(NamedTuple):
    """One object, and its checks."""

    kind: str
    name: str
    checks: tuple[Check, ...]


class ConformanceError(UserError):
    """A plugin does not meet the requirements of its kind.

    Attributes
    ----------
    checks : tuple of Check
        All checks, including those that passed.
    """

    def __init__(self, message: str, remedy: str | None = None, *, checks: Sequence[Check] = ()) -> None:
        super().__init__(message, remedy)
        self.checks = tuple(checks)


class Failed(Exception):
    """Raised by a check with the problem and its remedy."""

    def __init__(self, explanation: str, remedy: str = "") -> None:
        super().__init__(explanation)
        self.remedy = remedy


class Unusual(Failed):
    """Raised by a check for something unusual that is not an error."""


def check_model(model: Any, *, stimuli: StimulusSet | None = None, raise_errors: bool = True) -> tuple[Check, ...]:
    """Check that a model meets the requirements of models.

    A model has an identifier, and states the visual angle of its input. It supports recording or a task, and raises
    `NotApplicable` for whatever it does not support. Its recordings contain each stimulus once, in order, with the
    coordinates that metrics need, and no NaN. Its responses are reproducible, and depend neither on the order of the
    stimuli nor on which other stimuli are shown. Tasks return results in the form described by `BrainModel`. Recording
    still works after a task.

    Parameters
    ----------
    model : BrainModel
        The model.
    stimuli : StimulusSet, optional
        At least six stimuli, with at least two different values of ``image_label``; by default
        :func:`example_stimuli`.
    raise_errors : bool
        Whether to raise an error if a check fails.

    Returns
    -------
    tuple of Check
        One for each check.

    Raises
    ------
    ConformanceError
        If a check failed; the message explains each failure.

    Notes
    -----
    Stored activations are not used during the checks, so that the network itself is checked.

    Examples
    --------
    >>> from brainscore_vision import load_model
    >>> sorted({check.result for check in check_model(load_model("simulated-truth"))})
    ['not applicable', 'passed']
    """
    import os
    from unittest.mock import patch

    from brainscore_core.plugins.conformance.models import CHECKS

    name = getattr(model, "identifier", None) or type(model).__name__
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"BRAINSCORE_ACTIVATIONS": "off"}):
        shown = example_stimuli(Path(folder)) if stimuli is None else stimuli
        return _run(CHECKS, model, shown, name=name, raise_errors=raise_errors)


def check_subject(make: Callable[[], Any]) -> tuple[Check, ...]:
    """Check that a subject that reads text meets the requirements of models of language.

    It has an identifier, does a task or can be recorded from. Its answers have one presentation for each part of a
    text, in order, with the coordinates that benchmarks need; they are reproducible, and depend neither on texts that
    were read before nor on later parts.

    Parameters
    ----------
    make : callable
        Makes the subject anew.

    Returns
    -------
    tuple of Check
        One for each check.
    """
    from brainscore_core.plugins.conformance.subjects import CHECKS

    return _run(CHECKS, make)


def check_benchmark(
    benchmark: Any,
    *,
    model: Any = None,
    parents: Collection[str] | None = None,
    folder: str | Path | None = None,
    raise_errors: bool = True,
) -> tuple[Check, ...]:
    """Check that a benchmark meets the requirements of benchmarks, which reviewers of submissions also check.

    A benchmark is named ``AuthorYear-metric``; it has a version, a known parent and a complete citation. Its ceiling is
    a `Score` in (0, 1] with a standard error. It scores a model, and the score contains the raw score and the ceiling.
    Its tests load it, use the ceiling, run it, and compare a score with an expected number.

    Parameters
    ----------
    benchmark : Benchmark
        The benchmark.
    model : model or tuple of models, optional
        A model to score; of several, the first one that can do what the benchmark asks. By default, it is not run.
    parents : collection of str, optional
        Valid parents; by default, any name is valid. A parent named after the benchmark's own study is always valid.
    folder : path, optional
        The plugin's folder, whose ``test.py`` is read, not run; without it, tests are not checked.
    raise_errors : bool
        Whether to raise an error if a check fails.

    Returns
    -------
    tuple of Check
        One for each check. Checks that need unavailable data are not applicable.

    Raises
    ------
    ConformanceError
        If a check failed; the message explains each failure.

    Examples
    --------
    >>> from brainscore_vision import load_benchmark
    >>> checks = check_benchmark(load_benchmark("Simulated2026.V1-pls"), raise_errors=False)
    >>> [check.name for check in checks if check.result == "failed"]
    []
    """
    from brainscore_core.plugins.conformance.benchmarks import CHECKS, BenchmarkContext

    models = model if isinstance(model, tuple) else () if model is None else (model,)
    context = BenchmarkContext(models=models, parents=parents, folder=None if folder is None else Path(folder))
    name = getattr(benchmark, "identifier", None) or type(benchmark).__name__
    return _run(CHECKS, benchmark, context, name=name, raise_errors=raise_errors)


def check_data(
    data: Any, *, identifier: str | None = None, folder: str | Path | None = None, raise_errors: bool = True
) -> tuple[Check, ...]:
    """Check that an assembly or a stimulus set meets the requirements of data.

    An assembly has the dimensions and coordinates of its class, no NaN (or a reason for it), and a stimulus set that
    contains all its values of ``stimulus_id``. A stimulus set has unique ids, and files that exist and can be decoded.
    Both are named ``AuthorYear``. The plugin declares the SHA-1 hashes of the files that it fetches, and its tests load
    the data.

    Parameters
    ----------
    data : DataAssembly or StimulusSet
        The loaded data.
    identifier : str, optional
        Identifier under which the data are registered; by default, the identifier of the data.
    folder : path, optional
        The plugin's folder, whose source code is searched for hashes and tests; without it, they are not checked.
    raise_errors : bool
        Whether to raise an error if a check fails.

    Returns
    -------
    tuple of Check
        One for each check.

    Raises
    ------
    ConformanceError
        If a check failed; the message explains each failure.

    Examples
    --------
    >>> from brainscore_vision import load_stimulus_set
    >>> checks = check_data(load_stimulus_set("Simulated2026"))
    >>> sorted({check.result for check in checks})
    ['not applicable', 'passed']
    """
    from brainscore_core.plugins.conformance.data import DataUnderTest, checks_for

    subject = DataUnderTest.of(data, identifier=identifier, folder=None if folder is None else Path(folder))
    return _run(checks_for(data), subject, name=subject.identifier or "data", raise_errors=raise_errors)


def check_metric(
    metric: Any,
    *,
    source: DataAssembly | None = None,
    target: DataAssembly | None = None,
    folder: str | Path | None = None,
    raise_errors: bool = True,
) -> tuple[Check, ...]:
    """Check that a metric meets the requirements of metrics.

    A metric is a `Metric` that declares its scale, or a `Ceiling` that declares its meaning. It returns a `Score` with
    ``raw`` and ``error``, the same for each call with the same arguments, which it does not modify. It matches
    presentations by ``stimulus_id``, and raises an error if the stimuli differ; neither the order of presentations nor
    that of dimensions matters. A neuroid with NaN raises an error, is omitted, or makes the score NaN; it never counts
    as 0.

    Parameters
    ----------
    metric : Metric or Ceiling
        The metric.
    source, target : DataAssembly, optional
        The assemblies to compare; a ceiling takes only `target`. By default, the first suitable example is used:
        recordings, choices or probabilities.
    folder : path, optional
        The plugin's folder, whose ``test.py`` is read, not run; without it, tests are not checked.
    raise_errors : bool
        Whether to raise an error if a check fails.

    Returns
    -------
    tuple of Check
        One for each check. If no example is suitable, most checks are not applicable.

    Raises
    ------
    ConformanceError
        If a check failed; the message explains each failure.

    Examples
    --------
    >>> from brainscore_vision import load_metric
    >>> checks = check_metric(load_metric("rdm"))
    >>> sorted({check.result for check in checks})
    ['not applicable', 'passed']
    """
    from brainscore_core.plugins.conformance.metrics import CHECKS, MetricUnderTest

    subject = MetricUnderTest.of(metric, source, target, folder=None if folder is None else Path(folder))
    name = getattr(metric, "identifier", None) or type(metric).__name__
    return _run(CHECKS, subject, name=name, raise_errors=raise_errors)


def example_stimuli(folder: Path) -> StimulusSet:
    """Write nine small images of three kinds as a stimulus set.

    Parameters
    ----------
    folder : Path
        Existing folder, to which the files are written.

    Returns
    -------
    StimulusSet
        With columns ``stimulus_id``, ``image_label`` and ``object_name``.
    """
    import numpy as np
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    rng = np.random.default_rng(0)
    x, y = np.meshgrid(np.linspace(-1, 1, 64), np.linspace(-1, 1, 64))
    patterns = {
        "rings": np.cos(12 * np.hypot(x, y)),
        "stripes": np.cos(12 * x),
        "checks": np.sign(np.cos(9 * x) * np.cos(9 * y)),
    }
    rows, paths = [], {}
    for label, pattern in patterns.items():
        for number in range(3):
            name = f"{label}-{number}"
            colour = rng.uniform(0.3, 1, 3)
            values = (pattern[..., None] * colour + 0.3 * rng.standard_normal((64, 64, 3)) + 1) * 127.5
            path = folder / f"{name}.png"
            Image.fromarray(np.clip(values, 0, 255).astype(np.uint8)).save(path)
            rows.append({"stimulus_id": name, "image_label": label, "object_name": label})
            paths[name] = str(path)
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = "conformance-patterns"
    return stimuli


def _run(
    checks: Mapping[str, Callable[..., None]], *arguments: Any, name: str = "", raise_errors: bool = False
) -> tuple[Check, ...]:
    done = tuple(_run_check(title, check, *arguments) for title, check in checks.items())
    failed = [check for check in done if check.result == "failed"]
    if failed and raise_errors:
        texts = ("; ".join(filter(None, (check.explanation, check.remedy))) for check in failed)
        raise ConformanceError(
            f"{len(failed)} of {len(done)} checks of {name!r} failed:\n"
            + "\n".join(f"- {check.name}: {text}" for check, text in zip(failed, texts, strict=True)),
            checks=done,
        )
    return done


def _run_check(name: str, check: Callable[..., None], *arguments: Any) -> Check:
    try:
        check(*arguments)
    except NotApplicable as error:
        return Check(name, "not applicable", error.reason)
    except DataUnavailable as error:
        return Check(name, "not applicable", f"the check needs data that are not available: {error.message}")
    except Unusual as error:
        return Check(name, "warning", str(error), error.remedy)
    except Failed as error:
        return Check(name, "failed", str(error), error.remedy)
    except Exception as error:  # noqa: BLE001 - any error of a plugin fails the check
        return Check(name, "failed", f"{type(error).__name__} was raised: {error}")
    return Check(name, "passed")
