"""The code of published plugins and its pages, by version: submitted plugins that are or were live, and our own."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from brainscore_core.domains import Domain, domain
from brainscore_core.plugins.source import code_files, plugin_hash
from brainscore_web.accounts.models import owns
from brainscore_web.domains import package_folder
from brainscore_web.leaderboard.cards.facts import CodeLink
from brainscore_web.leaderboard.http import answer, conditional
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel, Visitor
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.submissions.models import Plugin, PluginKind, PublishedVersion, Revision, Step, Submission
from brainscore_web.submissions.review.comments import LINES_OF_ONE_FILE, anchor_of, shown_files
from brainscore_web.submissions.source_code import MAX_CONTENT, FileText, decoded, escape_invisible, texts_of

_PACKAGE = "brainscore"
_REGISTRIES = {"models": "model_registry", "benchmarks": "benchmark_registry"}
_NAME = re.compile(r"\w[\w.+-]{0,199}")
_LICENCE_FILE = re.compile(r"(licen[cs]e|copying)([.-][^/]*)?", re.IGNORECASE)
_PUBLISHED_SUFFIXES = {".bib", ".csv", ".json", ".py", ".toml", ".txt", ".yaml", ".yml"}  # of files of the package
_TIME = (1980, 1, 1, 0, 0, 0)  # of all files of an archive, so that it depends on its content only
_VERSIONS = 20


@dataclass(frozen=True, kw_only=True)
class PublishedCode:
    """A version of a plugin whose code the visitor may read."""

    # domain, kind, name, sha256: the plugin, and the hash of its code, as receipts have it
    domain: str
    kind: str
    name: str
    sha256: str
    # the licence that its models' metadata state, or that of the package; empty if none is stated
    stated_licence: str = ""
    package: str = ""  # name and version of the package that it is part of; empty for a submitted plugin
    identifiers: tuple[str, ...] = ()  # what it registers; empty for a plugin of the package
    published: datetime | None = None  # when this version was published; None for a plugin of the package
    revision: Revision | None = None  # its files; None for a plugin of the package

    @property
    def folder(self) -> str:
        """Its folder, with a slash at the end."""
        return f"{self.kind}/{self.name}/"

    @property
    def link(self) -> CodeLink:
        """Its page, its archive, and its licence."""
        arguments = [self.domain, self.kind, self.name, self.sha256]
        return CodeLink(
            reverse("published:show", args=arguments), reverse("published:archive", args=arguments), self.stated_licence
        )

    @property
    def licence(self) -> str:
        """Its licence in words."""
        if self.package:
            return self.stated_licence and f"{self.stated_licence}, the licence of the package {self.package}"
        return self.stated_licence and f"{self.stated_licence}, as its authors state it"

    def texts(self) -> Mapping[str, FileText]:
        """Return its files for display, with their paths in the archive."""
        if self.revision is not None:
            return texts_of(self.revision, self.folder)
        contents = sorted(self._contents())
        return {path: decoded(path, content[: MAX_CONTENT + 4], len(content)) for path, content in contents}

    def archive(self) -> bytes:
        """Return its files as a ZIP file with the layout of ``BRAINSCORE_PLUGINS``.

        They are not compressed, which takes longest; submissions are limited in size.
        """
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for path, content in sorted(self._contents()):
                member = zipfile.ZipInfo(path, _TIME)
                member.external_attr = 0o644 << 16
                archive.writestr(member, content)
        return buffer.getvalue()

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        if self.revision is not None:
            with zipfile.ZipFile(io.BytesIO(bytes(self.revision.archive))) as archive:
                for member in archive.infolist():
                    if not member.is_dir() and member.filename.startswith(self.folder):
                        yield member.filename, archive.read(member)
            return
        for name, path in code_files(str(package_folder(self.domain) / self.kind / self.name)):
            file = Path(path)
            is_published = file.suffix in _PUBLISHED_SUFFIXES or _LICENCE_FILE.fullmatch(file.name)
            if is_published and not file.is_symlink():  # a checkout may contain other files
                yield self.folder + name, file.read_bytes()


def licence_files(texts: Mapping[str, FileText]) -> list[str]:
    """Return the paths of files that contain a licence, by their names.

    Examples
    --------
    >>> licence_files({"models/a/LICENSE.txt": decoded("a", b""), "models/a/licences.py": decoded("a", b"")})
    ['models/a/LICENSE.txt']
    """
    return [path for path in texts if _LICENCE_FILE.fullmatch(path.rpartition("/")[2])]


def find_link(
    domain: str, kind: str, name: str, visitor: Visitor, sha256: str = "", identifier: str = ""
) -> CodeLink | None:
    """Return links to the code of a plugin, for `brainscore_web.leaderboard.cards.facts`."""
    code = find_code(domain, kind, name, visitor, sha256, identifier)
    return None if code is None else code.link


def find_code(
    domain: str, kind: str, name: str, visitor: Visitor, sha256: str = "", identifier: str = ""
) -> PublishedCode | None:
    """Return a version of a plugin, or None if there is none that the visitor may read."""
    if kind not in PluginKind.values or not _NAME.fullmatch(name):
        return None
    plugin = {"domain": domain, "kind": kind, "name": name}
    versions = PublishedVersion.objects.filter(**plugin)
    codes = [sha256] if sha256 else Plugin.objects.filter(**plugin).exclude(code="").values("code")
    row = versions.filter(code__in=codes).select_related("revision__submission").defer("revision__archive").first()
    identifiers = set() if row is None else row.revision.registered(_REGISTRIES.get(kind, ""), plugin=(kind, name))
    if row is None or (identifier and identifier not in identifiers) or not _is_readable(row, visitor):
        return _of_package(domain, kind, name, visitor, sha256, identifier)
    return PublishedCode(
        **plugin,
        sha256=row.code,
        stated_licence=escape_invisible(row.licence),
        identifiers=tuple(sorted(identifiers)),
        published=row.published,
        revision=row.revision,
    )


def other_versions(code: PublishedCode, visitor: Visitor) -> list[PublishedVersion]:
    """Return the newest other versions of a submitted plugin that the visitor may read."""
    rows = PublishedVersion.objects.filter(domain=code.domain, kind=code.kind, name=code.name).exclude(code=code.sha256)
    rows = rows.select_related("revision__submission").defer("revision__archive")[:_VERSIONS]
    return [row for row in rows if _is_readable(row, visitor)]


def _is_readable(row: PublishedVersion, visitor: Visitor) -> bool:
    """Whether a visitor may read published code.

    Owners and administrators may; reviewers may read all but models, which need no review. Others may read a plugin of
    models that are all public, and other plugins unless they could reveal private models or withheld data: those of a
    submission that registers a private model, names private files or registers a benchmark whose data are withheld, and
    data of an owner or lab that withholds the data of a benchmark. Versions that were replaced while private stay so.
    """
    revision = row.revision
    is_own = owns(visitor, revision.submission)
    if is_own or (visitor.is_active and visitor.has_perm("leaderboard.view_private")):
        return True
    reviewed = Submission.objects.visible_to(visitor).filter(pk=revision.submission_id)
    if row.kind != PluginKind.MODELS and reviewed.exists():
        return True
    if row.withheld or not row.shows_models_to(visitor):
        return False
    checks = Step.objects.filter(revision=revision.pk, kind=Step.Kind.CHECK).values_list("result", flat=True)
    if any(file.get("private") for result in checks for file in result.get("files", ())):
        return False
    if row.kind == PluginKind.MODELS:
        return True
    benchmarks = revision.registered("benchmark_registry")
    rows = Benchmark.objects.filter(identifier__in=benchmarks)
    if sum(benchmark.shows_data_to(visitor) for benchmark in rows) < len(benchmarks):
        return False
    if row.kind != PluginKind.DATA:
        return True
    owner, lab = revision.submission.owner_id, revision.submission.lab_id
    same = Q(owner=owner) | Q(lab=lab, lab__isnull=False)
    folders = Plugin.objects.filter(same, kind=PluginKind.BENCHMARKS).values("name")
    return not Benchmark.objects.filter(same, access=Visibility.PRIVATE, plugin__in=folders).exists()


def _of_package(
    domain: str, kind: str, name: str, visitor: Visitor, sha256: str, identifier: str
) -> PublishedCode | None:
    """Return a plugin of this package, which is published as such, unless one of its models is private here."""
    code = _installed(domain, kind, name)
    if code is None or sha256 not in ("", code.sha256):
        return None
    if identifier and not _is_registered(domain, kind, name, identifier):
        return None
    if kind == PluginKind.MODELS:
        rows = VisionModel.objects.filter(domain=domain, plugin=name)
        hidden = rows.exclude(pk__in=VisionModel.objects.visible_to(visitor).values("pk"))
        names = hidden.values_list("identifier", flat=True)
        if any(_is_registered(domain, kind, name, hidden_name) for hidden_name in names):
            return None
    return code


@lru_cache(maxsize=512)
def _installed(domain: str, kind: str, name: str) -> PublishedCode | None:
    """Return a plugin of this package; cached, since it does not change in a process."""
    folder = package_folder(domain) / kind / name
    if name.startswith("_") or not (folder / "__init__.py").is_file():
        return None
    about = metadata.metadata(_PACKAGE)
    code, licence = plugin_hash(folder) or "", str(about.json.get("license_expression", ""))
    package = f"{_PACKAGE} {about['Version']}"
    return PublishedCode(domain=domain, kind=kind, name=name, sha256=code, stated_licence=licence, package=package)


@lru_cache(maxsize=1024)
def _is_registered(domain_name: str, kind: str, name: str, identifier: str) -> bool:
    locations = domain(domain_name).plugin_index.locations(_REGISTRIES[kind]).get(identifier, ())
    return any(location.folder == package_folder(domain_name) / kind / name for location in locations[:1])


@require_safe
def newest(request: HttpRequest, domain: Domain, kind: str, name: str) -> HttpResponse:
    """Redirect to the version that is live."""
    return redirect(_found(request, domain, kind, name).link.page)


@require_safe
def show(request: HttpRequest, domain: Domain, kind: str, name: str, sha256: str) -> HttpResponse:
    """Show the files of a version, or one of them with more of its lines."""
    code = _found(request, domain, kind, name, sha256)
    versions, only = other_versions(code, request.user), request.GET.get("path")

    def make() -> HttpResponse:
        texts = code.texts()
        if only is not None and only not in texts:
            raise Http404("this file does not exist")
        context = {
            "code": code,
            "link": code.link,
            "card": {"models": "cards:model", "benchmarks": "cards:benchmark"}.get(kind, ""),
            "licences": [(escape_invisible(path), anchor_of(path)) for path in licence_files(texts)],
            "files": shown_files(texts) if only is None else shown_files({only: texts[only]}, lines=LINES_OF_ONE_FILE),
            "only_path": only,
            "code_url": request.path,
            "versions": versions,
        }
        return render(request, "submissions/published.html", context)

    parts = (code.link, code.published, code.revision and code.revision.pk, [row.code for row in versions], only)
    snapshot = snapshot_for(request.user, domain.name)
    return answer(request, conditional(snapshot, "code", snapshot.revision, *parts), make)


@require_safe
def archive(request: HttpRequest, domain: Domain, kind: str, name: str, sha256: str) -> HttpResponse:
    """Download a version as a ZIP file."""
    code = _found(request, domain, kind, name, sha256)
    response = HttpResponse(code.archive(), content_type="application/zip")
    response["Content-Disposition"] = content_disposition_header(True, f"{kind}-{name}-{sha256[:12]}.zip")
    response["Cache-Control"] = "private, no-cache"  # a model may become private
    return response


def _found(request: HttpRequest, domain: Domain, kind: str, name: str, sha256: str = "") -> PublishedCode:
    code = find_code(domain.name, kind, name, request.user, sha256)
    if code is None:
        raise Http404("this site has no such code")
    return code
