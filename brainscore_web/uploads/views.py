"""Pages of uploads (list, creation, status, code, withdrawal, download), their form, and the receipt of files."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any, cast

from csp.decorators import csp_update
from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import computing_exceeded, confirmed_email_required, current_user, find_caller
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visibility, Visitor
from brainscore_web.uploads import files
from brainscore_web.uploads.checking import begin_checks, resume
from brainscore_web.uploads.files import bytes_used, limits, withdraw
from brainscore_web.uploads.models import CLASSES, Upload, UploadedFile, sees_all_uploads
from brainscore_web.uploads.plugin_code import (
    Registration,
    address_of,
    copy_code,
    registration_of,
    scaffold_of,
    zipped_scaffold,
)
from brainscore_web.uploads.storage import StorageFailure, storage

_WHO = {
    "public": "everyone can load the data",
    "private": "only you and the administrators can load the data; scores on its benchmarks are still public",
}


class StartForm(forms.ModelForm):
    """Name, class and visibility of a data set."""

    identifier = forms.CharField(
        max_length=200, help_text="The name used for packaging: AuthorYear, or AuthorYear.subset.", label="Stimulus set"
    )
    assembly_identifier = forms.CharField(
        max_length=200, required=False, label="Assembly", help_text="Empty if it has the name of the stimulus set."
    )
    assembly_class = forms.ChoiceField(
        label="Class of the assembly", choices=[(name, name) for name in CLASSES], required=False
    )
    visibility = forms.ChoiceField(
        label="Who may load it",
        choices=[(value, f"{value}: {text}") for value, text in _WHO.items()],
        widget=forms.RadioSelect,
        initial=Visibility.PUBLIC,
    )

    class Meta:
        """The fields of an upload."""

        model = Upload
        fields = ("identifier", "assembly_identifier", "assembly_class", "visibility")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["label_suffix"] = ""
        super().__init__(*args, **kwargs)

    def clean_identifier(self) -> str:
        """Refuse identifiers that cannot be file names."""
        return _usable(self.cleaned_data["identifier"])

    def clean_assembly_identifier(self) -> str:
        """By default, use the name of the stimulus set."""
        return _usable(self.cleaned_data["assembly_identifier"] or self.cleaned_data.get("identifier") or "X")

    def clean_assembly_class(self) -> str:
        """By default, use the first class."""
        return self.cleaned_data["assembly_class"] or CLASSES[0]


def _usable(identifier: str) -> str:
    from brainscore_core.supported_data_standards.brainio.validation import check_identifier

    for finding in check_identifier(identifier):
        if finding.severity == "error":
            raise forms.ValidationError(f"{finding.culprit}: {finding.remedy}.")
    return identifier


_PAGE_SIZE = 50
_STATE_LABELS = {"receiving": "waiting for files", "checking": "being checked"}
_confirmed_only = confirmed_email_required("uploads/unconfirmed.html")


def _words(upload: Upload) -> str:
    """Describe the state of an upload."""
    waits = upload.state == Upload.State.CHECKING and not upload.claim
    return "waiting to be checked" if waits else _STATE_LABELS.get(upload.state, upload.state)


@_confirmed_only
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """List the visitor's uploads."""
    rows = Upload.objects.filter(owner=current_user(request)).prefetch_related("files")
    page = Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page", "1"))
    for row in page:
        row.words = _words(row)
    return render(request, "uploads/home.html", {"rows": page, **_quota_context(current_user(request))})


@_confirmed_only
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Start an upload."""
    user = current_user(request)
    form = StartForm(request.POST or None, initial=_initial_values(request))
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            User.objects.select_for_update().get(pk=user.pk)
            if Upload.objects.filter(owner=user, state=Upload.State.RECEIVING).count() >= limits().drafts:
                form.add_error(
                    None, f"You have {limits().drafts} unfinished uploads. Finish or withdraw some of them first."
                )
            else:
                form.instance.owner = user
                form.save()
        if form.is_valid():
            return redirect("uploads:show", form.instance.pk)
    status = 200 if request.method != "POST" else 400
    return render(request, "uploads/new.html", {"form": form, **_quota_context(user)}, status=status)


@_confirmed_only
@require_safe
def show(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Show an upload: its state, missing files, findings and code."""
    upload = _visible(request, key)
    if upload.state == Upload.State.CHECKING:
        resume(upload)
    return _page(request, upload)


@_confirmed_only
@require_safe
def state(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Return the state of an upload, for pages that poll it."""
    upload = _visible(request, key)
    if upload.state == Upload.State.CHECKING:
        resume(upload)
    return JsonResponse({"state": upload.state, "words": _words(upload), "changed": upload.changed})


@_confirmed_only
@require_safe
def code(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Download the plugin's module."""
    text = copy_code(_registration(request, _accepted(request, key)))
    return _download(text, "__init__.py", "text/x-python; charset=utf-8")


@_confirmed_only
@require_safe
def scaffold(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Download plugin folders that register the data, with a benchmark on them if they suit its template."""
    upload = _accepted(request, key)
    folders = scaffold_of(_registration(request, upload), upload.facts)
    return _download(zipped_scaffold(folders), f"{folders.name}.zip", "application/zip")


def _accepted(request: HttpRequest, key: uuid.UUID) -> Upload:
    upload = _visible(request, key)
    if upload.state != Upload.State.ACCEPTED:
        raise Http404("the data are not accepted")
    return upload


def _registration(request: HttpRequest, upload: Upload) -> Registration:
    return registration_of(request, upload, list(upload.files.all()))


def _download(content: str | bytes, name: str, content_type: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)


def _changes_upload(view: Callable[..., HttpResponse | None]) -> Callable[..., HttpResponse]:
    """Give an upload of the visitor to a view, and answer what it refuses; else redirect to the upload's page."""

    @_confirmed_only
    @require_POST
    @functools.wraps(view)
    def wrapped(request: HttpRequest, key: uuid.UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        upload = get_object_or_404(Upload, pk=key, owner=current_user(request))
        try:
            return view(request, upload, *args, **kwargs) or _accepted_response(request, upload)
        except files.Refused as error:
            return _refused_response(request, upload, error, status=error.status)
        except UserError as error:
            return _refused_response(request, upload, error, status=503 if isinstance(error, StorageFailure) else 409)

    return cast(Callable[..., HttpResponse], wrapped)


@csrf_exempt  # the CSRF token is checked while the form is streamed; the middleware would read the whole file first
@_changes_upload
def receive(request: HttpRequest, upload: Upload, kind: str) -> None:
    """Receive a file."""
    files.receive(request, upload, kind)


@_changes_upload
def grant(request: HttpRequest, upload: Upload, kind: str) -> HttpResponse:
    """Return where a browser may send a file."""
    size = request.POST.get("size", "")
    if not size.isdecimal() or len(size) > 15:
        return JsonResponse({"message": "size must be a number of bytes"}, status=400)
    granted = files.grant_direct_upload(upload, kind, int(size), sent_as=request.POST.get("name", ""))
    if granted is None:
        return JsonResponse({"url": reverse("uploads:receive", args=[upload.pk, kind]), "fields": {}, "direct": False})
    return JsonResponse({"url": granted[1].url, "fields": granted[1].fields, "direct": True})


@_changes_upload
def arrived(request: HttpRequest, upload: Upload, kind: str) -> None:
    """Record a file that a browser sent directly to the storage."""
    files.finish_direct_upload(upload, kind, request.POST)


@_changes_upload
def check(request: HttpRequest, upload: Upload) -> None:
    """Start the checks."""
    begin_checks(upload)


@_confirmed_only
@require_http_methods(["GET", "HEAD", "POST"])
def take_back(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Withdraw an upload after confirmation."""
    upload = _visible(request, key)
    if request.method != "POST":
        return render(request, "uploads/withdraw.html", {"upload": upload})
    try:
        withdraw(upload)
    except UserError as error:
        return _refused_response(request, upload, error, status=409)
    messages.success(request, f"{upload} is withdrawn.")
    return redirect("uploads:home")


def _visible(request: HttpRequest, key: uuid.UUID) -> Upload:
    return get_object_or_404(Upload.objects.visible_to(current_user(request)).prefetch_related("files"), pk=key)


def _quota_context(user: User) -> dict[str, Any]:
    return {"taken": bytes_used(user), "limits": limits()}


def _initial_values(request: HttpRequest) -> dict[str, str]:
    """Return the values of an earlier upload that is repeated."""
    try:
        earlier = Upload.objects.get(pk=uuid.UUID(request.GET.get("as", "")), owner=current_user(request))
    except (ValueError, Upload.DoesNotExist):
        return {}
    return {name: getattr(earlier, name) for name in StartForm.Meta.fields}


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _accepted_response(request: HttpRequest, upload: Upload) -> HttpResponse:
    address = reverse("uploads:show", args=[upload.pk])
    if _wants_json(request):
        return JsonResponse({"url": address})
    return HttpResponseRedirect(address, status=303)


def _refused_response(request: HttpRequest, upload: Upload, error: UserError, *, status: int) -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"message": error.message, "remedy": error.remedy or ""}, status=status)
    upload.refresh_from_db()
    return _page(request, upload, problem=error, status=status)


def _page(request: HttpRequest, upload: Upload, *, problem: UserError | None = None, status: int = 200) -> HttpResponse:
    by_kind = {file.kind: file for file in upload.files.all()}
    empty = {kind: UploadedFile(upload=upload, kind=kind) for kind in UploadedFile.Kind.values}
    slots = [
        {"kind": kind, "file": by_kind.get(kind, file), "limit": limits().of(kind)} for kind, file in empty.items()
    ]
    for file in by_kind.values():
        file.upload = upload
    context: dict[str, Any] = {
        "upload": upload,
        "words": _words(upload),
        "slots": slots,
        "ready": any(file.size is not None for file in by_kind.values()),
        "problem": problem,
        "own": upload.owner_id == current_user(request).pk,
        "direct": storage().origin is not None,
        **_quota_context(upload.owner or current_user(request)),
    }
    if upload.state == Upload.State.ACCEPTED:
        rows = [by_kind[kind] for kind in UploadedFile.Kind.values if kind in by_kind]
        data = registration_of(request, upload, rows)
        context |= {
            "code": copy_code(data),
            "scaffold": scaffold_of(data, upload.facts),
            "rows": [{"file": file, "url": address_of(request, file)} for file in rows],
            "bucket": rows[0].folder if rows else "",
        }
    if upload.state != Upload.State.RECEIVING or storage().origin is None:
        return render(request, "uploads/show.html", context, status=status)

    @csp_update({"connect-src": [storage().origin]})  # the storage that the browser sends files to
    def page(_request: HttpRequest) -> HttpResponse:
        return render(request, "uploads/show.html", context, status=status)

    return cast(HttpResponse, page(request))


_NO_SUCH_FILE = "The file does not exist or is private: log in, or send Authorization: Bearer TOKEN (scope read).\n"


@csrf_exempt
@require_safe
def file(request: HttpRequest, bucket: str, key: str) -> HttpResponseBase:
    """Download an accepted file; without ``versionId``, the newest version that the visitor may load.

    The response is the same for private and for missing files.
    """
    visitor = _visitor(request)
    if visitor is None:
        return _refused_download(401, "The token is not valid.\n")
    stored = _find_file(bucket, key, request.GET.get("versionId", ""), visitor)
    if stored is None:
        return _refused_download(403, _NO_SUCH_FILE)
    try:
        response = _file_response(stored)
    except (OSError, StorageFailure):
        return _refused_download(503, "The storage does not respond. Try again later.\n")
    public = stored.upload.visibility == Visibility.PUBLIC
    # caches must revalidate: uploads can be withdrawn, and signed addresses are valid for minutes only
    cacheable = public and response.status_code == 200
    response["Cache-Control"] = "public, no-cache" if cacheable else "private, no-store"
    if not public:
        patch_vary_headers(response, ["Cookie", "Authorization"])
    return response


def _file_response(stored: UploadedFile) -> HttpResponseBase:
    path = storage().path(stored.key, stored.version_id)
    if path is None:
        return HttpResponseRedirect(storage().signed(stored.key, stored.version_id))
    response = FileResponse(
        path.open("rb"), as_attachment=True, filename=stored.name, content_type="application/octet-stream"
    )
    response["ETag"] = f'"{stored.sha256}"'
    response["x-amz-version-id"] = stored.version_id
    response["Content-Encoding"] = "identity"  # already compressed
    return response


def _find_file(bucket: str, key: str, version_id: str, visitor: Visitor) -> UploadedFile | None:
    if "\0" in bucket + key + version_id:  # PostgreSQL refuses NUL characters
        return None
    rows = UploadedFile.objects.select_related("upload").filter(
        bucket=bucket, key=key, upload__state=Upload.State.ACCEPTED
    )
    if version_id:
        rows = rows.filter(version_id=version_id)
    for row in rows.order_by("-upload__changed"):
        is_own = visitor.is_authenticated and row.upload.owner_id == visitor.pk
        if row.upload.visibility == Visibility.PUBLIC or is_own or sees_all_uploads(visitor):
            return row
    return None


def _visitor(request: HttpRequest) -> Visitor | None:
    """The visitor of a request; None if its token is not valid, or its owner has used the server for too long."""
    caller = find_caller(request)
    return None if caller is None or computing_exceeded(request, caller.user) else caller.visitor


def _refused_download(status: int, text: str) -> HttpResponse:
    response = HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "no-store"
    patch_vary_headers(
        response, ["Cookie", "Authorization"]
    )  # in every refusal, so that none reveals whether a file exists
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="Brain-Score"'
    return response
