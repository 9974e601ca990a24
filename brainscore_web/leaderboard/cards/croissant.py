"""Metadata of a benchmark's data in Croissant, as far as the site knows them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from brainscore_core.supported_data_standards.brainio.croissant import dataset_document
from brainscore_web.leaderboard.cards.formatting import web_address
from brainscore_web.leaderboard.descriptions import data_access, plain_name
from brainscore_web.leaderboard.models import Benchmark, Score, Visitor

_FORMATS = {"csv": "text/csv", "zip": "application/zip", "nc": "application/x-netcdf"}
_PREFIXES = ("stimulus_", "assy_")  # names of packaged files; a receipt also lists those of the model


def croissant_document(benchmark: Benchmark, visitor: Visitor, url: str) -> dict[str, Any]:
    """Return the document of a benchmark, with the files that this visitor may see.

    Files are those of the newest scored receipt that have a SHA-256, which Croissant requires.
    """
    details = benchmark.details if isinstance(benchmark.details, dict) else {}
    shows_data = benchmark.shows_data_to(visitor)
    return dataset_document(
        benchmark.identifier,
        description=benchmark.description or _description(benchmark),
        license=str(details.get("data_licence") or "") or None,
        terms=str(details.get("data_terms") or "") or None,
        citation=benchmark.bibtex.strip() or None,
        distribution=_files(benchmark, visitor) if shows_data else [],
        url=url,
        sameAs=web_address(benchmark.source) or None,
        conditionsOfAccess=data_access(benchmark.access, has_access=shows_data).sentence,
    )


def _description(benchmark: Benchmark) -> str:
    name = plain_name(benchmark)
    return f"Stimuli and measurements of the benchmark {benchmark.identifier}{f': {name}' if name else ''}."


def _files(benchmark: Benchmark, visitor: Visitor) -> list[dict[str, Any]]:
    scores = Score.objects.visible_to(visitor).filter(benchmark=benchmark, state="scored").order_by("-created")
    document = scores.values_list("document", flat=True).first()
    files = document.get("files") if isinstance(document, dict) else None
    entries: dict[str, dict[str, Any]] = {}
    for file in files if isinstance(files, list) else []:
        address, sha256 = (file.get("url"), file.get("sha256")) if isinstance(file, dict) else (None, None)
        if not (isinstance(address, str) and isinstance(sha256, str) and web_address(address)):
            continue
        name = unquote(urlsplit(address).path).rpartition("/")[2]
        kind = _FORMATS.get(name.rpartition(".")[2])
        if kind is not None and name.startswith(_PREFIXES):
            entries[name] = {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": address,
                "encodingFormat": kind,
                "sha256": sha256,
            }
    return list(entries.values())
