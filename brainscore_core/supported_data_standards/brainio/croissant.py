"""Describe packaged data in Croissant, the metadata format for data sets of MLCommons (JSON-LD, version 1.0)."""

import json
import mimetypes
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest, replacing
from brainscore_core.supported_data_standards.brainio.stimulus_checks import stored_identifier
from brainscore_core.supported_data_standards.brainio.tables import read_csv

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"

_TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
"""The ``@context`` of Croissant 1.0."""

_STATED = {"description": "description", "license": "license", "citation": "citeAs", "terms": "usageInfo"}
_FORMATS = {".csv": "text/csv", ".zip": "application/zip", ".nc": "application/x-netcdf"}
_KINDS = {"b": "sc:Boolean", "i": "sc:Integer", "u": "sc:Integer", "f": "sc:Float"}
_STIMULUS_FILES = "stimulus-files"


def dataset_document(
    name: str,
    *,
    description: str,
    license: str | None = None,  # noqa: A002 - the name in schema.org
    citation: str | None = None,
    terms: str | None = None,
    creators: Sequence[str] = (),
    distribution: Sequence[Mapping[str, Any]] = (),
    record_sets: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> dict[str, Any]:
    """Return the Croissant document of a data set; what is not known is left out.

    `license` is a URL or SPDX identifier; `more` are further properties of schema.org, such as ``url``.

    Examples
    --------
    >>> document = dataset_document("Words2026", description="Words.", license="CC-BY-4.0")
    >>> document["conformsTo"], document["license"]
    ('http://mlcommons.org/croissant/1.0', 'https://spdx.org/licenses/CC-BY-4.0')
    """
    document: dict[str, Any] = {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": name,
        "description": description,
        "license": _license_url(license),
        "citeAs": citation,
        "usageInfo": terms,
        "creator": [{"@type": "sc:Person", "name": creator} for creator in creators] or None,
        **more,
        "distribution": list(distribution),
        "recordSet": list(record_sets),
    }
    return {key: value for key, value in document.items() if value is not None}


def write_croissant(
    folder: str | Path,
    identifier: str,
    *,
    description: str | None = None,
    license: str | None = None,  # noqa: A002 - the name in schema.org
    citation: str | None = None,
    terms: str | None = None,
    creators: Sequence[str] = (),
) -> Path:
    """Write ``croissant_<identifier>.json`` beside packaged stimuli and measurements, or renew it.

    Parameters
    ----------
    folder : path
        Folder of the packaged files.
    identifier : str
        Their identifier.
    description, license, citation, terms, creators
        As in :func:`dataset_document`. What is not given is taken from the existing file, if any.

    Returns
    -------
    Path
        The file, with the hashes of all packaged files of this identifier in the folder, the columns of the table of
        stimuli, and the stimuli's files.

    Raises
    ------
    UserError
        If the folder has no packaged files of this identifier, or the existing file is not such a document.

    Examples
    --------
    >>> import tempfile, warnings
    >>> folder = tempfile.mkdtemp()
    >>> from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> words = StimulusSet([{"stimulus_id": "w1", "word": "cat"}])
    >>> words.name = "Words2026"
    >>> warnings.simplefilter("ignore")  # stimuli without files
    >>> package = package_stimulus_set_locally(words, words.name, downloads_path=folder)
    >>> path = write_croissant(folder, words.name, license="CC0-1.0", citation="Doe (2026)")
    >>> document = json.loads(path.read_text())
    >>> path.name, [file["name"] for file in document["distribution"]], document["recordSet"][0]["field"][1]["name"]
    ('croissant_Words2026.json', ['stimulus_Words2026.csv'], 'word')
    """
    folder, stored = Path(folder).expanduser().absolute(), stored_identifier(identifier)
    names = [f"stimulus_{stored}.csv", f"stimulus_{stored}.zip", f"assy_{stored}.nc"]
    files = [folder / name for name in names if (folder / name).is_file()]
    if not files:
        raise UserError(f"{folder} has no packaged data of {identifier!r}", remedy="package them first")
    path = folder / f"croissant_{stored}.json"
    passed = {"description": description, "license": license, "citation": citation, "terms": terms}
    earlier = _read(path)
    stated: dict[str, Any] = {name: passed[name] or earlier.get(_STATED[name]) for name in _STATED}
    stated["description"] = stated["description"] or f"Data of {identifier}, packaged for Brain-Score."
    document = dataset_document(
        identifier,
        **stated,
        creators=list(creators) or [person["name"] for person in earlier.get("creator") or []],
        distribution=[entry for file in files for entry in _file_entries(file)],
        record_sets=[records for file in files if file.suffix == ".csv" for records in _record_sets(file, files)],
    )
    with replacing(path) as stream:
        stream.write((json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode("utf-8"))
    return path


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["conformsTo"] != CONFORMS_TO:
            raise ValueError(f"it conforms to {document['conformsTo']}")
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is not a Croissant document: {error}", remedy="move it to another folder") from error
    return dict(document)


def _license_url(name: str | None) -> str | None:
    if name is None or "://" in name or " " in name:
        return name
    return f"https://spdx.org/licenses/{name}"


def _node(kind: str, identifier: str, name: str | None = None, **more: Any) -> dict[str, Any]:
    return {"@type": f"cr:{kind}", "@id": identifier, "name": name or identifier, **more}


def _file_entries(path: Path) -> list[dict[str, Any]]:
    facts: dict[str, Any] = {
        "contentUrl": path.name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": _FORMATS[path.suffix],
        "sha256": file_digest(path, "sha256"),
    }
    entries = [_node("FileObject", path.name, **facts)]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        patterns = sorted({f"*{Path(name).suffix}" for name in names})
        formats = {mimetypes.guess_type(name)[0] or "application/octet-stream" for name in names}
        members: dict[str, Any] = {
            "containedIn": {"@id": path.name},
            "encodingFormat": formats.pop() if len(formats) == 1 else "application/octet-stream",
            "includes": patterns[0] if len(patterns) == 1 else patterns,
        }
        entries.append(_node("FileSet", _STIMULUS_FILES, **members))
    return entries


def _record_sets(table: Path, files: Sequence[Path]) -> list[dict[str, Any]]:
    """Rows of the table, with the type of each column; and the stimuli's files."""
    columns = read_csv(table)
    with_files = any(path.suffix == ".zip" for path in files)
    fields = []
    for name in columns.columns:
        kind = "O" if name in ("stimulus_id", "filename") else columns[name].dtype.kind
        source = {"fileObject": {"@id": table.name}, "extract": {"column": name}}
        references = {"references": {"field": {"@id": "files/filename"}}} if name == "filename" and with_files else {}
        data_type = _KINDS.get(kind, "sc:Text")
        fields.append(_node("Field", f"stimuli/{name}", name, dataType=data_type, source=source, **references))
    sets = [_node("RecordSet", "stimuli", key={"@id": "stimuli/stimulus_id"}, field=fields)]
    if with_files:
        are_images = columns["filename"].map(lambda name: mimetypes.guess_type(name)[0] or "").str.startswith("image/")
        properties = {"filename": "sc:Text", **({"content": "sc:ImageObject"} if are_images.all() else {})}
        fields = [
            _node(
                "Field",
                f"files/{name}",
                name,
                dataType=data_type,
                source={"fileSet": {"@id": _STIMULUS_FILES}, "extract": {"fileProperty": name}},
            )
            for name, data_type in properties.items()
        ]
        sets.append(_node("RecordSet", "files", field=fields))
    return sets
