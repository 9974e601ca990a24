"""`Client`: reads from a site, and sends receipts and submissions to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from brainscore.client.connection import Connection, download, site_of, token_for
from brainscore.client.leaderboard import (
    Compared,
    Leaderboard,
    compare_on_board,
    compare_public_models,
    leaderboard_of,
    public_identifier,
    query_for_models,
)
from brainscore.client.records import Assessment, Benchmark, BenchmarkCard, Me, Model, ModelCard, Score, read_record
from brainscore.client.submissions import Posted, Submission, SubmissionCard, submit
from brainscore.client.submissions import post_receipts as post
from brainscore_core.domain_names import FIRST
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.files import replacing

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
    repeated a few times, after the delay that the site requests. Responses are cached for the life of the client, and
    read again only if they have changed.

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

        Parameters
        ----------
        **filters
            ``search``, ``domain``, ``family``, ``architecture``, ``training_data``, ``runnable``; lists mean any of the
            values.
        """
        return self._pages("models", Model, filters)

    def model(self, identifier: str) -> ModelCard:
        """Read all information about a model; raises UnknownIdentifier if none of that name is visible to you."""
        return read_record(ModelCard, self._connection.get(f"models/{quote(identifier)}"))

    def benchmarks(self, **filters: Any) -> Iterator[Benchmark]:
        """Iterate over means and benchmarks; each mean is followed by its parts.

        Parameters
        ----------
        **filters
            ``search``, ``domain``, ``kind`` (``'mean'`` or ``'benchmark'``), ``region``, ``species``, ``metric``,
            ``access``.
        """
        return self._pages("benchmarks", Benchmark, filters)

    def benchmark(self, identifier: str) -> BenchmarkCard:
        """Read all information about a benchmark or a mean, including all versions and their ceilings."""
        return read_record(BenchmarkCard, self._connection.get(f"benchmarks/{quote(identifier)}"))

    def scores(self, **filters: Any) -> Iterator[Score]:
        """Iterate over scores, ordered by receipt, the oldest first.

        Parameters
        ----------
        **filters
            ``model``, ``benchmark`` (of a mean: all below it), ``domain``, ``state``, ``version``, ``since`` (a date or
            time), and
            ``history=True`` for all scores, not only the current ones.
        """
        return self._pages("scores", Score, filters)

    def assessments(self, **filters: Any) -> Iterator[Assessment]:
        """Iterate over assessments of benchmarks, the oldest first.

        Parameters
        ----------
        **filters
            ``benchmark`` (of a mean: all below it), ``model``, ``part`` (``'audit'``, ``'controls'``,
            ``'recovery'``, ``'question'``, ``'explanation'`` or ``'atlas'``), ``state``.
        """
        return self._pages("assessments", Assessment, filters, most=50)

    def leaderboard(self, **state: Any) -> Leaderboard:
        """Read the leaderboard of a domain.

        Parameters
        ----------
        **state
            ``domain`` (by default vision), and the parameters of the page's address, such as ``q='resnet OR vit'``,
            ``region=['V4', 'IT']``, ``over='scored'``, ``at=date(2026, 3, 31)``, ``sort='-IT'``; ``node`` selects
            columns; ``limit`` is the largest number of models.
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

    def compare(self, first: str, second: str, *, domain: str = FIRST) -> list[Compared]:
        """Compare two models on all benchmarks, as the site's page does.

        Parameters
        ----------
        first, second : str
            Identifiers. A token also gives access to your private models.
        domain : str
            The domain of both.

        Returns
        -------
        list of Compared
            Means first, then benchmarks by region, the largest difference first, and benchmarks that a model lacks.

        Raises
        ------
        UnknownIdentifier
            If the model is unknown; the message has the nearest names.

        Notes
        -----
        The site tests differences on the stimuli, neuroids and subjects that both scores share, if it stores their
        influences on the scores; others are ``'untested'``, as are those of private models.
        `brainscore_core.statistics.comparison.compare` tests receipts.
        """
        if not first or not second:
            raise UserError("the name of a model is empty", remedy="name two models")
        try:
            return compare_public_models(self._connection, domain, first, second)
        except UnknownIdentifier:
            if not self._connection.has_token:
                raise
        # the page of comparisons accepts no token; the leaderboard does
        names = [first, second]
        board = self.leaderboard(q=query_for_models(names), domain=domain)
        listed = {model.identifier for model in board.models}
        if not listed.issuperset(names):
            names = [name if name in listed else public_identifier(self._connection, domain, name) for name in names]
            board = self.leaderboard(q=query_for_models(names), domain=domain)
        regions = {
            benchmark.identifier: benchmark.region for benchmark in self.benchmarks(kind="benchmark", domain=domain)
        }
        return compare_on_board(board, names[0], names[1], regions)

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
        """Write the leaderboard, or scores, to a file.

        Parameters
        ----------
        format : {'csv', 'parquet', 'bib'}
            ``'bib'``: the references of the leaderboard's models and benchmarks.
        path : str or path
            The file; it is replaced when the new one is complete.
        what : {'leaderboard', 'scores'}
            The table to write.
        **asked
            As for :meth:`leaderboard` or :meth:`scores`; for the leaderboard also ``form='long'``.
        """
        path = Path(path).expanduser().absolute()
        if not path.parent.is_dir():
            raise UserError(f"there is no folder {path.parent}", remedy="create it, or name another file")
        query = _query(asked)
        with replacing(path) as file:
            for content in self._connection.parts(f"exports/{what}.{quote(format, safe='')}", query):
                file.write(content)
        return path

    def post_receipts(
        self,
        receipts: Any,
        *,
        visibility: Literal["public", "private"] = "private",
        progress: Callable[[int, int], None] | None = None,
    ) -> Posted:
        """Post receipts; needs a token with the scope ``receipts:write``.

        Receipts that the site already has are not changed, so that the call can be repeated after an interruption.

        Parameters
        ----------
        receipts : ResultsStore, str, path, Receipt, or iterable of Receipt or dict
            A string or path is the address of a store.
        visibility : {'private', 'public'}
            Visibility of models that the site does not know yet. Private ones are visible only to you.
        progress : callable, optional
            Called with the number of receipts sent so far, and their total number.
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
        submission: str | None = None,
    ) -> SubmissionCard:
        """Submit plugins; needs a token with the scope ``submit``.

        Parameters
        ----------
        archive : bytes, optional
            A ZIP file with folders such as ``models/NAME/``.
        name : str
            Name of that file.
        url, commit : str, optional
            A public Git repository and its commit, or a pull request, instead of `archive`.
        note : str
            A note to the reviewers.
        visibility : {'public', 'private'}, optional
            Visibility of the models; public by default.
        submission : str, optional
            Identifier of a submission of which to send a new revision.

        Returns
        -------
        SubmissionCard
            With the findings of the checks; if one of them is an error, nothing is run.
        """
        return submit(
            self._connection, archive=archive, name=name, url=url, commit=commit, note=note, visibility=visibility,
            submission=submission and quote(submission, safe=""),
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
        """Download a file of the site; continues an interrupted download, if the site supports it.

        Parameters
        ----------
        what : str
            Such as ``exports/scores.csv``, ``exports/leaderboard.parquet``, ``receipts/<id>`` or
            ``submissions/<id>/archive``.
        path : str or path
            The file; it is replaced when the new one is complete.
        **asked
            Parameters of the query.
        """
        return download(self._connection, quote(what), _query(asked), Path(path))

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
