"""Writes new plugins from the templates in ``brainscore/templates``."""

from __future__ import annotations

import datetime
import inspect
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from brainscore_core.domain_names import FIRST
from brainscore_core.domains import Domain, domain
from brainscore_core.errors import NotApplicable, UserError, nearest
from brainscore_core.submission.package import PLUGIN_KINDS, make_discoverable, source_checkout

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

NEURAL_METRICS = ("pls", "ridge", "linear_predictivity", "neuron_to_neuron")
"""Metrics for which there is a template of a neural benchmark."""

BEHAVIORAL_METRICS = ("accuracy", "error_consistency")
"""Metrics for which there is a template of a behavioural benchmark."""

LANGUAGE_METRICS = {"pearsonr": "reading times", "ridge": "recordings"}
"""Metrics for which there is a template of a benchmark of language, and what they compare."""

_NO_COLUMNS = {"path", "trials", "stimulus_set", "time_bins", "identifier", "rename", "missing", "values", "region"}
_TEMPLATES = Path(__file__).parent / "templates"
_REGIONS = ("V1", "V2", "V4", "IT")
_STUDY = r"[A-Z][A-Za-z]*(?:19|20)\d\d(?!\d)[A-Za-z0-9_]*"
_BENCHMARK = re.compile(rf"(?P<study>{_STUDY})(?:\.(?P<subset>[A-Za-z0-9_]+))?-(?P<metric>[A-Za-z0-9_]+)")
_OTHER = re.compile(r"[A-Za-z][A-Za-z0-9]*([_.-][A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Written:
    """A plugin that was written."""

    # what it registers
    kind: str
    identifier: str
    folder: Path  # where it is
    others: tuple[Written, ...] = field(default=())  # what was written with it: the data of a benchmark
    model: str = ""  # of a benchmark: the model whose score its tests know


def default_root(of: Domain) -> Path:
    """Where new plugins go: the source checkout's package, else the first of the user's own folders, else here."""
    checkout = source_checkout()
    if checkout is not None:
        return checkout / of.package
    variable = of.plugin_index.variable or ""
    first = next((entry for entry in os.environ.get(variable, "").split(os.pathsep) if entry.strip()), None)
    return Path(first).expanduser() if first else Path.cwd()


@dataclass(frozen=True)
class Experiment:
    """Stimuli and measurements of a user's files."""

    stimuli: StimulusSet
    assembly: DataAssembly
    visual_degrees: float  # angle that the stimuli spanned
    trials: int  # how often each stimulus was shown, to each subject
    changes: tuple[str, ...] = ()  # what was changed on reading, in sentences


def _read_parquet(source: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(source)
    except (OSError, ValueError) as error:
        raise UserError(f"{source} cannot be read: {error}", "write it again as Parquet, or as CSV") from error


def read_experiment(
    source: Path, stimuli: StimulusSet, columns: Mapping[str, str], visual_degrees: float
) -> Experiment:
    """Read a table of trials, or the units and trials of an NWB file, in the time from 70 to 170 ms.

    `columns` are arguments of :func:`~brainio.importers.from_trials` or :func:`~brainio.importers.from_nwb`. In a table
    of choices, stimuli without a column ``use`` are divided: every second one of each correct answer is for fitting,
    the others are tested.
    """
    from brainscore_core.supported_data_standards.brainio.nwb import from_nwb
    from brainscore_core.supported_data_standards.brainio.trials import from_trials

    neural = source.suffix.lower() in (".nwb", ".h5", ".hdf5")
    function: Callable[..., DataAssembly] = partial(from_nwb, time_bins=[(70, 170)]) if neural else from_trials
    if unknown := sorted(set(columns) - set(inspect.signature(function).parameters) | set(columns) & _NO_COLUMNS):
        raise UserError(
            f"{unknown[0]!r} is not the meaning of a column",
            remedy=f"those of brainio.importers.{'from_nwb' if neural else 'from_trials'} are",
        )
    if neural and "stimulus" not in columns:
        raise UserError("the column of stimuli is not named", "name it, such as --column stimulus=image")
    if not np.isfinite(visual_degrees):
        raise UserError(f"the stimuli cannot span {visual_degrees}°", "pass a visual angle in degrees, such as 8")
    stimuli.identifier = source.stem
    assembly: DataAssembly = function(
        _read_parquet(source) if source.suffix.lower() == ".parquet" else source, stimulus_set=stimuli, **columns
    )
    shown = ["stimulus_id", *([] if neural or "subject" not in assembly.coords else ["subject"])]
    trials = pd.MultiIndex.from_arrays([assembly[name].values for name in shown]).value_counts()
    changes = [str(assembly.attrs["import_report"])]
    if not neural and "truth" in assembly.coords and "use" not in stimuli:
        answers = dict(zip(assembly["stimulus_id"].values, assembly["truth"].values, strict=True))
        stimuli["image_label"] = stimuli["object_name"] = [answers.get(name, "") for name in stimuli["stimulus_id"]]
        number = stimuli.groupby("image_label").cumcount()
        stimuli["use"] = np.where(number % 2 == 0, "fitting", "testing")
        assembly = assembly[
            np.isin(assembly["stimulus_id"].values, stimuli["stimulus_id"][stimuli["use"] == "testing"])
        ]
        assembly.attrs["stimulus_set"] = stimuli
        changes.append(
            f"{source.name}: models learn the task on every second stimulus of each answer; the others are tested"
        )
        if "condition" not in assembly.coords:
            assembly = assembly.assign_coords(condition=("presentation", ["all"] * assembly.sizes["presentation"]))
    return Experiment(stimuli, assembly, visual_degrees, int(trials.median()), tuple(changes))


def write_plugin(
    kind: str,
    name: str,
    *,
    root: Path,
    behavioral: bool | None = None,
    experiment: Experiment | None = None,
    of: Domain | None = None,
) -> Written:
    """Write a plugin of a domain, by default the first, that passes its own tests.

    The name is ``AuthorYear-metric`` or ``AuthorYear.subset-metric`` for a benchmark, ``AuthorYear`` for data. The
    folder `root` holds ``benchmarks/``, ``data/``, ``metrics/`` and ``models/``, or will. Data are choices unless
    `behavioral` is False. A benchmark of a study without data is written with those of `experiment`, or with generated
    ones, and its tests know the score of one model. Raises UserError if the name is invalid or taken, or the folder
    exists.
    """
    of = of or domain()
    if kind == "benchmark":
        return _write_benchmark(name, root, experiment, of)
    if kind == "data":
        _require_name(re.compile(_STUDY), name, "AuthorYear, such as Smith2026")
        return _write(kind, name, root, _about_data(name, behavioral), of)
    _require_name(_OTHER, name, "letters and digits, with '_', '-' or '.' between words")
    values = {"identifier": name, "cls": _camel(name), "year": datetime.date.today().year}
    return _write(kind, name, root, values, of)


def _write_benchmark(name: str, root: Path, experiment: Experiment | None, of: Domain) -> Written:
    _require_name(_BENCHMARK, name, "AuthorYear-metric, such as Smith2026-accuracy or Smith2026.IT-pls")
    match = _BENCHMARK.fullmatch(name)
    if match is None:  # pragma: no cover - checked above
        raise UserError(f"{name!r} is not a name for a benchmark")
    study, subset, metric = match["study"], match["subset"], match["metric"]
    sees = of.name == FIRST
    metrics = (*BEHAVIORAL_METRICS, *NEURAL_METRICS) if sees else tuple(LANGUAGE_METRICS)
    if metric not in metrics:
        near = nearest(metric, metrics, limit=2)
        raise UserError(
            f"there is no template for a benchmark with the metric {metric!r}",
            remedy=(f"did you mean {' or '.join(near)}? " if near else "")
            + f"There are {', '.join(metrics)}: start from one of them and put your metric in its place.",
        )
    neural = metric in NEURAL_METRICS
    region = subset if subset in _REGIONS else "IT"
    if sees and neural and subset is not None and subset not in _REGIONS:
        raise UserError(f"{subset!r} is not a region", remedy=f"name one of {', '.join(_REGIONS)}: {study}.IT-{metric}")
    parent = region if neural else "behavior"
    values = {
        "identifier": name,
        "study": study,
        "metric": metric,
        "neural": neural,
        "region": region,
        "parent": parent if sees else "neural_language" if neural else "behavior_language",
        "cls": _camel(name),
        "year": int(re.search(r"(?:19|20)\d\d", study)[0]),  # type: ignore[index] # _STUDY has a year
        "trials": (6 if neural else 1) if experiment is None else experiment.trials,
        "visual_degrees": 8 if experiment is None else experiment.visual_degrees,
    }
    folder = _free_folder("benchmark", name, root, of, folder_name=_folder_name(study))
    data = _data_of(study, root, experiment, of, neural=neural, region=region)
    templates = _folder_of("benchmark", of)
    form = "benchmark" if not sees else "neural" if neural else "behavioral"
    sources = {"__init__.py": "__init__.py", f"{form}.py": "benchmark.py", "metadata.py": "metadata.py"}
    folders = [*(plugin.folder for plugin in data), folder]
    try:
        _render(templates, folder, sources, values)
        make_discoverable(folder)
        measured = _measure(name, of)
        _render("benchmark", folder, {"test.py": "test.py"}, {**values, "package": of.package, **measured})
    except BaseException:
        for each in folders:
            shutil.rmtree(each, ignore_errors=True)
        raise
    return Written("benchmark", name, folder, data, measured["model"])


def _data_of(
    study: str, root: Path, experiment: Experiment | None, of: Domain, *, neural: bool, region: str
) -> tuple[Written, ...]:
    """Write data of a study that has none."""
    if experiment is not None:
        return (_package(study, root, experiment, neural=neural),)
    if study in of.registries["data"]:
        return ()
    return (_write("data", study, root, _about_data(study, not neural) | {"region": region}, of),)


def _package(study: str, root: Path, experiment: Experiment, *, neural: bool) -> Written:
    from brainscore_core.supported_data_standards.brainio.packaging import (
        package_data_assembly_locally,
        package_stimulus_set_locally,
    )

    register_package = domain().feature("local data").register_package
    stimuli, assembly = experiment.stimuli, experiment.assembly
    if ("neuroid" in assembly.dims) is not neural:
        raise UserError(
            f"the measurements are {'recordings' if not neural else 'choices'}, which the metric does not compare",
            remedy=f"name one of {', '.join(BEHAVIORAL_METRICS if neural else NEURAL_METRICS)}",
        )
    folder = _free_folder("data", study, root, domain())
    stimuli.identifier = study
    try:
        register_package(package_stimulus_set_locally(stimuli, study, folder), folder)
        cls = type(assembly).__name__
        register_package(package_data_assembly_locally(assembly, study, study, cls, folder), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    make_discoverable(folder)
    return Written("data", study, folder)


def _about_data(study: str, behavioral: bool | None) -> dict[str, Any]:
    neural = behavioral is False
    cls = "NeuroidAssembly" if neural else "BehavioralAssembly"
    return {"study": study, "neural": neural, "cls": cls, "region": "IT"}


def _measure(identifier: str, of: Domain) -> dict[str, str]:
    """Ceiling of a new benchmark and score of the first example model that can do it, for its tests."""
    try:
        benchmark = of.load_benchmark(identifier)
        ceiling = float(benchmark.ceiling)
        for model in of.examples:
            try:
                score = benchmark(of.load_model(model))
                break
            except (NotApplicable, NotImplementedError) as error:
                reason = error
        else:
            raise reason
    except UserError as error:
        raise UserError(
            f"the template of {identifier!r} does not work with the registered data: {error.message}", error.remedy
        ) from error
    except Exception as error:
        raise UserError(
            f"the template of {identifier!r} does not work with the registered data: {type(error).__name__}: {error}",
            remedy="choose another study name; simulated data are then generated, which you can replace with your own",
        ) from error
    raw = score.attrs["raw"]
    return {"ceiling": f"{ceiling:.4f}", "score": f"{float(score):.4f}", "raw": f"{float(raw):.4f}", "model": model}


def _folder_of(kind: str, of: Domain) -> str:
    """Folder of the templates of a kind; metrics have the same in all domains."""
    return kind if of.name == FIRST or kind == "metric" else f"{of.name}/{kind}"


def _write(kind: str, name: str, root: Path, values: Mapping[str, Any], of: Domain) -> Written:
    folder = _free_folder(kind, name, root, of)
    code = "data_packaging.py" if kind == "data" else f"{kind}.py"
    files = {file: file for file in ("__init__.py", code, "test.py")}
    _render(_folder_of(kind, of), folder, files, {**values, "package": of.package})
    make_discoverable(folder)
    return Written(kind, name, folder)


def _render(templates: str, folder: Path, files: Mapping[str, str], values: Mapping[str, Any]) -> None:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - Python source, not HTML
        loader=FileSystemLoader(_TEMPLATES / templates),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    folder.mkdir(parents=True, exist_ok=True)
    for source, target in files.items():
        text = environment.get_template(f"{source}.j2").render({"folder": folder.name, **values})
        (folder / target).write_text(re.sub(r"\n{4,}", "\n\n\n", text.rstrip() + "\n"), encoding="utf-8")


def _free_folder(kind: str, name: str, root: Path, of: Domain, *, folder_name: str | None = None) -> Path:
    registry = of.registries[kind]
    if name in registry:
        raise UserError(
            f"the {registry.noun} {name!r} is registered already, in {registry.location(name)}",
            remedy="choose another name",
        )
    folder = root.absolute() / PLUGIN_KINDS[kind] / (folder_name or _folder_name(name))
    if folder.exists():
        raise UserError(f"{folder} exists, and is not changed", remedy="choose another name")
    package = f"{of.package}.{PLUGIN_KINDS[kind]}.{folder.name}"
    for plugin in (index_root.folder / PLUGIN_KINDS[kind] / folder.name for index_root in of.plugin_index.roots):
        if plugin.exists():
            raise UserError(f"{package} is {plugin} already", remedy="choose another name")
    return folder


def _require_name(pattern: re.Pattern[str], name: str, form: str) -> None:
    if not pattern.fullmatch(name):
        raise UserError(f"{name!r} is not a valid name", remedy=f"write it as {form}")


def _folder_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name).lower()


def _camel(name: str) -> str:
    words = re.split(r"[^A-Za-z0-9]+", name)
    return "".join(word[:1].upper() + word[1:] for word in words)
