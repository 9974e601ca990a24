"""Register packaged data that stay on this machine, in a plugin folder of the laboratory."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest, replacing
from brainscore_core.submission.package import PLUGIN_KINDS

_CORE = "brainscore_core.supported_data_standards.brainio"
_LOADERS = frozenset({"load_stimulus_set_from_url", "load_assembly_from_url"})


def register_package(package: Mapping[str, Any], folder: str | Path, *, stimulus_set: str | None = None) -> Path:
    """Write the registration of packaged data, and a test, into the folder of a data plugin.

    The data are loaded from where they are: paths are relative to the plugin if its folder contains them, and
    ``file://`` URLs otherwise. Their hashes are checked at each loading. Nothing is uploaded.

    Parameters
    ----------
    package : dict
        Result of `package_stimulus_set_locally` or `package_data_assembly_locally`.
    folder : path
        The plugin's folder, such as ``plugins/data/mylab2026``; created if it does not exist. A registration of the
        same identifier that was written before is replaced; everything else in its files is kept.
    stimulus_set : str, optional
        For an assembly: the identifier of its stimulus set, by default the assembly's.

    Returns
    -------
    Path
        The file with the registration, ``<folder>/__init__.py``.

    Raises
    ------
    UserError
        If the folder is not one of a data plugin, or its ``__init__.py`` registers the identifier in another way.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> folder = Path(tempfile.mkdtemp()) / "data" / "words2026"
    >>> words = StimulusSet([{"stimulus_id": "w1", "word": "cat"}])
    >>> words.name = "Words2026"
    >>> import warnings; warnings.simplefilter("ignore")  # stimuli without files
    >>> package = package_stimulus_set_locally(words, words.name, downloads_path=folder)
    >>> text = register_package(package, folder).read_text()
    >>> '(Path(__file__).parent / "stimulus_Words2026.csv").as_uri()' in text
    True
    """
    folder = require_data_folder(folder)
    imports, statement = registration_of(package, folder, stimulus_set=stimulus_set)
    target = _target(statement)
    path = folder / "__init__.py"
    before = (
        f'"""{package["identifier"]}: data that stay on this machine, registered by `brainscore package --local`."""\n'
    )
    before = path.read_text(encoding="utf-8") if path.exists() else before
    _write(path, _with_statement(before, imports, statement, target, path))
    loader = "load_stimulus_set" if "csv_path" in package else "load_dataset"
    _add_test(folder / "test.py", loader, package["identifier"])
    return path


def require_data_folder(folder: str | Path) -> Path:
    """Return the absolute path of a data plugin's folder, which need not exist; other folders are an error."""
    folder = Path(folder).expanduser().absolute()
    if folder.parent.name != PLUGIN_KINDS["data"] or not folder.name.isidentifier():
        raise UserError(
            f"{folder} is not a folder of a data plugin",
            remedy="use a layout such as PLUGINS/data/mylab2026: a folder 'data', and below it a name of letters, "
            "digits and '_'",
        )
    return folder


def registration_of(
    package: Mapping[str, Any], folder: Path, *, stimulus_set: str | None = None
) -> tuple[Sequence[str], str]:
    """Return the imports and the statement that register packaged data by the paths of their files."""
    identifier = package["identifier"]
    if "csv_path" in package:
        registry, loader, further = "stimulus_set_registry", "load_stimulus_set_from_url", []
        files = {f"{kind}_": package[f"{kind}_path"] for kind in ("csv", "zip") if package[f"{kind}_path"] is not None}
        imports = ["from brainscore_vision import stimulus_set_registry"]
    else:
        registry, loader, files = "data_registry", "load_assembly_from_url", {"": package["path"]}
        stimuli = stimulus_set or identifier
        further = [f"cls={package['cls']},", f'stimulus_set_loader=lambda: load_stimulus_set("{stimuli}"),']
        imports = [
            f"from {_CORE}.assemblies import {package['cls']}",
            "from brainscore_vision import data_registry, load_stimulus_set",
        ]
    lines = [f'identifier="{identifier}",']
    for kind, path in files.items():
        lines += [f"{kind}url={_url(Path(path), folder)},", f'{kind}sha256="{file_digest(Path(path), "sha256")}",']
    arguments = "".join(f"    {line}\n" for line in [*lines, *further])
    imports = ["from pathlib import Path", *imports[:-1], f"from {_CORE}.fetch import {loader}", imports[-1]]
    return imports, f'{registry}["{identifier}"] = lambda: {loader}(\n{arguments})\n'


def _url(path: Path, folder: Path) -> str:
    path = path.absolute()
    if not path.is_relative_to(folder):
        return f'"{path.as_uri()}"'
    quoted = " / ".join(f'"{name}"' for name in path.relative_to(folder).parts)
    return f"(Path(__file__).parent / {quoted}).as_uri()"


def _target(statement: str) -> str:
    return ast.unparse(ast.parse(statement).body[0].targets[0])  # type: ignore[attr-defined] # an assignment


def _with_statement(text: str, imports: Sequence[str], statement: str, target: str, path: Path) -> str:
    """Source with the imports that it lacks, and the statement in place of an earlier one or at the end."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UserError(f"{path}:{error.lineno} is not valid Python: {error.msg}", remedy="correct it") from error
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(ast.unparse(each) == target for each in node.targets):
            called = {each.func.id for each in ast.walk(node.value)
                      if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}  # fmt: skip
            if not called & _LOADERS:
                raise UserError(
                    f"{path}:{node.lineno} registers {target} already, in another way",
                    remedy="remove that registration, or choose another identifier",
                )
            lines[node.lineno - 1 : node.end_lineno] = [statement]
            break
    else:
        lines.append(f"\n{statement}")
    imported = {name for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) for name in _imported(node)}
    missing = [line for line in imports if not _imported(ast.parse(line).body[0]) <= imported]
    if missing:
        import_statements = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        docstring = tree.body[:1] if ast.get_docstring(tree) is not None else []
        after = (import_statements or docstring)[-1].end_lineno if import_statements or docstring else 0
        block = "".join(f"{line}\n" for line in missing)
        lines.insert(after or 0, block if import_statements or not docstring else f"\n{block}")
    return "".join(lines)


def _imported(node: ast.stmt) -> set[str]:
    module = getattr(node, "module", None)
    return {f"{module}.{alias.name}" for alias in node.names}  # type: ignore[attr-defined] # an import


def _add_test(path: Path, loader: str, identifier: str) -> None:
    before = path.read_text(encoding="utf-8") if path.exists() else "from brainscore_core.plugins import check_data\n"
    if f'{loader}("{identifier}")' in before:
        return
    slug = re.sub(r"\W+", "_", identifier).lower()
    noun = "stimuli" if loader == "load_stimulus_set" else "measurements"
    _write(
        path,
        f"{before}\n\ndef test_{noun}_of_{slug}():\n"
        f"    from brainscore_vision import {loader}\n\n"
        f'    check_data({loader}("{identifier}"), identifier="{identifier}")\n',
    )


def _write(path: Path, text: str) -> None:
    with replacing(path) as stream:
        stream.write(text.encode("utf-8"))
