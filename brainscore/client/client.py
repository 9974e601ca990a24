"""The client."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from brainscore.client.connection import Connection, download
from brainscore.client.credentials import site_of, token_for
from brainscore.client.leaderboard import (
    Compared,
    Leaderboard,
    compare_on_board,
    compare_public_models,
    leaderboard_of,
    public_identifier,
    query_for_models,
)
from brainscore.client.records import Benchmark, BenchmarkCard, Me, Model, ModelCard, Score, read_record
from brainscore.client.submissions import Posted, Submission, SubmissionCard, submit
from brainscore.client.submissions import post_receipts as post
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.files import replacing

__all__ = ["Client"]

T = TypeVar("T")
_PAGE = 500


class Client:
    """Reads models, benchmarks, scores and the leaderboard from a site, and posts receipts to it.

    Parameters
    ----------
    url : str, optional
        Of the site; else ``$BRAINSCORE_SITE``, else where ``brainscore login`` logged in last, else
        ``http://127.0.0.1:8000``, where ``brainscore serve`` serves.
    token : str, optional
        Without one, only what is public is seen. Else ``$BRAINSCORE_TOKEN``, unless ``$BRAINSCORE_SITE`` is set and is
        another site; else the one that ``brainscore login`` keeps. It is sent to this site alone, and not without
        encryption to another machine.
    timeout : float
        Seconds to wait for a connection, and for each part of an answer.

    Notes
    -----
    Every method raises a UserError if the site cannot be reached or refuses. A site that is busy is asked again a few
    times, as late as it says. Answers are kept while the client is, and asked for again only if they have changed.

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
        """Go through models, by identifier.

        Parameters
        ----------
        **filters
            ``search``, ``family``, ``architecture``, ``training_data``, ``runnable``; lists mean any of the values.
        """
        return self._pages("models", Model, filters)

    def model(self, identifier: str) -> ModelCard:
        """Everything that is known of a model; an UnknownIdentifier if you cannot see one of that name."""
        return read_record(ModelCard, self._connection.get(f"models/{quote(identifier)}"))

    def benchmarks(self, **filters: Any) -> Iterator[Benchmark]:
        """Go through means and benchmarks, each mean followed by what is gathered under it.

        Parameters
        ----------
        **filters
            ``search``, ``kind`` (``'mean'`` or ``'benchmark'``), ``region``, ``species``, ``metric``, ``access``.
        """
        return self._pages("benchmarks", Benchmark, filters)

    def benchmark(self, identifier: str) -> BenchmarkCard:
        """Everything that is known of a benchmark or a mean, all versions and their ceilings included."""
        return read_record(BenchmarkCard, self._connection.get(f"benchmarks/{quote(identifier)}"))

    def scores(self, **filters: Any) -> Iterator[Score]:
        """Go through scores, those of the oldest receipt first.

        Parameters
        ----------
        **filters
            ``model``, ``benchmark`` (of a mean: all below it), ``state``, ``version``, ``since`` (a date or time), and
            ``history=True`` for all scores rather than those that count.
        """
        return self._pages("scores", Score, filters)

    def leaderboard(self, **state: Any) -> Leaderboard:
        """Read the leaderboard.

        Parameters
        ----------
        **state
            The parameters of the page's address, such as ``q='resnet OR vit'``, ``region=['V4', 'IT']``,
            ``over='scored'``, ``at=date(2026, 3, 31)``, ``sort='-IT'``; ``node`` for only these columns; ``limit`` for
            only so many models.
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

    def compare(self, first: str, second: str) -> list[Compared]:
        """Compare two models on all benchmarks, as the site's page does.

        Parameters
        ----------
        first, second : str
            Identifiers. With a token, also of private models that it shows.

        Returns
        -------
        list of Compared
            Means first, then benchmarks by region, the largest difference first; those that a model lacks come last.

        Raises
        ------
        UnknownIdentifier
            If there is no such model, with the names that are nearest.

        Notes
        -----
        Intervals take the errors of the two models as independent, though both saw the same stimuli: they tend to be
        too wide. `brainscore_core.statistics.comparison.compare` makes the paired test from receipts.
        """
        if not first or not second:
            raise UserError("the name of a model is empty", remedy="name two models")
        try:
            return compare_public_models(self._connection, first, second)
        except UnknownIdentifier:
            if not self._connection.has_token:
                raise
        # the page of comparisons accepts no token; the leaderboard does
        names = [first, second]
        board = self.leaderboard(q=query_for_models(names))
        listed = {model.identifier for model in board.models}
        if not listed.issuperset(names):
            names = [name if name in listed else public_identifier(self._connection, name) for name in names]
            board = self.leaderboard(q=query_for_models(names))
        regions = {benchmark.identifier: benchmark.region for benchmark in self.benchmarks(kind="benchmark")}
        return compare_on_board(board, names[0], names[1], regions)

    def receipt(self, identifier: str) -> dict[str, Any]:
        """A receipt, as it was made."""
        return dict(self._connection.get(f"receipts/{quote(identifier, safe='')}"))

    def me(self) -> Me:
        """Who the token stands for, and what it may do."""
        return read_record(Me, self._connection.get("me"))

    def export(
        self,
        format: Literal["csv", "parquet", "bib"],  # noqa: A002 (what it is)
        path: str | os.PathLike[str],
        *,
        what: Literal["leaderboard", "scores"] = "leaderboard",
        **asked: Any,
    ) -> Path:
        """Write the leaderboard, or scores, to a file.

        Parameters
        ----------
        format : {'csv', 'parquet', 'bib'}
            ``'bib'``: what to cite for what is on the leaderboard.
        path : str or path
            Is replaced, once the file is whole.
        what : {'leaderboard', 'scores'}
            Which.
        **asked
            As for :meth:`leaderboard` or :meth:`scores`; of the leaderboard also ``form='long'``.
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

        Those that the site has are not changed, so that it can be done again after an interruption.

        Parameters
        ----------
        receipts : ResultsStore, str, path, Receipt, or iterable of Receipt or dict
            A text or path is the address of a store.
        visibility : {'private', 'public'}
            Of models that the site does not know yet. Private ones are yours.
        progress : callable, optional
            Called with how many have been sent, and of how many.
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
            A ZIP file, such as `brainscore_vision.submission.Package.to_zip` gives.
        name : str
            Of that file.
        url, commit : str, optional
            Instead of it a public Git repository and its commit, or a pull request.
        note : str
            For reviewers.
        visibility : {'public', 'private'}, optional
            Of models; public if left out.
        submission : str, optional
            Send a new revision of this one.

        Returns
        -------
        SubmissionCard
            With what was found; with an error among that, nothing is run.
        """
        return submit(
            self._connection, archive=archive, name=name, url=url, commit=commit, note=note, visibility=visibility,
            submission=submission and quote(submission, safe=""),
        )  # fmt: skip

    def submissions(self, **filters: Any) -> Iterator[Submission]:
        """Go through your own submissions, the newest first; ``state`` for only those in a state."""
        return self._pages("submissions", Submission, {"limit": 200, **filters})

    def submission(self, identifier: str) -> SubmissionCard:
        """Everything about a submission: its revisions, what was found in them, and how far they are."""
        return read_record(SubmissionCard, self._connection.get(f"submissions/{quote(identifier, safe='')}"))

    def withdraw(self, identifier: str) -> SubmissionCard:
        """Take back a submission that is not published yet."""
        path = f"submissions/{quote(identifier, safe='')}/withdraw"
        return read_record(SubmissionCard, self._connection.post(path, b""))

    def download(self, what: str, path: str | os.PathLike[str], **asked: Any) -> Path:
        """Write a file of the site, and go on where an interrupted one ended, if the site can.

        Parameters
        ----------
        what : str
            Such as ``exports/scores.csv``, ``exports/leaderboard.parquet``, ``receipts/<id>`` or
            ``submissions/<id>/archive``.
        path : str or path
            Is replaced, once the file is whole.
        **asked
            Parameters of the address.
        """
        return download(self._connection, quote(what), _query(asked), Path(path))

    def _pages(self, path: str, kind: type[T], filters: Mapping[str, Any]) -> Iterator[T]:
        query = _query({"limit": _PAGE, **filters})
        while True:
            answer = self._connection.get(path, query)
            yield from (read_record(kind, item) for item in answer["items"])
            if not answer["next"]:
                return
            query = parse_qsl(urlsplit(answer["next"]).query, keep_blank_values=True)  # whatever host it names


def _query(asked: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values as the site takes them; what is None is left out."""
    pairs = []
    for name, value in asked.items():
        several = value if isinstance(value, list | tuple | set | frozenset) else [value]
        pairs += [(name, _text(name, one)) for one in several if one is not None]
    return pairs


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return ("true" if value else "false") if name != "runnable" else str(int(value))
    return value.isoformat() if isinstance(value, date) else str(value)
