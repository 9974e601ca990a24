"""Hand out uploaded files, as S3 would: by bucket, key and version."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from brainscore_web.api._callers import Access
from brainscore_web.api._problems import Problem
from brainscore_web.leaderboard.models import Visibility, Visitor
from brainscore_web.uploads.models import Upload, UploadedFile, sees_all
from brainscore_web.uploads.storage import StorageFailure, storage

__all__ = ["file"]

_DENIED = "There is no such file, or it is private: log in, or send Authorization: Bearer TOKEN (scope read).\n"


@csrf_exempt
@require_safe
def file(request: HttpRequest, bucket: str, key: str) -> HttpResponseBase:
    """A file that was accepted; without ``versionId`` its newest version that the visitor may have.

    What is private, and what is not there, is denied in the same words.
    """
    visitor = _visitor(request)
    if visitor is None:
        return _refused(401, "The token is not valid.\n")
    found = _find(bucket, key, request.GET.get("versionId", ""), visitor)
    if found is None:
        return _refused(403, _DENIED)
    try:
        answer = _hand_out(found)
    except (OSError, StorageFailure):
        return _refused(503, "The storage does not answer. Try again later.\n")
    public = found.upload.visibility == Visibility.PUBLIC
    # an upload may be withdrawn, and a signed address works for minutes: caches ask each time
    kept = public and answer.status_code == 200
    answer["Cache-Control"] = "public, no-cache" if kept else "private, no-store"
    if not public:
        patch_vary_headers(answer, ["Cookie", "Authorization"])
    return answer


def _hand_out(found: UploadedFile) -> HttpResponseBase:
    path = storage().path(found.key, found.version_id)
    if path is None:
        return HttpResponseRedirect(storage().signed(found.key, found.version_id))
    answer = FileResponse(
        path.open("rb"), as_attachment=True, filename=found.name, content_type="application/octet-stream"
    )
    answer["ETag"] = f'"{found.sha256}"'
    answer["x-amz-version-id"] = found.version_id
    answer["Content-Encoding"] = "identity"  # it is packed already
    return answer


def _find(bucket: str, key: str, version_id: str, visitor: Visitor) -> UploadedFile | None:
    if "\0" in bucket + key + version_id:  # PostgreSQL takes no such text
        return None
    rows = UploadedFile.objects.select_related("upload").filter(
        bucket=bucket, key=key, upload__state=Upload.State.ACCEPTED
    )
    if version_id:
        rows = rows.filter(version_id=version_id)
    for row in rows.order_by("-upload__changed"):
        own = visitor.is_authenticated and row.upload.owner_id == visitor.pk
        if row.upload.visibility == Visibility.PUBLIC or own or sees_all(visitor):
            return row
    return None


def _visitor(request: HttpRequest) -> Visitor | None:
    """Who asks; None where a token is not valid."""
    try:
        return Access()(request).visitor
    except Problem:
        return None


def _refused(status: int, text: str) -> HttpResponse:
    answer = HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
    answer["Cache-Control"] = "no-store"
    patch_vary_headers(answer, ["Cookie", "Authorization"])  # in each refusal: none says whether a file is there
    if status == 401:
        answer["WWW-Authenticate"] = 'Bearer realm="Brain-Score"'
    return answer
