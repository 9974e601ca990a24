"""Static analysis of submitted plugins for the checklist, and the uploads that their code names."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions.models import Revision
from brainscore_web.submissions.source_code import FileText
from brainscore_web.uploads.models import Upload, UploadedFile

_HASH = re.compile(r"\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b")
_VERSION = re.compile(r"version_id\s*=\s*[\"']([^\"'\n]{1,200})[\"']")
_MOST_HASHES = 300
_WORD_OR_SIGN = re.compile(r"\w+|[^\s\w]")
_MOST_WORDS = 60_000  # words and signs of all files that are analysed, which takes up to 0.6 s in the web process


@dataclass(frozen=True)
class Call:
    """A call with its arguments: literals as values, names as AST nodes, anything else as None."""

    name: str
    path: str
    line: int
    keywords: dict[str, Any]


@dataclass(frozen=True)
class Test:
    """A test function: its calls, the attributes it reads, whether it asserts anything, and the scores it expects.

    `expected` has the assertion and the line of each comparison with a number, if the test runs a model.
    """

    name: str
    path: str
    line: int
    calls: frozenset[str]
    attributes: frozenset[str]
    asserts: bool
    private: bool
    expected: tuple[tuple[str, int], ...] = ()


@dataclass
class PluginCode:
    """The result of analysing the code of one plugin."""

    bases: list[tuple[str, str, int]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    defined: dict[str, tuple[str, int]] = field(default_factory=dict)
    constants: dict[str, tuple[Any, str, int]] = field(default_factory=dict)
    tests: list[Test] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    documented: int = 0
    functions: int = 0


def files_left_out(texts: Mapping[str, FileText]) -> set[str]:
    """Return the Python files that are not analysed, since all together would take long: the longest ones."""
    files = sorted((file for path, file in texts.items() if path.endswith(".py")), key=lambda file: len(file.source))
    words = 0
    left_out = set()
    for file in files:
        words += sum(1 for _ in _WORD_OR_SIGN.finditer(file.source))
        if words > _MOST_WORDS:
            left_out.add(file.path)
    return left_out


def read_plugin(folder: str, texts: Mapping[str, FileText], left_out: Collection[str] = ()) -> PluginCode:
    """Read the Python files of a plugin."""
    code = PluginCode()
    for path, file in texts.items():
        if not path.startswith(folder) or not path.endswith(".py"):
            continue
        if path in left_out:
            code.left_out.append(path)
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about invalid escapes in submitted strings
                tree = ast.parse(file.source) if file.source or not file.size else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = None
        if tree is None:
            code.unread.append(path)
            continue
        code.constants |= _constants_of(path, tree)
        if path.rpartition("/")[2].startswith("test"):
            code.tests += _read_tests(path, tree)
        else:
            _read_code(code, path, tree)
    values = {name: value for name, (value, _path, _line) in code.constants.items()}
    for call in code.calls:  # names become the values of the plugin's module constants
        for name, value in call.keywords.items():
            call.keywords[name] = values.get(value.id) if isinstance(value, ast.Name) else value
    return code


def hashes_of(texts: Mapping[str, FileText]) -> tuple[set[str], set[str]]:
    """Return the SHA-1 and SHA-256 hashes, and the version ids, in Python files."""
    hashes: set[str] = set()
    versions: set[str] = set()
    for path, file in texts.items():
        if path.endswith(".py") and len(hashes) < _MOST_HASHES and len(versions) < _MOST_HASHES:
            hashes.update(_HASH.findall(file.source))
            versions.update(_VERSION.findall(file.source))
    return set(sorted(hashes)[:_MOST_HASHES]), set(sorted(versions)[:_MOST_HASHES])


def _constants_of(path: str, tree: ast.Module) -> dict[str, tuple[Any, str, int]]:
    return {
        target.id: (node.value.value, path, node.lineno)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _read_code(found: PluginCode, path: str, tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            found.bases += [(_last_name(base), path, node.lineno) for base in node.bases]
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.functions += 1
            found.documented += ast.get_docstring(node) is not None
            found.defined.setdefault(node.name, (path, node.lineno))
        if isinstance(node, ast.Call):
            keywords = {keyword.arg: _value(keyword.value) for keyword in node.keywords if keyword.arg}
            found.calls.append(Call(_last_name(node.func), path, node.lineno, keywords))


def _read_tests(path: str, tree: ast.Module) -> Iterator[Test]:
    def below(nodes: list[ast.stmt], private: bool) -> Iterator[Test]:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                yield from below(node.body, private or _marked(node))
            elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                inner = list(ast.walk(node))
                calls = frozenset(_last_name(child.func) for child in inner if isinstance(child, ast.Call))
                attributes = frozenset(child.attr for child in inner if isinstance(child, ast.Attribute))
                asserts = any(isinstance(child, ast.Assert) for child in inner) or bool(calls & _ASSERTIONS)
                expected = tuple(_expected_scores(node)) if calls & _RUNNERS else ()
                is_private = private or _marked(node)
                yield Test(node.name, path, node.lineno, calls, attributes, asserts, is_private, expected)

    yield from below(tree.body, any("private_access" in ast.dump(node) for node in tree.body if _is_mark(node)))


_ASSERTIONS = frozenset({"raises", "approx", "check"})
_RUNNERS = frozenset({"load_model", "score", "run_test", "run_pair"})
_TOLERANCES = frozenset({"abs", "rel", "atol", "rtol", "nan_ok"})


def _expected_scores(test: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Find comparisons with a number that only one model has: neither 0 or 1, nor a ceiling, a size or a tolerance."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            if not any(isinstance(sign, ast.Eq) for sign in node.ops):
                continue
        elif not (isinstance(node, ast.Call) and _last_name(node.func) in ("assert_allclose", "isclose", "run_test")):
            continue
        tolerances = {
            id(part)
            for word in ast.walk(node)
            if isinstance(word, ast.keyword) and word.arg in _TOLERANCES
            for part in ast.walk(word.value)
        }
        text = ast.unparse(node)
        numbers = [
            part.value
            for part in ast.walk(node)
            if isinstance(part, ast.Constant) and isinstance(part.value, float) and id(part) not in tolerances
        ]
        if "ceiling" not in text and any(number not in (0, 1) for number in numbers):
            yield text, node.lineno


def _is_mark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
    )


def _marked(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any("private_access" in ast.dump(decorator) for decorator in node.decorator_list)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    return node if isinstance(node, ast.Name) else None


def _last_name(node: ast.expr) -> str:
    """The last part of a name: ``b`` of ``a.b``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    return node.id if isinstance(node, ast.Name) else ""


_SHOWN = 50


@dataclass(frozen=True)
class DataSet:
    """An upload that the code names, as the reviewer may see it."""

    upload: Upload
    files: tuple[UploadedFile, ...]  # the files that the code names
    hidden: bool  # whether it is private and belongs to a user other than the submitter. Then nothing else is shown
    opens: bool  # whether the reviewer may open its page
    facts: Mapping[str, Any]  # a summary of its content
    findings: tuple[Mapping[str, Any], ...]  # the findings of its checks

    @property
    def accepted(self) -> bool:
        """Whether it has passed its checks and is in storage."""
        return self.upload.state == Upload.State.ACCEPTED


def named_uploads(revision: Revision, texts: Mapping[str, FileText], reader: User) -> list[DataSet]:
    """Find uploads by the hashes and version ids in the code."""
    hashes, versions = hashes_of(texts)
    if not hashes and not versions:
        return []
    files = UploadedFile.objects.filter(Q(sha1__in=hashes) | Q(sha256__in=hashes) | Q(version_id__in=versions))
    files = files.select_related("upload__owner").order_by("upload__created", "upload", "kind")
    named: dict[Any, list[UploadedFile]] = {}
    for file in files[: _SHOWN * 3]:
        named.setdefault(file.upload_id, []).append(file)
    opens = set(Upload.objects.visible_to(reader).filter(pk__in=named).values_list("pk", flat=True))
    return [_shown_files(rows, revision, rows[0].upload_id in opens) for rows in list(named.values())[:_SHOWN]]


def _shown_files(files: list[UploadedFile], revision: Revision, opens: bool) -> DataSet:
    upload = files[0].upload
    theirs = upload.owner_id is not None and upload.owner_id == revision.by_id
    hidden = upload.visibility == Visibility.PRIVATE and not theirs and not opens
    facts = {} if hidden else upload.facts
    return DataSet(upload, tuple(files), hidden, opens, facts, () if hidden else tuple(upload.findings))
