"""How a snapshot is cited, and its files: CSV, BibTeX, and a deposit with the metadata that a DOI needs."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.html import escape

from brainscore_core.formatting import harmless
from brainscore_web.snapshots.models import FrozenView

_TIME = (1980, 1, 1, 0, 0, 0)  # of all files of an archive, so that it depends on the snapshot only
_CELLS = {
    "value": "values", "error": "errors", "low": "low", "high": "high", "state": "states", "exposure": "exposure",
    "verification": "verification", "scored": "scored", "of": "of", "receipt": "receipts",
    "receipt_sha256": "receipts_sha256",
}  # fmt: skip
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "#$%&_"},
}  # fmt: skip


def url_of(row: FrozenView) -> str:
    """Return the permanent URL of a snapshot."""
    return settings.ADDRESS + reverse("snapshots:show", args=[row.key])


def citation_of(row: FrozenView, document: Mapping[str, Any]) -> str:
    """Return a citation as text."""
    authors = "; ".join(document["authors"])
    return f"{authors} ({row.created:%Y}). {row.title}. Brain-Score, snapshot {row.key}. {url_of(row)}"


def bibtex_entry(
    key: str, *, title: str, authors: Sequence[str], year: str, url: str, note: str, accessed: str = ""
) -> str:
    r"""Return a BibTeX entry of a page.

    Examples
    --------
    >>> entry = bibtex_entry("a", title="V1 & {IT}", authors=["Ada"], year="2026", url="https://a.example/", note="n")
    >>> print(entry.rstrip())
    @misc{a,
      title = {{V1 \& \{IT\}}},
      author = {{Ada}},
      year = {2026},
      url = {https://a.example/},
      note = {n}
    }
    """
    fields = {
        "title": f"{{{latex(title)}}}",
        "author": " and ".join(f"{{{latex(author)}}}" if "," not in author else latex(author) for author in authors),
        "year": year,
        "url": url,
        "urldate": accessed,
        "note": latex(note),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{key},\n{lines}\n}}\n"


def latex(text: str) -> str:
    """Return text in which no character has a meaning for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def bibtex_of(row: FrozenView, document: Mapping[str, Any]) -> str:
    """Return the BibTeX entry of a snapshot."""
    return bibtex_entry(
        f"brainscore_{row.domain}_{row.key}",
        title=row.title,
        authors=document["authors"],
        year=f"{row.created:%Y}",
        url=url_of(row),
        note=f"Brain-Score, snapshot of {row.created:%Y-%m-%d}, SHA-256 {row.sha256}",
    )


def _csv_of(document: Mapping[str, Any]) -> str:
    """Return a snapshot as CSV, one line for each model and column."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    cells = {name: array for name, array in _CELLS.items() if array in document["models"][0]}  # schema 1: no hashes
    writer.writerow(("model", "title", "rank", "column", "kind", "version", "condition", *cells))
    writer.writerows(_lines(document, cells.values()))
    return file.getvalue()


def _lines(document: Mapping[str, Any], arrays: Collection[str]) -> Iterator[list[Any]]:
    columns = [
        [harmless(str(column[name] or "")) for name in ("identifier", "kind", "version", "condition")]
        for column in document["columns"]
    ]
    for model in document["models"]:
        head = [harmless(model["identifier"]), harmless(model["title"]), model["rank"]]
        cells = zip(*(model[name] for name in arrays), strict=True)
        for column, cell in zip(columns, cells, strict=True):
            yield [*head, *column, *cell]


def _datacite_of(row: FrozenView, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata in the form of the DataCite REST API (kernel 4), for a DOI of the snapshot."""
    attributes = {
        "titles": [{"title": row.title}],
        "creators": [{"name": name} for name in document["authors"]],
        "publisher": "Brain-Score",
        "publicationYear": row.created.year,
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Leaderboard snapshot"},
        "url": url_of(row),
        "dates": [{"date": document["created"], "dateType": "Created"}],
        "formats": ["application/json", "text/csv"],
        "alternateIdentifiers": [
            {"alternateIdentifier": f"sha256:{row.sha256}", "alternateIdentifierType": "SHA-256 of snapshot.json"}
        ],
        "descriptions": [{"description": _description(row, document), "descriptionType": "Abstract"}],
        "schemaVersion": "http://datacite.org/schema/kernel-4",
    }
    return {"data": {"type": "dois", "attributes": attributes}}


def _zenodo_of(row: FrozenView, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata in the form of Zenodo's deposit API."""
    return {
        "metadata": {
            "upload_type": "dataset",
            "title": row.title,
            "creators": [{"name": name} for name in document["authors"]],
            "description": f"<p>{escape(_description(row, document))}</p>",
            "publication_date": f"{row.created:%Y-%m-%d}",
            "related_identifiers": [
                {"identifier": url_of(row), "relation": "isIdenticalTo", "resource_type": "dataset"}
            ],
        }
    }


def _description(row: FrozenView, document: Mapping[str, Any]) -> str:
    query = f" Query: {document['query']}." if document["query"] else ""
    return (
        f"Snapshot of the Brain-Score leaderboard of {row.domain} at {url_of(row)}, made {document['created']}: "
        f"{row.n_models} models on {row.n_benchmarks} benchmarks, with versions, confidence intervals, ranks and "
        f"identifiers and SHA-256 of receipts.{query} SHA-256 of snapshot.json: {row.sha256}."
    )


def archive_of(row: FrozenView, document: Mapping[str, Any], text: bytes) -> bytes:
    """Return a ZIP file to deposit: the snapshot, its CSV, citations, and the metadata for DataCite and Zenodo."""
    files: dict[str, bytes] = {
        "snapshot.json": text,
        "snapshot.csv": _csv_of(document).encode(),
        "snapshot.bib": bibtex_of(row, document).encode(),
        "references.bib": document["references"].encode(),
        "datacite.json": json.dumps(_datacite_of(row, document), indent=1, ensure_ascii=False).encode(),
        "zenodo.json": json.dumps(_zenodo_of(row, document), indent=1, ensure_ascii=False).encode(),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, _TIME)
            member.external_attr = 0o644 << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
