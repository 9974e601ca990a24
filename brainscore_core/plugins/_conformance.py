"""Does a model do what every model must do? Checks that a plugin's author can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from brainscore_core.errors import NotApplicable, UserError

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["Check", "ConformanceError", "check_model", "example_stimuli"]

Result = Literal["passed", "not applicable", "failed"]


@dataclass(frozen=True)
class Check:
    """Outcome of one check.

    Attributes
    ----------
    name : str
        What was checked.
    result : {'passed', 'not applicable', 'failed'}
        Not applicable: the model said that it cannot do it, which is no fault.
    explanation : str
        Why it is not applicable, or what is wrong and what to do about it.
    """

    name: str
    result: Result
    explanation: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.result}" + (f" – {self.explanation}" if self.explanation else "")


class ConformanceError(UserError):
    """A model does not do what every model must do.

    Attributes
    ----------
    checks : tuple of Check
        All of them, those that passed, too.
    """

    def __init__(self, message: str, remedy: str | None = None, *, checks: Sequence[Check] = ()) -> None:
        super().__init__(message, remedy)
        self.checks = tuple(checks)


class Failed(Exception):
    """Raised by a check with what is wrong."""


def check_model(model: Any, *, stimuli: StimulusSet | None = None, raise_errors: bool = True) -> tuple[Check, ...]:
    """Check that a model does what every model must do.

    It names itself and the visual angle of its input; it can be recorded from or does a task, and refuses with
    `NotApplicable` what it cannot do; its recordings hold each stimulus once, in order, with the coordinates that
    metrics need and without NaN; its responses repeat, and depend neither on the order of the stimuli nor on which
    others are shown; tasks answer in the form the interface describes; recording after a task records.

    Parameters
    ----------
    model : BrainModel
        The model.
    stimuli : StimulusSet, optional
        At least six, with ``image_label`` of two kinds or more; by default :func:`example_stimuli`.
    raise_errors : bool
        Whether to raise where a check failed.

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
    Stored activations are not used meanwhile: the network itself is checked.

    Examples
    --------
    >>> from brainscore_vision import load_model
    >>> sorted({check.result for check in check_model(load_model("pixels"))})
    ['not applicable', 'passed']
    """
    from brainscore_core.plugins._model_checks import CHECKS

    with TemporaryDirectory() as folder, _without_stored_activations():
        shown = example_stimuli(Path(folder)) if stimuli is None else stimuli
        checks = [_run(name, check, model, shown) for name, check in CHECKS.items()]
    failed = [check for check in checks if check.result == "failed"]
    if failed and raise_errors:
        name = getattr(model, "identifier", None) or type(model).__name__
        raise ConformanceError(
            f"{len(failed)} of {len(checks)} checks of {name!r} failed:\n"
            + "\n".join(f"- {check.name}: {check.explanation}" for check in failed),
            checks=checks,
        )
    return tuple(checks)


def example_stimuli(folder: Path) -> StimulusSet:
    """Write nine small pictures of three kinds, and describe them.

    Parameters
    ----------
    folder : Path
        Where the files go.

    Returns
    -------
    StimulusSet
        Columns ``stimulus_id``, ``image_label``, ``object_name``.
    """
    import numpy as np
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    rng = np.random.default_rng(0)
    across, down = np.meshgrid(np.linspace(-1, 1, 64), np.linspace(-1, 1, 64))
    patterns = {
        "rings": np.cos(12 * np.hypot(across, down)),
        "stripes": np.cos(12 * across),
        "checks": np.sign(np.cos(9 * across) * np.cos(9 * down)),
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


def _run(name: str, check: Callable[[Any, StimulusSet], None], model: Any, stimuli: StimulusSet) -> Check:
    try:
        check(model, stimuli)
    except NotApplicable as error:
        return Check(name, "not applicable", error.reason)
    except Failed as error:
        return Check(name, "failed", str(error))
    except Exception as error:  # noqa: BLE001 - whatever a plugin raises is a finding
        return Check(name, "failed", f"it raised {type(error).__name__}: {error}")
    return Check(name, "passed")


def _without_stored_activations() -> Any:
    import os
    from unittest.mock import patch

    return patch.dict(os.environ, {"BRAINSCORE_ACTIVATIONS": "off"})
