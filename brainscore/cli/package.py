"""``brainscore package``: write stimuli and measurements into the files that are uploaded and registered."""

import functools
import json
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._options import json_option
from brainscore.cli._output import echo, echo_json, echo_pairs, style
from brainscore_core.domains import domain
from brainscore_core.errors import UserError
from brainscore_core.paths import packages_home

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_FILE_COLUMNS = ("image_filename", "stimulus_filename", "filename", "image_file_name")

_METADATA = {
    "license": "Licence of the data: an SPDX identifier such as CC-BY-4.0, or a URL.",
    "citation": "How to cite the data.",
    "terms": "Terms of use, in a sentence or as a URL.",
    "description": "What the data are.",
}
"""What ``croissant_<identifier>.json`` states, and the help of its options."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where a package is written, published and registered, and what is stated about its data."""

    identifier: str
    output: Path | None
    local: Path | None
    upload: str | None
    overwrite: bool
    public: bool
    json_: bool
    metadata: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Folder for the files."""
        if self.output is None and self.local is not None:
            return domain().feature("local data").require_data_folder(self.local)
        return self.output or packages_home()

    @property
    def bucket(self) -> dict[str, Any]:
        """Arguments of the packaging functions that upload."""
        return {"bucket_name": self.upload, "overwrite": self.overwrite, "public": self.public}


def _with_target(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a `Target`, which is handed on as `target`."""

    @click.option("--identifier", required=True, help="Identifier of the data, such as AuthorYear.")
    @click.option(
        "--output",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder for the files; by default ~/Downloads/brainscore_packages.",
    )
    @click.option(
        "--local",
        metavar="FOLDER",
        type=click.Path(file_okay=False, path_type=Path),
        help="Write files and registration into this folder of a data plugin, such as plugins/data/mylab2026; nothing "
        "is uploaded. With --output the files are written there, and registered by their paths.",
    )
    @click.option("--upload", metavar="BUCKET", help="Upload to this S3 bucket, or BUCKET/FOLDER; needs credentials.")
    @click.option("--overwrite", is_flag=True, help="With --upload: replace different data of the same name.")
    @click.option("--public", is_flag=True, help="With --upload: make the data publicly readable.")
    @click.option("--creator", "creators", multiple=True, help="Author of the data; may be repeated.")
    @json_option
    @functools.wraps(command)
    def wrapped(**values: Any) -> None:
        metadata = {name: values.pop(name) for name in ("creators", *_METADATA)}
        target = Target(metadata=metadata, **{name: values.pop(name) for name in _TARGET})
        if target.upload is not None and target.local is not None:
            raise click.UsageError("--local and --upload exclude each other: local data are not uploaded.")
        if target.upload is None and (target.overwrite or target.public):
            raise click.UsageError("--overwrite and --public need --upload BUCKET.")
        command(target=target, **values)

    for name, explanation in reversed(_METADATA.items()):
        wrapped = click.option(f"--{name}", help=explanation)(wrapped)
    return wrapped


_TARGET = tuple(field.name for field in fields(Target) if field.name != "metadata")


_existing_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("package", cls=Subcommands)
def command() -> None:
    """Check and package data, and print their hashes and the code that registers them."""


@command.command("stimuli")
@click.argument("csv", type=_existing_file)
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--column", help="Column with the names of the files; without one, files are found by stimulus_id.")
@click.option(
    "--missing",
    metavar="MARK",
    multiple=True,
    help="Further mark of missing values besides n/a, NA, None, - and others.",
)
@click.option(
    "--no-missing", metavar="COLUMN", multiple=True, help="Column in which only empty cells are missing values."
)
@_with_target
def package_stimuli(
    *,
    csv: Path,
    folder: Path | None,
    column: str | None,
    missing: tuple[str, ...],
    no_missing: tuple[str, ...],
    target: Target,
) -> None:
    """Package the table CSV, with a column stimulus_id, and the stimuli in FOLDER.

    Without FOLDER the stimuli have no files. A column 'filename' is renamed to 'image_filename'.
    """
    from brainscore_core.supported_data_standards.brainio import packaging

    output, identifier = target.folder, target.identifier
    stimuli = read_stimuli(csv, folder, column, missing, no_missing)
    stimuli.identifier = identifier
    with _shown_warnings():
        if target.upload is None:
            package = packaging.package_stimulus_set_locally(stimuli, identifier, downloads_path=output)
        else:
            package = packaging.package_stimulus_set(
                proto_stimulus_set=stimuli, stimulus_set_identifier=identifier, downloads_path=output, **target.bucket
            )
    _finish(target, package, ("stimulus", "csv"), lambda: _stimulus_registration(package), None)


@command.command("assembly")
@click.argument("file", type=_existing_file)
@click.option("--class", "cls", required=True, metavar="CLASS", help="NeuroidAssembly, BehavioralAssembly, …")
@click.option("--stimulus-set", help="Name of the stimuli that were shown; by default the identifier.")
@click.option("--stimuli", type=_existing_file, help="Packaged table of the stimuli, to compare the ids with.")
@click.option("--allow-nan", metavar="REASON", help="Why values are missing; without it missing values are an error.")
@_with_target
def package_assembly(
    *, file: Path, cls: str, stimulus_set: str | None, stimuli: Path | None, allow_nan: str | None, target: Target
) -> None:
    """Package the assembly in the netCDF file FILE."""
    from brainscore_core.supported_data_standards.brainio import packaging
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.fetch import StimulusSetLoader
    from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf

    output, shown = target.folder, stimulus_set or target.identifier
    assembly = read_netcdf(file, DataAssembly)
    if stimuli is not None:
        assembly.attrs["stimulus_set"] = StimulusSetLoader(csv_path=stimuli).load()
    options: dict[str, Any] = {"downloads_path": output, "allow_nan": allow_nan}
    with _shown_warnings():
        if target.upload is None:
            package = packaging.package_data_assembly_locally(assembly, target.identifier, shown, cls, **options)
        else:
            package = packaging.package_data_assembly(
                proto_data_assembly=assembly,
                assembly_identifier=target.identifier,
                stimulus_set_identifier=shown,
                assembly_class_name=cls,
                **options,
                **target.bucket,
            )
    _finish(target, package, ("assy", "nc"), lambda: _assembly_registration(package, shown), shown)


def _finish(
    target: Target,
    package: dict[str, Any],
    uploaded: tuple[str, str],
    registration: Callable[[], str],
    stimulus_set: str | None,
) -> None:
    """State what is known about the data, and register them or show the code that does; `uploaded` names the file."""
    from brainscore_core.supported_data_standards.brainio.croissant import write_croissant

    path = write_croissant(target.folder, package["identifier"], **target.metadata)
    package["croissant_path"] = str(path)
    if target.local is not None:
        _register_locally(package, target.local, stimulus_set, json_=target.json_)
        return
    if "license" not in json.loads(path.read_text(encoding="utf-8")):
        echo(f"{path.name} states no licence, so others may not use the data: pass --license.", err=True)
    _add_public_access(package, *uploaded)
    if target.json_:
        echo_json({**package, "registration": registration()})
        return
    echo_pairs((name, str(value)) for name, value in package.items() if value is not None)
    echo(f"\nRegister it in brainscore_vision/data/<name>/__init__.py:\n\n{registration()}")


def _add_public_access(package: dict[str, Any], prefix: str, extension: str) -> None:
    """Add to the result whether the uploaded files are public; None if that cannot be determined."""
    if "bucket" not in package:
        return
    from brainscore_core.supported_data_standards.brainio.buckets import is_public, s3_object
    from brainscore_core.supported_data_standards.brainio.stimulus_checks import stored_identifier

    location = s3_object(package["bucket"], f"{prefix}_{stored_identifier(package['identifier'])}.{extension}")
    package["public"] = is_public(location, package.get("csv_version_id") or package.get("version_id"))


def read_stimuli(
    csv: Path, folder: Path | None, column: str | None, missing: Sequence[str], no_missing: Sequence[str]
) -> "StimulusSet":
    """Read a table in which ids and names of files are texts, and report what was converted."""
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_core.supported_data_standards.brainio.tables import convert_texts, mark_missing, read_texts

    text, changes = read_texts(csv)
    for name in (*([column] if column is not None else []), *no_missing):
        if name not in text.columns:
            raise UserError(f"{csv} has no column {name!r}", remedy=f"its columns are {', '.join(text.columns)}")
    exact = [name for name in ("stimulus_id", column, *_FILE_COLUMNS) if name in text.columns]
    marked = mark_missing(text.drop(columns=[*exact, *no_missing]), missing)
    only_empty = mark_missing(text[[name for name in no_missing if name not in exact]], dict.fromkeys(no_missing, ()))
    table = text.assign(**marked.table, **only_empty.table)
    table, converted = convert_texts(table, [name for name in table.columns if name not in exact])
    for change in (*changes, *marked.changes, *only_empty.changes, *converted):
        echo(f"{csv.name}: {change}", err=True)
    names = None
    if folder is not None and "stimulus_id" in table.columns:
        column = column or next((name for name in _FILE_COLUMNS if name in table.columns), None)
        ids = text["stimulus_id"].tolist()
        names = text[column].tolist() if column else _names_by_id(folder, ids)
    stimuli = StimulusSet(table.rename(columns={"filename": "image_filename"}))
    if folder is not None and names is not None:
        stimuli.stimulus_paths = {stimulus: folder / name for stimulus, name in zip(ids, names, strict=True)}
    return stimuli


def _names_by_id(folder: Path, ids: list[str]) -> list[str]:
    """Names of the files whose stems are the ids; the id itself without a file, which validation then reports."""
    by_stem: dict[str, list[str]] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            by_stem.setdefault(path.stem, []).append(path.name)
    several = {stimulus: by_stem[stimulus] for stimulus in ids if len(by_stem.get(stimulus, ())) > 1}
    if several:
        stimulus, names = next(iter(several.items()))
        raise UserError(
            f"{folder} has several files for {len(several)} stimuli, e.g. for {stimulus!r}: {', '.join(names)}",
            remedy="name the files in a column of the table, and pass --column",
        )
    return [by_stem.get(stimulus, [stimulus])[0] for stimulus in ids]


@contextmanager
def _shown_warnings() -> Iterator[None]:
    """Show warnings in a line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        echo(f"{style('Warning:', fg='yellow')} {warning.message}", err=True)


def _register_locally(package: Mapping[str, Any], folder: Path, stimulus_set: str | None, *, json_: bool) -> None:
    from brainscore_core.submission.package import domain_of_folder, is_discoverable

    file = domain().feature("local data").register_package(package, folder, stimulus_set=stimulus_set)
    if json_:
        echo_json({**package, "registered_in": str(file)})
        return
    echo_pairs((name, str(value)) for name, value in package.items() if value is not None)
    echo(f"\nRegistered in {file}. Nothing was uploaded. Next:")
    root = folder.absolute().parent.parent
    of = domain_of_folder(folder)
    if not is_discoverable(root, of):
        echo(f"    export {of.plugin_index.variable}={shlex.quote(str(root))}")
    echo(f"    brainscore test {shlex.quote(str(folder))}")


def _stimulus_registration(package: Mapping[str, Any]) -> str:
    identifier = package["identifier"]
    if package["zip_sha1"] is None and "bucket" not in package:
        import hashlib

        sha256 = hashlib.sha256(Path(package["csv_path"]).read_bytes()).hexdigest()
        return (
            "from brainscore_core.supported_data_standards.brainio.fetch import load_stimulus_set_from_url\n"
            "from brainscore_vision import stimulus_set_registry\n\n"
            f'stimulus_set_registry["{identifier}"] = lambda: load_stimulus_set_from_url(\n'
            f'    identifier="{identifier}",\n'
            f'    csv_url="https://…/{Path(package["csv_path"]).name}",  # where you put it\n'
            f'    csv_sha256="{sha256}",\n'
            ")\n"
        )
    return (
        "from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3\n"
        "from brainscore_vision import stimulus_set_registry\n\n"
        f'stimulus_set_registry["{identifier}"] = lambda: load_stimulus_set_from_s3(\n'
        f'    identifier="{identifier}",\n'
        f"    bucket={_bucket(package)}\n"
        f"    csv_sha1={_quoted(package['csv_sha1'])},\n"
        f"    zip_sha1={_quoted(package['zip_sha1'])},\n"
        f"    csv_version_id={_version(package, 'csv_version_id')}\n"
        f"    zip_version_id={_version(package, 'zip_version_id')}\n"
        ")\n"
    )


def _assembly_registration(package: Mapping[str, Any], stimulus_set: str) -> str:
    identifier, cls = package["identifier"], package["cls"]
    return (
        f"from brainscore_core.supported_data_standards.brainio.assemblies import {cls}\n"
        "from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3\n"
        "from brainscore_vision import data_registry, load_stimulus_set\n\n"
        f'data_registry["{identifier}"] = lambda: load_assembly_from_s3(\n'
        f'    identifier="{identifier}",\n'
        f"    version_id={_version(package, 'version_id')}\n"
        f'    sha1="{package["sha1"]}",\n'
        f"    bucket={_bucket(package)}\n"
        f"    cls={cls},\n"
        f'    stimulus_set_loader=lambda: load_stimulus_set("{stimulus_set}"),\n'
        ")\n"
    )


def _bucket(package: Mapping[str, Any]) -> str:
    if "bucket" in package:
        return f'"{package["bucket"]}",'
    return '"brainscore-storage/brainscore-vision/data/…",  # known after the upload'


def _version(package: Mapping[str, Any], name: str) -> str:
    if name in package:
        return f"{_quoted(package[name])},"
    return '"…",  # known after the upload'


def _quoted(value: str | None) -> str:
    return "None" if value is None else f'"{value}"'
