"""The next step after an upload: a benchmark on its data, as plugin folders to download, change and submit."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brainscore_web.uploads.copy_code import Registration, copy_code, folder_of

_REGIONS = ("V1", "V2", "V4", "IT")
_STUDY = re.compile(r"[A-Z][A-Za-z]*(?:19|20)\d\d")
_MANY_STIMULI = 40  # from which partial least squares with 25 components can be cross-validated


@dataclass(frozen=True)
class Scaffold:
    """Plugin folders that register and use an upload.

    Attributes
    ----------
    name : str
        The name of the folder that holds them.
    benchmark : str
        The identifier of the benchmark; empty if the data do not suit the template, which needs recordings of a region
        with repetitions.
    files : dict
        Path → text.
    """

    name: str
    benchmark: str
    files: dict[str, str]


def scaffold_of(data: Registration, facts: Mapping[str, Any]) -> Scaffold:
    """Write plugins for an accepted upload."""
    name = folder_of(data.identifier if data.csv else data.assembly_identifier)
    files = {f"data/{name}/__init__.py": copy_code(data), f"data/{name}/test.py": _data_test(data, facts)}
    regions, repetitions = list(facts.get("regions") or ()), int(facts.get("repetitions") or 0)
    if not (data.csv and data.nc and data.cls == "NeuroidAssembly" and regions and repetitions > 1):
        return Scaffold(name, "", files)
    region = regions[0]
    study = match[0] if (match := _STUDY.match(data.assembly_identifier)) else "Author2026"
    metric = "pls" if int(facts.get("stimuli") or 0) >= _MANY_STIMULI else "ridge"
    subset = re.sub(r"[^A-Za-z0-9]+", "_", region).strip("_")
    values = {
        "identifier": f"{study}.{subset}-{metric}" if subset else f"{study}-{metric}",
        "study": study,
        "cls": f"{study}{subset[:1].upper()}{subset[1:]}{metric.capitalize()}",
        "folder": name,
        "metric": metric,
        "kind": "regression",
        "region": region,
        "parent": region if region in _REGIONS else "IT",
        "assembly": data.assembly_identifier,
        "select": f".sel(region={json.dumps(region)})" if len(regions) > 1 else "",
        "bin": ".isel(time_bin=0, drop=True)" if "time_bin" in facts.get("shape", {}) else "",
        "trials": repetitions,
        "stimuli": facts.get("stimuli"),
        "neuroids": facts.get("shape", {}).get("neuroid") if len(regions) == 1 else None,
        "access": "private" if data.private else "public",
        "regions": (region,),
    }
    for file, template in _BENCHMARK.items():
        files[f"benchmarks/{name}/{file}"] = _GAP.sub(lambda gap: _filled(gap, values), template)
    return Scaffold(name, str(values["identifier"]), files)


_GAP = re.compile(r"<<('?)(\w+)'?>>")
"""Gaps in the templates: ``<<name>>`` for the text itself, ``<<'name'>>`` for a Python literal."""


def _filled(gap: re.Match[str], values: Mapping[str, Any]) -> str:
    value = values[gap[2]]
    if not gap[1]:
        return str(value)
    return json.dumps(value) if isinstance(value, str) else repr(value)


def zipped_scaffold(scaffold: Scaffold) -> bytes:
    """Pack the folders as a ZIP file, which `brainscore submit` accepts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(scaffold.files.items()):
            archive.writestr(f"{scaffold.name}/{path}", text)
    return buffer.getvalue()


def _data_test(data: Registration, facts: Mapping[str, Any]) -> str:
    text = ""
    if data.csv:
        text += (
            "def test_stimuli():\n"
            f"    assert len(load_stimulus_set({json.dumps(data.identifier)})) == {int(facts.get('stimuli') or 0)}\n"
        )
    if data.nc:
        text += ("\n\n" if text else "") + (
            "def test_measurements():\n"
            f"    measurements = load_dataset({json.dumps(data.assembly_identifier)})\n"
            f"    assert dict(measurements.sizes) == {json.dumps(facts.get('shape') or {})}\n"
        )
    names = [*(["load_dataset"] if data.nc else []), *(["load_stimulus_set"] if data.csv else [])]
    return f"from brainscore_vision import {', '.join(names)}\n\n\n{text}"


_BENCHMARK = {
    "__init__.py": '''"""<<identifier>>: say here in one line what is asked of a model."""

from brainscore_vision import benchmark_registry


def _benchmark():
    from .benchmark import <<cls>>

    return <<cls>>()


benchmark_registry[<<'identifier'>>] = _benchmark
''',
    "benchmark.py": '''"""How well a model's <<parent>> predicts the recordings of <<study>>."""

from brainscore_vision import load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition

BIBTEX = """@article{<<folder>>,
    title = {Your Paper Title},
    author = {Author, A. and Coauthor, B.},
    journal = {Journal Name},
    year = {2026}
}"""

VISUAL_DEGREES = 8  # say here what visual angle the stimuli spanned in the experiment
NUMBER_OF_TRIALS = <<trials>>  # how often each stimulus was shown


class <<cls>>(NeuralBenchmark):
    """Cross-validated predictions of the recordings from a model's, relative to the recordings' reliability."""

    def __init__(self) -> None:
        repetitions = load_dataset(<<'assembly'>>)<<select>><<bin>>
        super().__init__(
            identifier=<<'identifier'>>,
            version=1,  # increase it whenever scores change
            assembly=average_repetition(repetitions),
            similarity_metric=load_metric(<<'metric'>>),
            visual_degrees=VISUAL_DEGREES,
            number_of_trials=NUMBER_OF_TRIALS,
            ceiling_func=lambda: load_ceiling("internal_consistency")(repetitions),
            repetitions=repetitions,
            parent=<<'parent'>>,
            bibtex=BIBTEX,
        )
''',
    "metadata.py": '''"""What <<identifier>> measures, and on whom; None where it is not known."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)

METADATA = {
    <<'identifier'>>: BenchmarkMetadata(
        title=<<'study'>>,
        description="Say here in a sentence or two what is measured.",
        stimuli=StimuliMetadata(n=<<'stimuli'>>, kind=None, visual_degrees=8),
        data=DataMetadata(
            kind="neural",
            species=None,
            regions=<<'regions'>>,
            task=None,
            method=None,  # "fMRI", "electrophysiology"
            n_subjects=None,
            n_neuroids=<<'neuroids'>>,
            access=<<'access'>>,
        ),
        metric=MetricMetadata(name=<<'metric'>>, kind=<<'kind'>>, ceiling="split-half reliability"),
    )
}
''',
    "test.py": """import pytest

from brainscore_vision import load_benchmark, load_model


def test_loads():
    benchmark = load_benchmark(<<'identifier'>>)
    assert benchmark.identifier == <<'identifier'>>
    assert benchmark.version == 1


def test_ceiling():
    assert 0 < load_benchmark(<<'identifier'>>).ceiling <= 1


def test_score():
    score = load_benchmark(<<'identifier'>>)(load_model("pixels"))
    # say here what this model scores: this range contains every score
    assert float(score) == pytest.approx(0.5, abs=0.5)
""",
}
