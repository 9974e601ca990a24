"""Code to run what a card shows, and how to cite it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass

from brainscore_web.leaderboard.cards._texts import web_address

__all__ = ["Citation", "Code", "benchmark_code", "citation_of", "model_code"]


@dataclass(frozen=True, kw_only=True)
class Code:
    """What to paste.

    Attributes
    ----------
    install, python, command : str
        A line for the shell; a program; a line for the shell.
    notes : tuple of str
        What is needed besides.
    """

    install: str
    python: str
    command: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A BibTeX entry, the name of the file to keep it in, and where the publication is."""

    bibtex: str
    filename: str
    source: str = ""


def model_code(
    model: str, benchmark: str | None, *, runnable: bool = True, packaged: bool = True, distribution: str = ""
) -> Code | None:
    """Code that scores a model; None where it cannot be run with what is public.

    Parameters
    ----------
    model : str
        Identifier.
    benchmark : str or None
        Identifier of one that everybody can score on; None if there is none: the model is loaded, then.
    runnable : bool
        Whether it can be loaded with what is public.
    packaged : bool
        Whether it comes with an installed package.
    distribution : str
        The package that it comes with, if it is another than `brainscore`.

    Examples
    --------
    >>> print(model_code("pixels", "Simulated2026.V1-pls").python)
    from brainscore_vision import load_model, score
    <BLANKLINE>
    model = load_model("pixels")
    result = score(model, "Simulated2026.V1-pls")
    print(f"{float(result):.3f} ± {result.attrs.get('error', float('nan')):.3f}")
    """
    if not runnable:
        return None
    if benchmark is None:
        python = (
            f"from brainscore_vision import load_model\n\nmodel = load_model({_quoted(model)})\nprint(model.identifier)"
        )
        command = f"brainscore info {shlex.quote(model)}"
    else:
        python = (
            "from brainscore_vision import load_model, score\n\n"
            f"model = load_model({_quoted(model)})\n"
            f"result = score(model, {_quoted(benchmark)})\n" + _PRINT
        )
        command = f"brainscore score {shlex.quote(model)} {shlex.quote(benchmark)}"
    return Code(
        install=_install('"brainscore[models]"', distribution), python=python, command=command, notes=_notes(packaged)
    )


def benchmark_code(benchmark: str, model: str, *, public: bool, packaged: bool = True, distribution: str = "") -> Code:
    """Code that scores a model on a benchmark.

    Parameters
    ----------
    benchmark, model : str
        Identifiers; the model is an example, which comes with the package.
    public : bool
        Whether everybody can read its data; if not, a note says who can score on it.
    packaged : bool
        Whether it comes with an installed package.
    distribution : str
        The package that it comes with, if it is another than `brainscore`.

    Examples
    --------
    >>> benchmark_code("A2026.IT-pls", "pixels", public=False).notes
    ('Its data are withheld: on this machine it runs only for those who have access; the platform scores submissions.',)
    """
    python = (
        "from brainscore_vision import load_benchmark, score\n\n"
        f"benchmark = load_benchmark({_quoted(benchmark)})\n"
        "print(benchmark.ceiling)\n"
        f"result = score({_quoted(model)}, {_quoted(benchmark)})  # or a model of your own\n" + _PRINT
    )
    withheld = () if public else (_WITHHELD,)
    return Code(
        install=_install("brainscore", distribution),
        python=python,
        command=f"brainscore score {shlex.quote(model)} {shlex.quote(benchmark)}",
        notes=(*withheld, *_notes(packaged)),
    )


def citation_of(bibtex: str, identifier: str, source: str = "") -> Citation | None:
    """The entry of a card; None where there is neither entry nor source.

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


_PRINT = "print(f\"{float(result):.3f} ± {result.attrs.get('error', float('nan')):.3f}\")"
_WITHHELD = (
    "Its data are withheld: on this machine it runs only for those who have access; the platform scores submissions."
)
_ELSEWHERE = "It does not come with the package: put the folder of its plugin into BRAINSCORE_PLUGINS."


def _install(platform: str, distribution: str) -> str:
    other = "" if distribution in ("", "brainscore") else f" {shlex.quote(distribution)}"
    return f"pip install {platform}{other}"


def _notes(packaged: bool) -> tuple[str, ...]:
    return () if packaged else (_ELSEWHERE,)


def _quoted(text: str) -> str:
    """A literal of Python; every string of JSON is one."""
    return json.dumps(text, ensure_ascii=False)
