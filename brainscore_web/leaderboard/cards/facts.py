"""Facts about models and benchmarks: citations, example code for installed plugins, and links to their code."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

from django.conf import settings

from brainscore_core.domains import Domain, domain
from brainscore_core.formatting import count_text
from brainscore_core.plugins.bibtex import BibtexError, parse_bibtex, publication_address
from brainscore_core.receipts.receipt import ScoreAtAngle, VisualAngle
from brainscore_core.training_data import Training
from brainscore_web.leaderboard.cards.formatting import megabytes, web_address
from brainscore_web.leaderboard.clean import number, objects_in
from brainscore_web.leaderboard.descriptions import data_access
from brainscore_web.leaderboard.exposure import EXPOSURE_PAGE, names_in
from brainscore_web.leaderboard.models import Benchmark, VisionModel, Visitor

ANGLE_PAGE = "/tutorials/visual_angle/"


@dataclass(frozen=True, kw_only=True)
class Code:
    """Example code to copy."""

    # install, python, command: a shell command, a program, and a shell command
    install: str
    python: str
    command: str
    notes: tuple[str, ...] = ()  # further requirements


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A BibTeX entry, a name for its file, the URL of the publication, and that which the entry states."""

    bibtex: str
    filename: str
    source: str = ""

    @property
    def paper(self) -> str:
        """The address of the first publication; empty if the entry states none."""
        try:
            entries = parse_bibtex(self.bibtex)
        except BibtexError:
            return ""
        return next(filter(None, (web_address(publication_address(entry)) for entry in entries)), "")


def model_code(
    domain: Domain,
    model: str,
    benchmark: str | None,
    *,
    runnable: bool = True,
    packaged: bool = True,
    distribution: str = "",
) -> Code | None:
    """Return code that scores a model; None if the model cannot be run from published code and weights.

    Examples
    --------
    >>> print(model_code(domain("vision"), "pixels", "Simulated2026.V1-pls").python)
    from brainscore_vision import score
    <BLANKLINE>
    result = score("pixels", "Simulated2026.V1-pls")
    print(result)
    """
    if not runnable:
        return None
    if benchmark is None:
        python = (
            f"from {domain.package} import load_model\n\nmodel = load_model({_quoted(model)})\nprint(model.identifier)"
        )
        command = f"brainscore info {shlex.quote(model)}"
    else:
        python = _score_program(domain, model, benchmark)
        command = f"brainscore score {shlex.quote(model)} {shlex.quote(benchmark)}"
    return Code(
        install=_install(f'"brainscore[{domain.wording.extra}]"', distribution),
        python=python,
        command=command,
        notes=_notes(domain, packaged),
    )


def benchmark_code(
    domain: Domain, benchmark: str, model: str, *, public: bool, packaged: bool = True, distribution: str = ""
) -> Code:
    """Return code that scores a model on a benchmark.

    Examples
    --------
    >>> benchmark_code(domain("vision"), "A2026.IT-pls", "pixels", public=False).notes
    ('Its data are withheld: without access to them, you can only have models scored by submitting them.',)
    """
    withheld = () if public else (_WITHHELD,)
    return Code(
        install=_install("brainscore", distribution),
        python=_score_program(domain, model, benchmark),
        command=f"brainscore score {shlex.quote(model)} {shlex.quote(benchmark)}",
        notes=(*withheld, *_notes(domain, packaged)),
    )


def citation_of(bibtex: str, identifier: str, source: str = "") -> Citation | None:
    """Return the citation of a card; None if there is neither an entry nor a source.

    Examples
    --------
    >>> citation_of("@misc{a}", "lab/net v1.2").filename
    'lab-net-v1.2.bib'
    """
    source = web_address(source)
    if not bibtex.strip() and not source:
        return None
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", identifier).strip("-.") or "citation"
    return Citation(bibtex=bibtex.strip(), filename=f"{name}.bib", source=source)


_WITHHELD = "Its data are withheld: without access to them, you can only have models scored by submitting them."


def _score_program(domain: Domain, model: str, benchmark: str) -> str:
    """Return a program that scores a pair and prints the score with its interval and ceiling."""
    call = f"score({_quoted(model)}, {_quoted(benchmark)})"
    return f"from {domain.package} import score\n\nresult = {call}\nprint(result)"


def _install(platform: str, distribution: str) -> str:
    other = "" if distribution in ("", "brainscore") else f" {shlex.quote(distribution)}"
    return f"pip install {platform}{other}"


def _notes(domain: Domain, packaged: bool) -> tuple[str, ...]:
    variable = domain.plugin_index.variable
    return () if packaged else (f"It is not part of the package: put the folder of its plugin into {variable}.",)


def _quoted(text: str) -> str:
    """Return a Python string literal; every JSON string is one."""
    return json.dumps(text, ensure_ascii=False)


class Fact(NamedTuple):
    """A name and its value, optionally with a link."""

    name: str
    value: str
    href: str = ""


def angle_text(angle: object, *, with_scores: bool = True) -> str:
    """Return the visual angle that a receipt records, whether the model states it, and scores at other angles.

    Examples
    --------
    >>> angle_text({"degrees": 8, "stated": False}), angle_text(None)
    ('8°, not stated by the model: a default', 'not recorded')
    """
    fields = _mapping(angle)
    degrees = number(fields.get("degrees"))
    if degrees is None:
        return "not recorded"
    others = [
        ScoreAtAngle(degrees=other_degrees, value=number(other.get("value")))
        for other in (objects_in(fields, "others") if with_scores else ())
        if (other_degrees := number(other.get("degrees"))) is not None
    ]
    return VisualAngle(degrees=degrees, stated=fields.get("stated") is True, others=tuple(others)).text()


def model_facts(model: VisionModel, training: Training, angle: object = None) -> tuple[Fact, ...]:
    """Return the facts about a model: architecture, size, training, licences; `angle` as its last receipt has it."""
    details = _mapping(model.details)
    total = details.get("total_parameters")
    parameters = count_text(model.parameters)
    if isinstance(total, int) and model.parameters is not None and total != model.parameters:
        parameters += f" trained, {count_text(total)} in all"
    side = details.get("image_size")
    return _filled(
        Fact("Architecture", model.architecture),
        Fact("Family", model.family),
        Fact("Parameters", parameters),
        Fact("Size of the weights", megabytes(model.size_mb)),
        Fact("Input", f"{side} × {side} pixels" if side else ""),
        Fact("Visual angle", angle_text(angle, with_scores=False) if angle else "", ANGLE_PAGE),
        Fact("Training data", model.training_data),
        Fact("Trained on", _trained_on(training), EXPOSURE_PAGE),
        Fact("Fine-tuned from", model.fine_tuned_from),
        Fact("Runnable", "yes" if model.runnable else "not from published code and weights"),
        Fact("Licence of the code", _text(details, "code_licence")),
        Fact("Licence of the weights", _text(details, "weights_licence")),
        Fact("Plugin", model.plugin),
        Fact("Source", model.source, web_address(model.source)),
    )


def benchmark_facts(benchmark: Benchmark) -> tuple[Fact, ...]:
    """Return the facts about a benchmark: stimuli, subjects, measurement, metric."""
    details = _mapping(benchmark.details)
    degrees, duration = details.get("visual_degrees"), details.get("duration_ms")
    stimuli = (
        benchmark.stimuli,
        "videos" if _text(details, "datatype") == "video" else "",
        f"n = {benchmark.n_stimuli:,}" if benchmark.n_stimuli is not None else "",
        f"{degrees:g}°" if isinstance(degrees, int | float) else "",
        f"{duration:g} ms" if isinstance(duration, int | float) else "",
    )
    stimuli_source, metric_source = _text(details, "stimuli_source"), _text(details, "metric_source")
    return _filled(
        Fact("Region", benchmark.region),
        Fact("Species", benchmark.species),
        Fact("Subjects", count_text(benchmark.n_subjects)),
        Fact("Neuroids", count_text(benchmark.n_neuroids)),
        Fact("Method", benchmark.method),
        Fact("Hemisphere", _text(details, "hemisphere")),
        Fact("Preprocessing", _text(details, "preprocessing")),
        Fact("Task", benchmark.task),
        Fact("Stimuli", ", ".join(filter(None, stimuli))),
        Fact(
            "Source of stimuli",
            stimuli_source if stimuli_source != benchmark.source else "",
            web_address(stimuli_source),
        ),
        Fact("Stimuli taken from", _taken_from(names_in(benchmark.taken_from)), EXPOSURE_PAGE),
        Fact("Metric", benchmark.metric, web_address(metric_source)),
        Fact("Mapping", _text(details, "mapping")),
        Fact("Ceiling", _text(details, "ceiling")),
        Fact("Data", data_access(benchmark.access).word),
        Fact("Licence of the data", _text(details, "data_licence"), web_address(_text(details, "data_licence"))),
        Fact("Terms of use", _text(details, "data_terms"), web_address(_text(details, "data_terms"))),
        Fact("Plugin", benchmark.plugin),
    )


def _trained_on(training: Training) -> str:
    names = "; ".join(training.names)
    if training.complete:
        return names or "nothing"
    return f"{names}, and more that is not stated" if names else "not stated"


def _taken_from(names: tuple[str, ...] | None) -> str:
    return "not stated" if names is None else "; ".join(names) or "no other data set"


@cache
def installed(domain_name: str, kind: str) -> frozenset[str]:
    """Return the identifiers that installed packages register; cached, since they do not change in a process."""
    return frozenset(domain(domain_name).registries[kind])


def distribution_of(details: Any) -> str:
    """Return the package of a plugin; empty if not known."""
    return _text(_mapping(details), "distribution")


def notes_of(details: Any) -> tuple[str, ...]:
    """Return the notes of the catalogue, including those on stimuli, data and metric.

    Examples
    --------
    >>> notes_of({"notes": ["a"], "stimuli_notes": ["b", "a"], "data_notes": None})
    ('a', 'b')
    """
    fields = _mapping(details)
    texts: list[str] = []
    for name in ("notes", "stimuli_notes", "data_notes", "metric_notes"):
        notes = fields.get(name) or ()
        texts += [str(note) for note in ((notes,) if isinstance(notes, str) else notes)]
    return tuple(dict.fromkeys(texts))


def _filled(*facts: Fact) -> tuple[Fact, ...]:
    return tuple(fact for fact in facts if fact.value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(str(item) for item in value)
    return "" if value is None else str(value)


def discussion_link(row: VisionModel | Benchmark) -> str:
    """Return where a model or benchmark is discussed, as its plugin states it, or else the operators of the site."""
    stated = web_address(_text(_mapping(row.details), "discussion"))
    return stated or settings.DISCUSSIONS.replace("{identifier}", quote(row.identifier, safe=""))


class CodeLink(NamedTuple):
    """Where a version of a plugin's code can be read and downloaded, and its licence; empty if only files state it."""

    page: str
    archive: str
    licence: str


Finder = Callable[[str, str, str, Visitor, str, str], CodeLink | None]
_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """Register a function with the arguments of `code_link`."""
    if finder not in _finders:
        _finders.append(finder)


def code_link(
    domain: str, kind: str, name: str, visitor: Visitor, sha256: str = "", identifier: str = ""
) -> CodeLink | None:
    """Return where the code of a plugin is; None if it is not here or the visitor may not read it."""
    links = (finder(domain, kind, name, visitor, sha256, identifier) for finder in _finders)
    return next((link for link in links if link is not None), None)
