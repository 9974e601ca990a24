"""`Client`: reads from a site, and sends receipts and submissions to it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from brainscore.client.connection import Connection, site_of, token_for
from brainscore.client.leaderboard import (
    Compared,
    Leaderboard,
    compare_models,
    leaderboard_of,
)
from brainscore.client.records import (
    AskedQuestion,
    Assessment,
    Benchmark,
    BenchmarkCard,
    Me,
    Model,
    ModelCard,
    Score,
    read_record,
)
from brainscore.client.submissions import Posted, Submission, SubmissionCard, submit
from brainscore.client.submissions import post_receipts as post
from brainscore_core.domain_names import FIRST, split_name
from brainscore_core.errors import UnknownIdentifier, UserError

T = TypeVar("T")
_PAGE = 500


class Client:
    """Reads models, benchmarks, scores and the leaderboard from a site, and posts receipts to it.

    Parameters
    ----------
    url : str, optional
        Address of the site. Default: ``$BRAINSCORE_SITE``, else the site of the last ``brainscore login``, else
        ``http://127.0.0.1:8000``, the address of ``brainscore serve``.
    token : str, optional
        Default: ``$BRAINSCORE_TOKEN``, unless ``$BRAINSCORE_SITE`` names another site; else the token that
        ``brainscore login`` saved. Without a token, only public data are returned. The token is sent only to this site,
        and to other machines only with encryption.
    timeout : float
        Seconds to wait for a connection, and for each part of a response.

    Notes
    -----
    Every method raises a UserError if the site cannot be reached or refuses the request. Requests to a busy site are
    repeated a few times, after the delay that the site requests.

    Examples
    --------
    >>> client = Client("https://www.example.org")
    >>> board = client.leaderboard(region=["IT"], over="scored")      # doctest: +SKIP
    >>> board.to_pandas()                                             # doctest: +SKIP
    """

    def __init__(self, url: str | None = None, token: str | None = None, timeout: float = 30) -> None:
        self.url = site_of(url)
        self._connection = Connection(self.url, token_for(self.url, token), timeout)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close connections."""
        self._connection.close()

    def models(self, **filters: Any) -> Iterator[Model]:
        """Iterate over models, sorted by identifier.

        Filters: ``search``, ``domain``, ``family``, ``architecture``, ``training_data``, ``runnable``; lists mean any
        of the values.
        """
        return self._pages("models", Model, filters)

    def model(self, identifier: str) -> ModelCard:
        """Read all information about a model; raises UnknownIdentifier if none of that name is visible to you."""
        return read_record(ModelCard, self._connection.get(f"models/{quote(identifier)}"))

    def benchmarks(self, **filters: Any) -> Iterator[Benchmark]:
        """Iterate over means and benchmarks; each mean is followed by its parts.

        Filters: ``search``, ``domain``, ``kind`` (``'mean'`` or ``'benchmark'``), ``region``, ``species``, ``metric``,
        ``access``.
        """
        return self._pages("benchmarks", Benchmark, filters)

    def benchmark(self, identifier: str) -> BenchmarkCard:
        """Read all information about a benchmark or a mean, including all versions and their ceilings."""
        return read_record(BenchmarkCard, self._connection.get(f"benchmarks/{quote(identifier)}"))

    def scores(self, **filters: Any) -> Iterator[Score]:
        """Iterate over scores, ordered by receipt, the oldest first.

        Filters: ``model``, ``benchmark`` (of a mean: all below it), ``domain``, ``state``, ``version``, ``since`` (a
        date or time), and ``history=True`` for all scores, not only the current ones.
        """
        return self._pages("scores", Score, filters)

    def assessments(self, **filters: Any) -> Iterator[Assessment]:
        """Iterate over assessments of benchmarks, the oldest first.

        Filters: ``benchmark`` (of a mean: all below it), ``model``, ``part`` (``'audit'``, ``'controls'``,
        ``'recovery'``, ``'question'``, ``'explanation'`` or ``'atlas'``), ``state``.
        """
        return self._pages("assessments", Assessment, filters, most=50)

    def ask(self, benchmark: str, **asked: Any) -> AskedQuestion:
        """Ask about the scores of a benchmark, without running models; needs a token with the scope ``submit``.

        Arguments: ``part`` (``'question'``, ``'explanation'`` or ``'atlas'``), ``models``, ``stimuli``, ``neuroids``,
        ``subjects``, ``regions``, ``metric``, ``split``, as for :func:`brainscore_core.questions.ask`. A worker answers
        later: :meth:`question` has the state.
        """
        body = json.dumps({"benchmark": benchmark, **asked}).encode()
        return read_record(AskedQuestion, self._connection.post("questions", body))

    def question(self, identifier: str) -> AskedQuestion:
        """Read one of your questions; its ``answer`` is the ``id`` of one of :meth:`assessments`."""
        return read_record(AskedQuestion, self._connection.get(f"questions/{quote(identifier, safe='')}"))

    def leaderboard(self, **state: Any) -> Leaderboard:
        """Read the leaderboard of a domain, by default vision.

        Parameters are those of the page's address, such as ``q='resnet OR vit'``, ``region=['V4', 'IT']``,
        ``over='scored'``, ``at=date(2026, 3, 31)``, ``sort='-IT'``; ``node`` selects columns, and ``limit`` is the
        largest number of models.
        """
        limit = state.pop("limit", None)
        answers: list[Mapping[str, Any]] = []
        while True:
            had = sum(len(answer["models"]) for answer in answers)
            most = 1000 if limit is None else min(1000, limit - had)
            query = _query({**state, "limit": most, "offset": had or None})
            answers.append(self._connection.get("leaderboard", query))
            had += len(answers[-1]["models"])
            if had >= answers[-1]["total"] or had == limit or not answers[-1]["models"]:
                return leaderboard_of(answers)

    def compare(self, first: str, second: str, *, domain: str | None = None) -> list[Compared]:
        """Compare two models on all benchmarks, as the site's page does.

        Without `domain`, it is the one that a name begins with, as in ``language:NAME``, or that of the first model.
        Means come first, then benchmarks by region, the largest difference first, and benchmarks that a model lacks.
        The site tests differences on the stimuli, neuroids and subjects that both scores share, if it stores their
        influences on the scores; others are ``'untested'``. A token gives access to private models.
        `brainscore_core.statistics.comparison.compare` tests receipts. Raises UnknownIdentifier with the nearest names.
        """
        if not first or not second:
            raise UserError("the name of a model is empty", remedy="name two models")
        (stated, first), (other, second) = split_name(first), split_name(second)
        domain = domain or stated or other or self._domain_of(first)
        if {stated, other} - {None, domain}:
            raise UserError("models of different domains share no benchmark", remedy="name two models of one domain")
        return compare_models(self._connection, domain, first, second)

    def _domain_of(self, model: str) -> str:
        """Domain of a model; the first one if it is not visible, or named by its title."""
        try:
            return self.model(model).domain
        except UnknownIdentifier:
            return FIRST

    def receipt(self, identifier: str) -> dict[str, Any]:
        """Read a receipt, as it was written."""
        return dict(self._connection.get(f"receipts/{quote(identifier, safe='')}"))

    def me(self) -> Me:
        """Read the account of the token, and its permissions."""
        return read_record(Me, self._connection.get("me"))

    def export(
        self,
        format: Literal["csv", "parquet", "bib"],  # noqa: A002 (the usual word)
        path: str | os.PathLike[str],
        *,
        what: Literal["leaderboard", "scores"] = "leaderboard",
        **asked: Any,
    ) -> Path:
        """Write the leaderboard, its references (``'bib'``), or scores to a file.

        An existing file is replaced when the new one is complete. Filters are those of :meth:`leaderboard` or
        :meth:`scores`; for the leaderboard also ``form='long'``.
        """
        return self._connection.download(f"exports/{what}.{quote(format, safe='')}", _query(asked), Path(path))

    def post_receipts(
        self,
        receipts: Any,
        *,
        visibility: Literal["public", "private"] = "private",
        progress: Callable[[int, int], None] | None = None,
    ) -> Posted:
        """Post receipts, or those of a store or its address; needs a token with the scope ``receipts:write``.

        Receipts that the site already has are not changed, so that the call can be repeated after an interruption.
        Models that the site does not know yet get the `visibility`; private ones are visible only to you. `progress` is
        called with the number of receipts sent so far, and their total number.
        """
        return post(self._connection, receipts, visibility=visibility, progress=progress)

    def submit(
        self,
        *,
        archive: bytes | None = None,
        name: str = "submission.zip",
        url: str | None = None,
        commit: str = "",
        note: str = "",
        visibility: Literal["private", "public"] | None = None,
        lab: str = "",
        submission: str | None = None,
    ) -> SubmissionCard:
        """Submit plugins; needs a token with the scope ``submit``.

        Pass an `archive`, a ZIP file with folders such as ``models/NAME/``, or the `url` of a public Git repository,
        with a commit, or of a pull request. Models are public by default. A `lab` of yours, the end of the URL of its
        page, owns a new submission with you. `submission` is the identifier of one of which to send a new revision. If
        one of the findings in the answer is an error, nothing is run.
        """
        return submit(
            self._connection, archive=archive, name=name, url=url, commit=commit, note=note, visibility=visibility,
            lab=lab, submission=submission and quote(submission, safe=""),
        )  # fmt: skip

    def submissions(self, **filters: Any) -> Iterator[Submission]:
        """Iterate over your submissions, the newest first; ``state`` selects those in a state."""
        return self._pages("submissions", Submission, {"limit": 200, **filters})

    def submission(self, identifier: str) -> SubmissionCard:
        """Read a submission with its revisions, their findings and their progress."""
        return read_record(SubmissionCard, self._connection.get(f"submissions/{quote(identifier, safe='')}"))

    def withdraw(self, identifier: str) -> SubmissionCard:
        """Withdraw a submission that is not published yet."""
        path = f"submissions/{quote(identifier, safe='')}/withdraw"
        return read_record(SubmissionCard, self._connection.post(path, b""))

    def download(self, what: str, path: str | os.PathLike[str], **asked: Any) -> Path:
        """Download a file of the site, such as ``exports/scores.csv`` or ``receipts/<id>``.

        An existing file is replaced when the new one is complete; further arguments are parameters of the query.
        """
        return self._connection.download(quote(what), _query(asked), Path(path))

    def _pages(self, path: str, kind: type[T], filters: Mapping[str, Any], *, most: int = _PAGE) -> Iterator[T]:
        query = _query({"limit": most, **filters})
        while True:
            answer = self._connection.get(path, query)
            yield from (read_record(kind, item) for item in answer["items"])
            if not answer["next"]:
                return
            query = parse_qsl(urlsplit(answer["next"]).query, keep_blank_values=True)  # its host is ignored


def _query(asked: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Convert parameters to the names and values of a query; None is omitted."""
    pairs = []
    for name, value in asked.items():
        several = value if isinstance(value, list | tuple | set | frozenset) else [value]
        pairs += [(name, _text(name, item)) for item in several if item is not None]
    return pairs


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return ("true" if value else "false") if name != "runnable" else str(int(value))
    return value.isoformat() if isinstance(value, date) else str(value)
