"""Pages of the code of published plugins."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from brainscore_web.leaderboard.http import answer, conditional
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.submissions.published import PublishedCode, find_code, licence_files, other_versions
from brainscore_web.submissions.review.comments import LINES_OF_ONE_FILE, anchor_of, shown_files
from brainscore_web.submissions.source_code import escape_invisible


@require_safe
def newest(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """Redirect to the version that is live."""
    return redirect(_found(request, kind, name).link.page)


@require_safe
def show(request: HttpRequest, kind: str, name: str, sha256: str) -> HttpResponse:
    """Show the files of a version, or one of them with more of its lines."""
    code = _found(request, kind, name, sha256)
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
    return answer(request, conditional(snapshot_for(request.user), "code", *parts), make)


@require_safe
def archive(request: HttpRequest, kind: str, name: str, sha256: str) -> HttpResponse:
    """Download a version as a ZIP file."""
    code = _found(request, kind, name, sha256)
    response = HttpResponse(code.archive(), content_type="application/zip")
    response["Content-Disposition"] = content_disposition_header(True, f"{kind}-{name}-{sha256[:12]}.zip")
    response["Cache-Control"] = "private, no-cache"  # a model may become private
    return response


def _found(request: HttpRequest, kind: str, name: str, sha256: str = "") -> PublishedCode:
    code = find_code(kind, name, request.user, sha256)
    if code is None:
        raise Http404("this site has no such code")
    return code
