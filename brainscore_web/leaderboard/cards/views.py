"""Views of cards, receipts and lists, limited to what the visitor may see."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Mapping
from typing import IO, Any, get_args
from urllib.parse import quote, urlencode

from django.contrib.auth.models import AnonymousUser
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UserError
from brainscore_core.figures import standalone
from brainscore_core.numerics.means import ASSUMPTION
from brainscore_web.accounts.models import owns
from brainscore_web.leaderboard.board import Board, board_for
from brainscore_web.leaderboard.cards import badges
from brainscore_web.leaderboard.cards.benchmark import (
    benchmark_card,
    benchmark_data,
    croissant_document,
    find_benchmark,
    models_chart,
    near_benchmarks,
    records_chart,
)
from brainscore_web.leaderboard.cards.facts import citation_of, code_link, discussion_link
from brainscore_web.leaderboard.cards.formatting import STATES, axis_of, bins, estimate, histogram
from brainscore_web.leaderboard.cards.history import CAUSES, history_lines, means_chart, newest, rank_steps
from brainscore_web.leaderboard.cards.lists import benchmark_lines, model_list, sorts, unscored
from brainscore_web.leaderboard.cards.model import (
    find_model,
    model_card,
    model_data,
    near_models,
    rank_days,
    training_of,
)
from brainscore_web.leaderboard.cards.questions import load_questions, questions_of
from brainscore_web.leaderboard.cards.receipts import receipt_card, receipt_file
from brainscore_web.leaderboard.cards.validity import load_validity
from brainscore_web.leaderboard.filters import benchmark_facets, chips, model_facets
from brainscore_web.leaderboard.http import answer, cached_for_visitors, conditional, public_answer, user_errors
from brainscore_web.leaderboard.models import (
    Benchmark,
    Score,
    StimulusSample,
    StoredAssessment,
    Visibility,
    VisionModel,
    with_contributors,
)
from brainscore_web.leaderboard.outcomes import Order, outcome_page
from brainscore_web.leaderboard.snapshot import load_models, snapshot_for
from brainscore_web.leaderboard.state import BoardState

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_type(file: IO[bytes]) -> str | None:
    """Return the media type of an image from its first bytes; None if browsers should not display it.

    The file position is reset to the start.

    Examples
    --------
    >>> import io
    >>> image_type(io.BytesIO(bytes.fromhex("89504e470d0a1a0a"))), image_type(io.BytesIO(b"<svg onload=...>"))
    ('image/png', None)
    """
    head = file.read(16)
    file.seek(0)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES if head.startswith(start)), None)


MODELS_SHOWN = 30
"""Number of models on a benchmark's card unless all are requested."""

RESCORED_SHOWN = 12
"""Number of benchmarks with more than one result on a model's card unless all are requested."""

_EVERYTHING = BoardState(unscored=True)
_not_shared = cache_control(private=True, no_cache=True)  # what a visitor sees depends on their rights


@require_safe
@cached_for_visitors
@user_errors
def model(request: HttpRequest, domain: Domain, identifier: str) -> HttpResponse:
    """The card of a model."""
    opened = _valid_query(request, {"open": None, "download": ("bibtex",), "history": ("all", "rank")})
    snapshot = snapshot_for(request.user, domain.name)
    row = find_model(identifier, request.user)
    if row is None:
        return _unknown(request, "model", identifier, near_models(identifier, request.user, domain.name))
    if row.domain != domain.name:
        return redirect("cards:model", row.domain, identifier)
    if request.GET.get("download") == "bibtex":
        return _bibtex(row.bibtex, identifier)
    data = model_data(row, request.user)
    training = training_of(snapshot, identifier, _addresses(domain)["model"])
    unlisted = training is not None and identifier != training["listed"]
    by_rank = opened.get("history") == "rank" and identifier in snapshot.model_index and not unlisted
    source = code_link(domain.name, "models", row.plugin, request.user, identifier=identifier)
    shown = None if "open" not in opened else frozenset(filter(None, opened.getlist("open")))

    def make() -> HttpResponse:
        card = model_card(row, board_for(snapshot, _EVERYTHING.changed(states=unlisted)), data, shown)
        context = {
            "training": training,
            "unlisted": unlisted,
            "to": _addresses(domain),
            "card": card,
            "source": source,
            "discussion": discussion_link(row),
            "axis": card["axis"].texts,
            "means_chart": means_chart(card["means"]),
            "history": history_lines(
                card["rescored"] if opened.get("history") == "all" else newest(card["rescored"], RESCORED_SHOWN)
            ),
            "n_history": len(card["rescored"]),
            "all_toggle": _all_toggle(card),
            "rank_steps": rank_steps(snapshot, identifier, data.versions, rank_days(data)) if by_rank else None,
            "causes": CAUSES,
            "assumption": ASSUMPTION if any(row["places"] for row in card["headline"]) else "",
            "mine": owns(request.user, row),
        }
        return render(request, "cards/model.html", context)

    tag = conditional(snapshot, "model", _fields(row), _contributors_shown(row), data, source, opened.urlencode())
    return answer(request, tag, make)


@require_safe
@cached_for_visitors
@user_errors
def benchmark(request: HttpRequest, domain: Domain, identifier: str) -> HttpResponse:
    """The card of a benchmark or a mean."""
    query = _valid_query(request, {"models": ("all",), "download": ("bibtex", "svg")})
    snapshot = snapshot_for(request.user, domain.name)
    row = find_benchmark(identifier)
    if row is None:
        return _unknown(request, "benchmark", identifier, near_benchmarks(identifier, domain.name))
    if row.domain != domain.name:
        return redirect("cards:benchmark", row.domain, identifier)
    if query.get("download") == "bibtex":
        return _bibtex(row.bibtex, identifier)
    data = benchmark_data(row, request.user)
    source = code_link(domain.name, "benchmarks", row.plugin, request.user, identifier=identifier)
    most = None if query.get("models") == "all" else MODELS_SHOWN

    def make() -> HttpResponse:
        card = benchmark_card(row, board_for(snapshot, _EVERYTHING), data)
        if query.get("download") == "svg":
            return _download(standalone(models_chart(card, most)), "image/svg+xml", "models.svg")
        context = {
            "to": _addresses(domain),
            "card": card,
            "source": source,
            "discussion": discussion_link(row),
            "axis": card["axis"].texts,
            "assumption": ASSUMPTION,
            "models": card["models"][:most],
            "hidden": len(card["models"]) - len(card["models"][:most]),
            "compare": _compare(card, domain),
            "mine": owns(request.user, row),
            "histogram": histogram(card["bins"], card["axis"]),
            "records": records_chart(card),
            "questions": load_questions(row, data),
            "validity": None if card["is_mean"] else load_validity(row, data.assessments, shows_data=data.shows_data),
        }
        return render(request, "cards/benchmark.html", context)

    versions = [_fields(version) for version in data.versions]
    about = (_fields(row), _contributors_shown(row), data.scores, versions, data.samples, data.shows_data)
    parts = (*about, data.packaged, data.assessments)
    tag = conditional(snapshot, "benchmark", *parts, source, query.urlencode())
    return answer(request, tag, make)


@require_safe
@cached_for_visitors
def design(request: HttpRequest, domain: Domain, digest: str) -> HttpResponse:
    """Stimuli that decide between models, with power, hash of the predictions, and what was measured later."""
    rows = StoredAssessment.objects.visible_to(request.user).newest().select_related("benchmark")
    of_domain = rows.filter(part=StoredAssessment.Part.DESIGN, benchmark__domain=domain.name)
    row = of_domain.filter(document__settings__sha256=digest).first()
    panels = [] if row is None else questions_of(row.benchmark, [row.document or {}], {})["panels"]
    if row is None or not panels:
        raise Http404("no such design")
    return render(request, "cards/design.html", {"benchmark": row.benchmark, "design": panels[0]})


@require_safe
def model_badge(request: HttpRequest, domain: Domain, identifier: str) -> HttpResponse:
    """A badge with the score of a public model, at ``node`` if it is given."""
    query = _valid_query(request, {"node": None})
    return _badge(request, domain, lambda board: badges.model_badge(board, identifier, query.get("node", "")))


@require_safe
def benchmark_badge(request: HttpRequest, domain: Domain, identifier: str) -> HttpResponse:
    """A badge of a benchmark or mean."""
    _valid_query(request, {})
    return _badge(request, domain, lambda board: badges.benchmark_badge(board, identifier))


def _badge(request: HttpRequest, domain: Domain, draw: Callable[[Board], str]) -> HttpResponse:
    snapshot = snapshot_for(AnonymousUser(), domain.name)

    def make() -> HttpResponse:
        return HttpResponse(draw(board_for(snapshot, _EVERYTHING)), content_type="image/svg+xml")

    return public_answer(request, conditional(snapshot, "badge", request.get_full_path()), make)


@require_safe
@_not_shared
def benchmark_croissant(request: HttpRequest, domain: Domain, identifier: str) -> HttpResponse:
    """Metadata of a benchmark's data in Croissant."""
    row = find_benchmark(identifier)
    if row is None or row.is_mean or row.domain != domain.name:
        raise Http404("no such benchmark")
    document = croissant_document(
        row, request.user, request.build_absolute_uri(reverse("cards:benchmark", args=[domain, identifier]))
    )
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return HttpResponse(text, content_type="application/ld+json")


@require_safe
@user_errors
def benchmarks(request: HttpRequest, domain: Domain) -> HttpResponse:
    """All benchmarks as a tree, with filters."""
    state = BoardState.from_query(request.GET, ignoring=("q",))
    text = " ".join(request.GET.get("q", "").split())
    snapshot = snapshot_for(request.user, domain.name, at=state.at)
    contributed = with_contributors(Benchmark.objects.filter(domain=domain.name))

    def make() -> HttpResponse:
        lines = benchmark_lines(board_for(snapshot, state), text)
        for line in lines:
            line["contributed"] = contributed.get(line["about"].pk) if line["about"] else None
        context = {
            "to": _addresses(domain),
            "lines": lines,
            "n": sum(line["kind"] == "benchmark" for line in lines),
            "total": len(snapshot.benchmarks),
            "text": text,
            "state": state,
            "facets": benchmark_facets(snapshot, state),
            "chips": chips(state, text),
        }
        return render(request, "cards/benchmarks.html", context)

    contributors = [_contributors_shown(row) for row in contributed.values()]
    tag = conditional(snapshot, "benchmarks", state.query(), text, contributors)
    return answer(request, tag, make)


@require_safe
@user_errors
def models(request: HttpRequest, domain: Domain) -> HttpResponse:
    """All models, with search and filters."""
    state = BoardState.from_query(request.GET)
    snapshot = snapshot_for(request.user, domain.name, at=state.at)
    known = load_models(request.user, domain.name, sees_all=snapshot.audience == "all") if state.at is None else []
    others = unscored(known, snapshot, state)
    contributed = with_contributors(VisionModel.objects.visible_to(request.user).filter(domain=domain.name))

    def make() -> HttpResponse:
        listing = model_list(board_for(snapshot, state.changed(page=1, unscored=True)), state)
        for line in listing["models"]:
            line["contributed"] = contributed.get(line["model"].pk)
        context = {
            "to": _addresses(domain),
            "list": listing,
            "assumption": ASSUMPTION if any(line["places"] for line in listing["models"]) else "",
            "state": state,
            "total": len(snapshot.models),
            "others": others if listing["page"] == listing["pages"] else (),
            "facets": model_facets(snapshot, state),
            "chips": chips(state),
            "sorts": sorts(state, listing),
            "pages": [(page, state.changed(page=page).query()) for page in range(1, listing["pages"] + 1)],
        }
        return render(request, "cards/models.html", context)

    contributors = [_contributors_shown(row) for row in contributed.values()]
    tag = conditional(snapshot, "models", state.query(), others, contributors)
    return answer(request, tag, make)


def _contributors_shown(row: VisionModel | Benchmark) -> tuple[Any, ...]:
    """Return what a page shows of owner and lab of a row."""
    owner = row.owner and (row.owner.public_name, row.owner.page)
    return row.pk, owner, row.lab and (row.lab.name, row.lab.page)


@require_safe
@_not_shared
def receipt(request: HttpRequest, domain: Domain, receipt: str) -> HttpResponse:
    """The page of a receipt."""
    score = _receipt(request, domain, receipt)
    operates = request.user.is_active and request.user.is_staff and request.user.has_perm("scoring.change_job")
    shows_data = score.benchmark.shows_data_to(request.user)
    card = receipt_card(score, request.user, shows_data=shows_data, shows_hints=operates)
    site = request.build_absolute_uri("/").rstrip("/")
    context = {
        "card": card,
        "state": STATES[score.state],
        "verify": f"brainscore verify {shlex.quote(card['receipt'])} --site {shlex.quote(site)}",
        "private": score.model.visibility == Visibility.PRIVATE,
    }
    return render(request, "cards/receipt.html", context)


@require_safe
@user_errors
def stimuli(request: HttpRequest, domain: Domain, receipt: str) -> HttpResponse:
    """How well a model does on each stimulus of a benchmark, for visitors who may see the data."""
    query = _valid_query(request, {"order": get_args(Order), "page": None})
    score = _receipt(request, domain, receipt)
    order: Any = query.get("order") or "worst"
    shows_data = score.benchmark.shows_data_to(request.user)
    outcomes = outcome_page(score, order, query.get("page", "1")) if shows_data else None
    if outcomes is None:
        raise Http404("nothing is stored by stimulus for this score, or its data are withheld")
    axis = axis_of(outcomes.values)
    context = {
        "score": score,
        "text": estimate(score.value, score.error, score.low, score.high, reason=score.error_reason),
        "outcomes": outcomes,
        "order": order,
        "orders": {"worst": "Worst first", "best": "Best first", "name": "By name"},
        "numbers": outcomes.page.paginator.get_elided_page_range(outcomes.page.number),
        "histogram": histogram(bins(outcomes.values, axis), axis),
    }
    response = render(request, "cards/stimuli.html", context)
    public = score.benchmark.access == Visibility.PUBLIC
    response["Cache-Control"] = "private, no-cache" if public else "private, no-store"
    return response


@require_safe
@_not_shared
def receipt_json(request: HttpRequest, domain: Domain, receipt: str) -> HttpResponse:
    """Download a receipt."""
    score = _receipt(request, domain, receipt)
    if not isinstance(score.document, dict):
        raise Http404("the document of this receipt is not available")
    content = receipt_file(score.document, shows_data=score.benchmark.shows_data_to(request.user))
    return _download(content, "application/json", f"{score.receipt}.json")


@require_safe
def sample(request: HttpRequest, domain: Domain, pk: int, name: str) -> HttpResponseBase:
    """A stimulus, for visitors who may see it; its URL changes with the file.

    Browsers revalidate it each time, since public data may be withheld later.
    """
    stimulus = StimulusSample.objects.select_related("benchmark").filter(pk=pk).first()
    if stimulus is None or not stimulus.image.name or stimulus.filename != name:
        raise Http404("no such stimulus")
    public = stimulus.benchmark.access == Visibility.PUBLIC
    if not public and not stimulus.benchmark.shows_data_to(request.user):
        raise Http404("no such stimulus")
    try:
        file = stimulus.image.open("rb")
    except OSError as error:
        raise Http404("the file is missing") from error
    kind = image_type(file)
    if kind is None:
        file.close()
        raise Http404("this type of image is not displayed")
    response = FileResponse(file, content_type=kind)
    response["Content-Disposition"] = content_disposition_header(False, name)
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-cache" if public else "private, no-store"
    if not public:
        return response
    response["ETag"] = tag = f'"{pk}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"'
    return get_conditional_response(request, etag=tag, response=response) or response


def _all_toggle(card: dict[str, Any]) -> tuple[str, str]:
    """Return the text and the query of the link that opens all nodes of a card, or closes them if all are open."""
    names = [row["identifier"] for row in card["rows"] if row["kind"] != "benchmark" and row["listed"]]
    if all(name in card["opened"] for name in names):
        return "Close all", "open="
    return "Open all", urlencode([("open", name) for name in names], quote_via=quote)


def _compare(card: dict[str, Any], domain: Domain) -> str:
    """Return the URL that compares the children of a mean, or a benchmark with another one."""
    page = reverse("compare:page", args=[domain])
    if not card["is_mean"]:
        return f"{page}?{urlencode({'x': card['identifier']}, quote_via=quote)}"
    level = "means" if all(child["kind"] == "mean" for child in card["children"]) else "benchmarks"
    query = {"mode": "matrix", "level": level, "include": card["identifier"]}
    return f"{page}?{urlencode(query, quote_via=quote)}"


def _addresses(domain: Domain) -> dict[str, str]:
    """Return URL prefixes, since reversing hundreds of URLs is slow."""
    kinds = ("model", "benchmark", "receipt")
    return {kind: reverse(f"cards:{kind}", args=[domain, "-"]).removesuffix("-/") for kind in kinds}


def _receipt(request: HttpRequest, domain: Domain, identifier: str) -> Score:
    score = (
        Score.objects.visible_to(request.user)
        .select_related("model", "benchmark", "benchmark__owner")
        .filter(receipt=identifier, benchmark__domain=domain.name)
        .first()
    )
    if score is None:
        raise Http404("no such receipt")
    return score


def _valid_query(request: HttpRequest, known: Mapping[str, tuple[str, ...] | None]) -> QueryDict:
    """Return the query if all parameters and values are known; None allows any value."""
    for name, values in request.GET.lists():
        if name not in known:
            raise UserError(f"unknown parameter {name[:50]!r}", remedy=f"known parameters: {', '.join(known)}")
        choices = known[name]
        invalid = [] if choices is None else [value for value in values if value not in ("", *choices)]
        if invalid and choices:
            raise UserError(f"{name} is {invalid[0][:50]!r}", remedy=f"give {' or '.join(choices)}, or leave it out")
    return request.GET


def _bibtex(bibtex: str, identifier: str) -> HttpResponse:
    citation = citation_of(bibtex, identifier)
    if citation is None:
        raise Http404("no citation is known")
    return _download(f"{citation.bibtex}\n", "application/x-bibtex; charset=utf-8", citation.filename)


def _download(content: str | bytes, kind: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": content_disposition_header(True, name), "Cache-Control": "private, no-cache"}
    return HttpResponse(content, content_type=kind, headers=headers)


def _unknown(request: HttpRequest, kind: str, identifier: str, near: list[str]) -> HttpResponse:
    context = {"kind": kind, "identifier": identifier, "near": near}
    response = render(request, "cards/unknown.html", context, status=404)
    response["Cache-Control"] = "no-store"
    return response


def _fields(row: Any) -> list[Any]:
    """Return all values of a database row."""
    return [getattr(row, field.attname) for field in row._meta.concrete_fields]
