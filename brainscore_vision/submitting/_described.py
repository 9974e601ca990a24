"""Whether a plugin says what its models or benchmarks are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_vision._metadata_file import METADATA_FILE, read_metadata_file
from brainscore_vision.submitting._findings import Finding
from brainscore_vision.submitting._package import Package, SubmittedPlugin
from brainscore_vision.submitting._source import sources_of

__all__ = ["check_metadata"]

_ABOUT = {"models": "ModelMetadata", "benchmarks": "BenchmarkMetadata"}


def check_metadata(package: Package, plugin: SubmittedPlugin, root: Path) -> Iterator[Finding]:
    """Find what is missing in, or wrong with, what a plugin says about itself."""
    if plugin.kind not in _ABOUT:
        return
    file = f"{plugin.path}/{METADATA_FILE}"
    keys = {one.key for one in plugin.registrations}
    if file in package.files:
        try:
            read = read_metadata_file(root / file)
        except UserError as error:
            what = error.message.replace(f"{root / file}", METADATA_FILE)
            yield Finding("warning", "metadata", file, None, what, error.remedy or "mend it")
            return
        for problem in read.problems:
            yield Finding("warning", "metadata", file, None, problem.removeprefix(f"{root / file}: "), "mend it")
        described = set(read.models if plugin.kind == "models" else read.benchmarks)
        if missing := sorted(keys - described):
            shown = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            if not _in_python(package, plugin):
                yield Finding("note", "metadata", file, None, f"it says nothing of {shown}", "add an entry for each")
        return
    if keys and not _in_python(package, plugin):
        what = f"there is no METADATA: the site cannot say what this {plugin.kind.removesuffix('s')} is"
        remedy = f"write METADATA = {{'identifier': {_ABOUT[plugin.kind]}(…)}} into __init__.py, or a {METADATA_FILE}"
        yield Finding("warning", "metadata", f"{plugin.path}/__init__.py", None, what, remedy)


def _in_python(package: Package, plugin: SubmittedPlugin) -> bool:
    places = {f"{plugin.path}/__init__.py", f"{plugin.path}/metadata.py"}
    for source in sources_of(package, plugin):
        if source.path in places:
            for node in source.tree.body:
                if any(isinstance(one, ast.Name) and one.id == "METADATA" for one in ast.walk(node)):
                    return True
                if isinstance(node, ast.ImportFrom) and any(
                    (alias.asname or alias.name) == "METADATA" for alias in node.names
                ):
                    return True
    return False
