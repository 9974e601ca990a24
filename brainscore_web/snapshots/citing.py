"""How a snapshot is cited, and its files: CSV, BibTeX, and a deposit with the metadata that a DOI needs."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.utils.html import escape

from brainscore_core.formatting import harmless
from brainscore_web.snapshots.models import FrozenView

_TIME = (1980, 1, 1, 0, 0, 0)  # of all files of an archive, so that it depends on the snapshot only
_CELLS = ("value", "error", "low", "high", "state", "exposure", "verification", "scored", "of", "receipt")
_ARRAYS = ("values", "errors", "low", "high", "states", "exposure", "verification", "scored", "of", "receipts")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "#$%&_"},
}  # fmt: skip


def url_of(row: FrozenView) -> str:
    """Return the permanent URL of a snapshot."""
    return settings.ADDRESS + row.get_absolute_url()


def citation_of(row: FrozenView) -> str:
    """Return a citation as text."""
    authors = "; ".join(row.document["authors"])
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


def bibtex_of(row: FrozenView) -> str:
    """Return the BibTeX entry of a snapshot."""
    return bibtex_entry(
        f"brainscore_{row.domain}_{row.key}",
        title=row.title,
        authors=row.document["authors"],
        year=f"{row.created:%Y}",
        url=url_of(row),
        note=f"Brain-Score, snapshot of {row.created:%Y-%m-%d}, SHA-256 {row.sha256}",
    )


def csv_of(row: FrozenView) -> str:
    """Return a snapshot as CSV, one line for each model and column; computed from the stored document only."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("model", "title", "rank", "column", "kind", "version", "condition", *_CELLS))
    writer.writerows(_lines(row.document))
    return file.getvalue()


def _lines(document: dict[str, Any]) -> Iterator[list[Any]]:
    columns = [
        [harmless(str(column[name] or "")) for name in ("identifier", "kind", "version", "condition")]
        for column in document["columns"]
    ]
    for model in document["models"]:
        head = [harmless(model["identifier"]), harmless(model["title"]), model["rank"]]
        cells = zip(*(model[name] for name in _ARRAYS), strict=True)
        for column, cell in zip(columns, cells, strict=True):
            yield [*head, *column, *cell]


def datacite_of(row: FrozenView) -> dict[str, Any]:
    """Return the metadata in the form of the DataCite REST API (kernel 4), for a DOI of the snapshot."""
    document = row.document
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
        "descriptions": [{"description": _description(row), "descriptionType": "Abstract"}],
        "schemaVersion": "http://datacite.org/schema/kernel-4",
    }
    return {"data": {"type": "dois", "attributes": attributes}}


def zenodo_of(row: FrozenView) -> dict[str, Any]:
    """Return the metadata in the form of Zenodo's deposit API."""
    return {
        "metadata": {
            "upload_type": "dataset",
            "title": row.title,
            "creators": [{"name": name} for name in row.document["authors"]],
            "description": f"<p>{escape(_description(row))}</p>",
            "publication_date": f"{row.created:%Y-%m-%d}",
            "related_identifiers": [
                {"identifier": url_of(row), "relation": "isIdenticalTo", "resource_type": "dataset"}
            ],
        }
    }


def _description(row: FrozenView) -> str:
    document = row.document
    query = f" Query: {document['query']}." if document["query"] else ""
    return (
        f"Snapshot of the Brain-Score leaderboard of {row.domain} at {url_of(row)}, made {document['created']}: "
        f"{row.n_models} models on {row.n_benchmarks} benchmarks, with versions, confidence intervals, ranks and "
        f"identifiers of receipts.{query} SHA-256 of snapshot.json: {row.sha256}."
    )


def deposit_of(row: FrozenView) -> bytes:
    """Return a ZIP file to deposit: the snapshot, its CSV, citations, and the metadata for DataCite and Zenodo."""
    files: dict[str, bytes] = {
        "snapshot.json": row.text,
        "snapshot.csv": csv_of(row).encode(),
        "snapshot.bib": bibtex_of(row).encode(),
        "references.bib": row.document["references"].encode(),
        "datacite.json": json.dumps(datacite_of(row), indent=1, ensure_ascii=False).encode(),
        "zenodo.json": json.dumps(zenodo_of(row), indent=1, ensure_ascii=False).encode(),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, _TIME)
            member.external_attr = 0o644 << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
