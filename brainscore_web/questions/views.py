"""The page on which questions about a benchmark are asked, and where their progress is shown."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UserError
from brainscore_core.questions.question import LONGEST, Question
from brainscore_web.accounts.callers import confirmed_email_required, current_user
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.questions.answering import OPEN, TooMany, ask_question, models_with_products
from brainscore_web.questions.models import AskedQuestion

_SHOWN = 20
_confirmed_only = confirmed_email_required("questions/unconfirmed.html")


def _text(label: str, help_text: str, longest: int = LONGEST) -> forms.CharField:
    return forms.CharField(label=label, help_text=help_text, max_length=longest, required=False)


class QuestionForm(forms.Form):
    """A question about a benchmark."""

    part = forms.ChoiceField(
        label="What is asked",
        choices=AskedQuestion.Part.choices,
        widget=forms.RadioSelect,
        initial=AskedQuestion.Part.QUESTION,
    )
    models = forms.MultipleChoiceField(
        label="Models", required=False, help_text="All public ones if none is chosen. Only models with stored features."
    )
    stimuli = _text("Stimuli", 'Compare columns of the stimulus set, such as: category != "faces" and size > 3')
    neuroids = _text("Neuroids", "Compare columns of the recordings, such as: reliability > 0.7")
    subjects = _text("Subjects", "Names, separated by commas; all if empty.", 500)
    regions = _text("Regions", "Names, separated by commas; all if empty.", 500)
    metric = _text("Metric", "Such as ridge, pls, cka or rdm; the benchmark's if empty. For scores.", 100)
    split = _text(
        "Splits", "groups:COLUMN, each:COLUMN or test:EXPRESSION; the benchmark's if empty. For scores.", LONGEST + 10
    )

    def __init__(self, *args: Any, benchmark: Benchmark, known: list[VisionModel], **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        self.benchmark = benchmark
        choices: Any = self.fields["models"]
        choices.choices = [(model.identifier, str(model)) for model in known]

    def clean(self) -> dict[str, Any]:
        """Read the question."""
        values = super().clean() or {}
        if not self.errors:
            content: dict[str, Any] = {name: _names(values[name]) for name in ("subjects", "regions")}
            content |= {name: values[name] or None for name in ("stimuli", "neuroids", "metric", "split")}
            try:
                values["question"] = Question.about(self.benchmark.identifier, **content)
            except UserError as error:
                raise forms.ValidationError(f"{error.line()}.") from error
        return values


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


@_confirmed_only
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest, domain: Domain, identifier: str) -> HttpResponse:
    """Ask a question, and show the visitor's questions about this benchmark."""
    user, benchmark = current_user(request), _benchmark(request, domain, identifier)
    known = models_with_products(benchmark, user)
    form = QuestionForm(request.POST or None, benchmark=benchmark, known=known)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            values = form.cleaned_data
            try:
                ask_question(user, benchmark, values["part"], values["question"], values["models"])
            except UserError as error:
                status = 429 if isinstance(error, TooMany) else 400
                form.add_error(None, f"{error.line()}.")
            else:
                messages.success(request, "The question will be answered.")
                return redirect(request.path)
    context = {"form": form, "known": known, **_asked(request, domain, benchmark)}
    return render(request, "questions/ask.html", context, status=status)


@_confirmed_only
@require_safe
def live(request: HttpRequest, domain: Domain, identifier: str) -> HttpResponse:
    """Return the part of the page that is updated regularly."""
    return render(request, "questions/_asked.html", _asked(request, domain, _benchmark(request, domain, identifier)))


def _benchmark(request: HttpRequest, domain: Domain, identifier: str) -> Benchmark:
    row = Benchmark.objects.filter(identifier=identifier, domain=domain.name, is_mean=False).first()
    if row is None or not row.shows_data_to(request.user):
        raise Http404("no such benchmark, or its data are withheld")
    return row


def _asked(request: HttpRequest, domain: Domain, benchmark: Benchmark) -> dict[str, Any]:
    rows = list(AskedQuestion.objects.filter(owner=current_user(request), benchmark=benchmark)[:_SHOWN])
    lines = [(row, Question.from_dict(row.question).text()) for row in rows]
    return {
        "domain": domain,
        "benchmark": benchmark,
        "lines": lines,
        "waiting": any(row.state in OPEN for row in rows),
    }
