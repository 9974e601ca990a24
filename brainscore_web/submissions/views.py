"""Pages of submissions (list, status, code, changes), their forms, and the actions of submitters."""

from __future__ import annotations

import functools
import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import current_user
from brainscore_web.accounts.models import Lab, User, owned_by, owns
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.examining import Refused, Source, limits, source_at
from brainscore_web.submissions.models import PluginKind, Revision, Step, Submission
from brainscore_web.submissions.permissions import confirmed_only, own_submission, revision_of, visible_submission
from brainscore_web.submissions.pipeline.assessing import assessment_states, assessments_of
from brainscore_web.submissions.pipeline.transitions import lock_submission
from brainscore_web.submissions.receiving import max_form_size, receive, takes_revisions, too_large_error, use_of
from brainscore_web.submissions.review.comments import LINES_OF_ONE_FILE, anchor_of, discussion
from brainscore_web.submissions.review.decisions import announced_decision, reviews_of
from brainscore_web.submissions.source_code import FileText, highlighted, texts_of
from brainscore_web.submissions.source_code import file_diffs as changes_between
from brainscore_web.submissions.status import count_pairs, progress_of, status_of, step_status

_WHO = {
    "public": "everyone sees their scores",
    "private": "only you and the administrators see them and their scores; you can publish them later",
}


class RevisionForm(forms.Form):
    """A new revision: a ZIP file or an address, and a note."""

    archive = forms.FileField(
        label="ZIP file",
        required=False,
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
        help_text="A plugin's folder, a folder with models/, benchmarks/, data/ or metrics/, or a whole repository.",
    )
    address = forms.CharField(
        label="Or a Git repository, or a pull request",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false", "autocomplete": "off"}),
        help_text="https://github.com/you/vision.git, or https://github.com/brain-score/vision/pull/123.",
    )
    commit = forms.CharField(
        label="Commit",
        required=False,
        max_length=250,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
        help_text="A commit hash, branch or tag; the newest commit if empty. Not needed for a pull request.",
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=5_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="For the reviewer: what the plugins do, their paper, the scores that you expect.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)

    def clean(self) -> dict[str, Any]:
        """Determine the source of the plugins."""
        data = super().clean() or self.cleaned_data
        archive, address = data.get("archive"), data.get("address")
        if archive and address and not self.errors:
            raise forms.ValidationError("Choose a ZIP file or give an address, not both.")
        if not archive and not address and not self.errors:
            raise forms.ValidationError("Choose a ZIP file, or give the address of a repository or a pull request.")
        if not self.errors:
            try:
                data["source"] = (
                    Source("zip", archive.name or "", archive.file)
                    if archive
                    else source_at(address, data.get("commit") or "")
                )
            except Refused as error:
                self.add_error("address", f"{error.line()}.")
        return data

    @property
    def source(self) -> Source:
        """The source of the plugins; available once the form is valid."""
        source: Source = self.cleaned_data["source"]
        return source


class SubmissionForm(RevisionForm):
    """A new submission: its first revision, and who may see its models."""

    visibility = forms.ChoiceField(
        label="Your models",
        choices=[(value, f"{value}: {text}") for value, text in _WHO.items()],
        widget=forms.RadioSelect,
        initial=Visibility.PUBLIC,
        help_text="Scores of benchmarks are always public.",
    )
    lab = forms.ModelChoiceField(
        label="Lab",
        queryset=Lab.objects.none(),
        required=False,
        empty_label="none: you alone own what you submit",
        help_text="Its members see and manage the submission and what it registers, also if private. It counts towards "
        "your quota.",
    )
    field_order = ("archive", "address", "commit", "visibility", "lab", "note")

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labs = Lab.objects.filter(memberships__user=user)
        if labs.exists():
            self.fields["lab"].queryset = labs  # type: ignore[attr-defined] # of this kind of field
        else:
            del self.fields["lab"]


_PAGE_SIZE = 50
_MAX_FINDINGS = 300  # on one page
_MAX_FAILURES = 50
_MAX_LOG = 200_000  # characters; of longer logs, pages show the end
_STATES = Submission.State


@confirmed_only
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """List the visitor's submissions."""
    rows = Submission.objects.filter(owned_by(current_user(request))).select_related("owner", "lab")
    rows = rows.order_by("-created", "pk")
    page = Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page", "1"))
    return render(request, "submissions/home.html", {"rows": page, **quota_context(request)})


@confirmed_only
@require_safe
def show(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Show a submission: its newest revision, or the requested one."""
    return submission_page(request, visible_submission(request, key), number=_number(request, "revision"))


@confirmed_only
@require_safe
def progress(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Return the progress as HTML for pages that poll it; status 204 if nothing has changed."""
    submission = visible_submission(request, key)
    revision = revision_of(submission)
    if request.GET.get("unexamined") and revision.is_examined:
        return HttpResponse(headers={"HX-Refresh": "true"})  # the page shows its files and findings
    context = _progress(request, submission, revision)
    if request.GET.get("seen") == context["seen"] and context["status"].seconds:
        return HttpResponse(status=204)
    return render(request, "submissions/_progress.html", context)


@confirmed_only
@require_safe
def code(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Show the files of a revision, with findings and comments at their lines."""
    submission = visible_submission(request, key)
    revision = revision_of(submission, number, files=True)
    only = request.GET.get("path")
    options: dict[str, Any] = {"only": only, "lines": LINES_OF_ONE_FILE} if only else {}
    context = discussion(revision, current_user(request), back=request.get_full_path(), **options)
    if only and not context["files"]:
        raise Http404("this file does not exist")
    context |= {
        "submission": submission,
        "only_path": only,
        "code_url": request.path,
        "own": owns(current_user(request), submission),
    }
    return render(request, "submissions/code.html", context)


@confirmed_only
@require_safe
def archive(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Download the files of a revision as a ZIP file."""
    revision = revision_of(visible_submission(request, key), number, files=True)
    if not revision.archive:
        raise Http404("the files of this revision are not examined yet")
    headers = {"Content-Disposition": f'attachment; filename="{file_name(revision)}"'}
    return HttpResponse(bytes(revision.archive), content_type="application/zip", headers=headers)


@confirmed_only
@require_safe
def changes(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Show the differences between a revision and an earlier one, by default the previous one."""
    submission = visible_submission(request, key)
    asked = _number(request, "since")
    since = number - 1 if asked is None else asked
    if not 0 < since < number:
        raise Http404("there is no earlier revision with this number")
    after = revision_of(submission, number, files=True)
    before = revision_of(submission, since, files=True)
    context = {
        "submission": submission,
        "before": before,
        "after": after,
        "changes": changes_between(texts_of(before), texts_of(after)),
        "earlier": range(1, number),
    }
    return render(request, "submissions/changes.html", context)


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else None


def quota_context(request: HttpRequest) -> dict[str, Any]:
    """Return how much of the quota the visitor uses, and the limits."""
    return {"use": use_of(current_user(request)), "limits": limits()}


def file_name(revision: Revision) -> str:
    """Return the file name of a revision's archive for downloads."""
    return f"submission-{str(revision.submission_id)[:8]}-{revision.number}.zip"


def submission_page(
    request: HttpRequest, submission: Submission, *, number: int | None = None, problem: Any = None, status: int = 200
) -> HttpResponse:
    """Render the page of a submission; `problem` is the error with which an action was refused."""
    revision = revision_of(submission, number, files=True)
    files = texts_of(revision)
    progress_context = _progress(request, submission, revision)
    announced = progress_context["decision"]
    severities = [finding["severity"] for finding in revision.findings]
    context = {
        **progress_context,
        "files": [{"path": path, "size": file.size, "anchor": anchor_of(path)} for path, file in files.items()],
        "findings": _shown_findings(revision, files),
        "hidden_findings": max(len(revision.findings) - _MAX_FINDINGS, 0),
        "counts": {f"{severity}s": severities.count(severity) for severity in ("error", "warning", "note")},
        "revisions": list(submission.revisions.defer("archive", "findings", "plugins").order_by("-number")),
        "reviews": [row for row in reviews_of(submission) if announced is None or row["review"] != announced["review"]],
        "open_comments": revision.comments.filter(resolved=None).count(),
        "problem": problem,
    }
    return render(request, "submissions/show.html", context, status=status)


def _progress(request: HttpRequest, submission: Submission, revision: Revision) -> dict[str, Any]:
    """Return the template context of the status, steps and jobs of a submission."""
    latest = revision_of(submission) if request.GET.get("revision") else revision
    is_latest = latest.pk == revision.pk
    steps = list(revision.steps.order_by("order"))
    latest_steps = steps if is_latest else list(latest.steps.order_by("order"))
    if submission.state == _STATES.DONE:
        count_pairs(latest_steps, progress_of([submission], current_user(request))[submission.pk])
    for step in steps:  # attributes that only the template uses
        step.status = step_status(step, submission)  # type: ignore[attr-defined] # for templates
        step.shown_log = step.log[-_MAX_LOG:]  # type: ignore[attr-defined] # for templates
        step.log_is_cut = len(step.log) > _MAX_LOG  # type: ignore[attr-defined] # for templates
    status = status_of(submission, latest, latest_steps)
    is_own = owns(current_user(request), submission)
    failures = _failures(steps)
    context: dict[str, Any] = {
        "submission": submission,
        "revision": revision,
        "latest": latest,
        "failures": failures[:_MAX_FAILURES],
        "failures_left_out": max(len(failures) - _MAX_FAILURES, 0),
        "is_latest": is_latest,
        "steps": steps,
        "status": status,
        "decision": announced_decision(submission, latest),
        "poll_seconds": status.seconds if is_latest else 0,
        "seen": _page_fingerprint(submission, steps, assessment_states(revision)),
        "assessments": lambda: assessments_of(revision),  # read by the template, not by polls without news
        "own": is_own,
        "has_models": any(plugin["kind"] == PluginKind.MODELS for plugin in revision.plugins),
        "may_revise": is_own and takes_revisions(submission),
        "may_withdraw": is_own and (takes_revisions(submission) or submission.state == _STATES.PUBLISHING),
        "may_cancel": is_own and submission.state in (_STATES.QUEUED, _STATES.SCORING),
        "examined": revision.is_examined,
        "poll_url": reverse("submissions:progress", args=[submission.pk]),
    }
    if is_latest and submission.state in (_STATES.SCORING, _STATES.DONE):
        context["with_jobs"] = True
    return context


def _failures(steps: list[Step]) -> list[dict[str, Any]]:
    """Return failed tests and checks, each with the id of its line on the page of the code."""
    return [
        {**failure, "anchor": anchor_of(failure["file"], failure["line"]) if failure.get("file") else ""}
        for step in steps
        if (step.kind, step.state) == (Step.Kind.TEST, Step.State.FAILED)
        for failure in step.result.get("failures", ())
    ]


def _page_fingerprint(submission: Submission, steps: list[Step], assessments: list[tuple[Any, ...]]) -> str:
    """Return a short hash of the data that the page shows, to detect changes."""
    shown = [(step.state, step.attempts, step.started, step.ended, step.reason, len(step.log)) for step in steps]
    return hashlib.sha256(repr((submission.state, submission.visibility, shown, assessments)).encode()).hexdigest()[:16]


def _shown_findings(revision: Revision, files: Mapping[str, FileText]) -> list[dict[str, Any]]:
    shown = revision.findings[:_MAX_FINDINGS]
    paths = {finding["file"] for finding in shown if finding["line"] and finding["file"] in files}
    highlighted_lines = highlighted({path: files[path].lines for path in paths})
    findings = []
    for finding in shown:
        path, line = finding["file"], finding["line"]
        lines: Sequence[str] = highlighted_lines.get(path, ())
        source = lines[line - 1] if line and line <= len(lines) else ""
        anchor = anchor_of(path, line) if path in files else ""  # on the page of the code
        findings.append({"finding": finding, "source": source, "anchor": anchor})
    return findings


View = TypeVar("View", bound=Callable[..., HttpResponse])


def _limited_size(view: View) -> View:
    """Check the length and the sender of a request before its body is read, and only then its CSRF token."""
    protected = confirmed_only(csrf_protect(view))

    @csrf_exempt
    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if request.method == "POST" and (not length.isdecimal() or int(length) > max_form_size()):
            # the body, with its CSRF token, is not read; the server then closes the connection
            return render(request, "submissions/too_large.html", {"problem": too_large_error()}, status=413)
        return protected(request, *args, **kwargs)

    return cast(View, wrapped)


@_limited_size
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Send a new submission."""
    return _received(request, SubmissionForm(*_form_data(request), user=current_user(request)), {})


@_limited_size
@require_http_methods(["GET", "HEAD", "POST"])
def revise(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Send a new revision."""
    submission = own_submission(request, key)
    last = revision_of(submission)
    initial = {} if last.origin == Submission.Origin.ZIP else {"address": last.address}
    context = {"submission": submission, "accepts_revisions": takes_revisions(submission)}
    return _received(request, RevisionForm(*_form_data(request), initial=initial), context)


def _changes_submission(*methods: str) -> Callable[[Callable[..., HttpResponse | None]], Callable[..., HttpResponse]]:
    """Give a submission of the visitor to a view, and show on its page why something is refused, or how it is now."""

    def decorate(view: Callable[..., HttpResponse | None]) -> Callable[..., HttpResponse]:
        @confirmed_only
        @require_http_methods(methods)
        @functools.wraps(view)
        def wrapped(request: HttpRequest, key: uuid.UUID, **kwargs: Any) -> HttpResponse:
            submission = own_submission(request, key)
            try:
                return view(request, submission, **kwargs) or redirect("submissions:show", submission.pk)
            except UserError as error:
                submission.refresh_from_db()
                return submission_page(request, submission, problem=error, status=409)

        return cast(Callable[..., HttpResponse], wrapped)

    return decorate


@_changes_submission("GET", "HEAD", "POST")
def withdraw(request: HttpRequest, submission: Submission) -> HttpResponse:
    """Ask for confirmation, then withdraw a submission."""
    if request.method != "POST":
        return render(request, "submissions/withdraw.html", {"submission": submission})
    pipeline.withdraw(submission, current_user(request))
    messages.success(request, f"{submission} is withdrawn.")
    return redirect("submissions:home")


@_changes_submission("POST")
def retry(request: HttpRequest, submission: Submission, step: str) -> None:
    """Retry an automatic step."""
    row = get_object_or_404(Step, revision=revision_of(submission), kind=step)
    pipeline.retry(row, current_user(request))


@_changes_submission("POST")
def cancel(request: HttpRequest, submission: Submission) -> None:
    """Cancel the automatic step in progress."""
    pipeline.cancel(submission, current_user(request))


@_changes_submission("POST")
def visibility(request: HttpRequest, submission: Submission) -> HttpResponse | None:
    """Set the visibility of a submission's models before publication; afterwards, use the profile page."""
    chosen = request.POST.get("visibility", "")
    if chosen not in Visibility.values:
        return HttpResponseBadRequest(f"visibility must be one of: {', '.join(Visibility.values)}")
    with transaction.atomic():
        row = lock_submission(submission.pk)
        if not takes_revisions(row):
            raise UserError(
                "the models of this submission are already published, or will not be published",
                "change the visibility of published models in your profile",
            )
        row.visibility = chosen
        row.save(update_fields=["visibility"])
    messages.success(request, f"Models of {submission} will be {chosen}.")
    return None


def _form_data(request: HttpRequest) -> tuple[Any, Any]:
    return (request.POST, request.FILES) if request.method == "POST" else (None, None)


def _received(request: HttpRequest, form: RevisionForm, context: dict[str, Any]) -> HttpResponse:
    """Receive what a form sends, or show the form, with the problem of what was sent."""
    status, retry_after = 400 if request.method == "POST" else 200, 0
    if request.method == "POST" and form.is_valid():
        asked = {name: form.cleaned_data[name] for name in ("visibility", "lab", "note") if name in form.cleaned_data}
        try:
            revision = receive(current_user(request), form.source, submission=context.get("submission"), **asked)
            return redirect("submissions:show", revision.submission_id)
        except Refused as error:
            form.add_error(None, f"{error.message[:1].upper()}{error.message[1:]} → {error.remedy}.")
            status, retry_after = error.status, error.retry_after if error.status == 503 else 0
    context = {"form": form, **context, **quota_context(request)}
    response = render(request, "submissions/new.html", context, status=status)
    if retry_after:
        response["Retry-After"] = str(retry_after)
    return response
