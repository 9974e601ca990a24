"""Options that several commands share."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_args

import click

from brainscore.cli._output import echo
from brainscore_core.domain_names import DOMAINS, FIRST
from brainscore_core.domains import Domain, domain
from brainscore_core.errors import UserError, nearest

if TYPE_CHECKING:
    from brainscore_core.receipts.assessment import Assessment
    from brainscore_core.results.store import Problem
    from brainscore_core.scoring import Listing, Receipt, ResultsStore

site_option = click.option(
    "--site",
    metavar="URL",
    help="Address of the site. Default: $BRAINSCORE_SITE, else the site of your last login, else this machine.",
)


results_option = click.option(
    "--results",
    metavar="FOLDER",
    help="Folder of receipts, or s3://bucket/prefix. Default: $BRAINSCORE_RESULTS, else $BRAINSCORE_HOME/results.",
)
domain_option = click.option(
    "--domain",
    type=click.Choice(list(DOMAINS)),
    help="Look only in this domain. Names are unique across domains, or begin with the domain, as in language:NAME.",
)
json_option = click.option("--json", "json_", is_flag=True, help="Print JSON.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h|d|w)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Selection of receipts; empty fields do not restrict it."""

    models: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    since: datetime | None = None
    before: datetime | None = None
    run: str | None = None

    def __bool__(self) -> bool:
        return self != Filters()

    def __str__(self) -> str:
        criteria = {"model": self.models, "benchmark": self.benchmarks, "state": self.states}
        texts = [f"{name} {' or '.join(values)}" for name, values in criteria.items() if values]
        texts += [f"since {self.since:%Y-%m-%d %H:%M}"] if self.since else []
        texts += [f"before {self.before:%Y-%m-%d %H:%M}"] if self.before else []
        texts += [f"run {self.run}"] if self.run else []
        return ", ".join(texts)

    def match(self, receipt: Receipt) -> bool:
        """Whether the selection has a receipt."""
        run = receipt.run.id if receipt.run is not None else ""
        created = datetime.fromisoformat(receipt.created)
        return self._match(receipt.model.identifier, receipt.benchmark.identifier, receipt.state, run, created)

    def match_row(self, row: Mapping[str, Any]) -> bool:
        """Whether the selection has a row of a :class:`~brainscore_core.results.index.ReceiptTable`."""
        created = None
        if self.since is not None or self.before is not None:  # an id begins with the time
            created = datetime.strptime(row["id"].partition("-")[0], "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
        return self._match(row["model"], row["benchmark"], row["state"], row["run"] or "", created)

    def _match(self, model: str, benchmark: str, state: str, run: str, created: datetime | None) -> bool:
        return (
            matches(model, self.models)
            and matches(benchmark, self.benchmarks)
            and (not self.states or state in self.states)
            and (created is None or self.since is None or created >= self.since)
            and (created is None or self.before is None or created < self.before)
            and (self.run is None or run.startswith(self.run))
        )

    def match_assessment(self, assessment: Assessment) -> bool:
        """Whether the selection has an assessment: its benchmark, one of its models, and its time."""
        created = datetime.fromisoformat(assessment.created or "")
        models = [model.identifier for model in assessment.models]
        return (
            (not self.models or any(matches(model, self.models) for model in models))
            and matches(assessment.benchmark.identifier, self.benchmarks)
            and (self.since is None or created >= self.since)
        )


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--model``, ``--benchmark``, ``--state``, ``--since`` and ``--run``, handed on as `filters`."""

    @click.option(
        "--model", "models", multiple=True, help="Only this model, or a pattern such as 'resnet*'. May be repeated."
    )
    @click.option(
        "--benchmark", "benchmarks", multiple=True, help="Only this benchmark, or a pattern. May be repeated."
    )
    @click.option("--state", "states", multiple=True, type=_State(), help="Only this state. May be repeated.")
    @click.option("--since", help="Only receipts made since a date (UTC) such as 2026-01-31, or of an age such as 7d.")
    @click.option("--run", help="Only receipts of this run, named by its id or the beginning of it.")
    @functools.wraps(command)
    def with_filters(
        models: tuple[str, ...],
        benchmarks: tuple[str, ...],
        states: tuple[str, ...],
        since: str | None,
        run: str | None,
        **others: Any,
    ) -> Any:
        moment = parse_moment(since) if since else None
        filters = Filters(models=models, benchmarks=benchmarks, states=states, since=moment, run=run)
        return command(filters=filters, **others)

    return with_filters


def listed(store: ResultsStore, filters: Filters) -> Listing:
    """Read the selected receipts, oldest first; those that cannot be read are reported on standard error."""
    from dataclasses import replace

    listing = store.listing(model=_only(filters.models), benchmark=_only(filters.benchmarks))
    report_problems(listing.problems)
    return replace(listing, receipts=tuple(receipt for receipt in listing.receipts if filters.match(receipt)))


def report_problems(problems: Iterable[Problem]) -> None:
    """Report receipts that cannot be read on standard error."""
    for problem in problems:
        echo(f"Warning: a receipt cannot be read: {problem}", err=True)


def of_one_domain(receipts: Sequence[Receipt], name: str | None) -> tuple[Domain, tuple[Receipt, ...]]:
    """The receipts of a domain, by default the first that has receipts; others are mentioned on standard error."""
    present = [each for each in DOMAINS if any(receipt.domain == each for receipt in receipts)]
    chosen = domain(name or next(iter(present), FIRST))
    if name is None and len(present) > 1:
        others = [f"--domain {each}" for each in present if each != chosen.name]
        echo(f"Receipts of {chosen.name}; there are others: {', '.join(others)}", err=True)
    return chosen, tuple(receipt for receipt in receipts if receipt.domain == chosen.name)


def parse_moment(text: str, *, now: datetime | None = None) -> datetime:
    """Read a date, a time, or an age before now.

    Examples
    --------
    >>> parse_moment("12h", now=datetime(2026, 1, 31, 18, tzinfo=UTC)).isoformat()
    '2026-01-31T06:00:00+00:00'
    """
    if age := _AGE.fullmatch(text.strip()):
        try:
            return (now or datetime.now(UTC)) - timedelta(seconds=float(age[1]) * _SECONDS[age[2]])
        except OverflowError as error:
            raise UserError(f"{text!r} is too long ago", remedy="give a date such as 2026-01-31") from error
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UserError(
            f"{text!r} is not a time", remedy="write a date such as 2026-01-31, or an age such as 30min, 12h, 7d or 2w"
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _State(click.ParamType):
    """A state of a receipt; the list of them is read late."""

    name = "state"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from brainscore_core.scoring import State

        states = get_args(State)
        if value not in states:
            self.fail(f"{value!r} is not a state. The states are: {', '.join(states)}.", param, ctx)
        return str(value)


def _is_pattern(text: str) -> bool:
    return "*" in text or "?" in text


def _only(names: tuple[str, ...]) -> str | None:
    """The name, if there is only one and it is not a pattern: then no other folder needs to be read."""
    return names[0] if len(names) == 1 and not _is_pattern(names[0]) else None


def matches(identifier: str, names: Sequence[str]) -> bool:
    """Whether an identifier is one of these names or matches one of these patterns; any does if there are none."""
    if not names:
        return True
    return any(fnmatch.fnmatchcase(identifier, n) if _is_pattern(n) else identifier == n for n in names)


_SHORTEST_KEY = 6


class Named(Protocol):
    """What a key or several names select on the command line."""

    @property
    def key(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...


Item = TypeVar("Item", bound=Named)


def named_items(texts: Sequence[str], items: Sequence[Item], absent: str, command: str) -> list[Item]:
    """Select items by their names, patterns of them, or the beginnings of their keys; without texts, all.

    Raises UserError, which begins with `absent` and refers to the command that lists the items, for a text that selects
    none.
    """
    if not texts:
        return list(items)
    selected: set[int] = set()
    for text in texts:
        matching = {
            number
            for number, item in enumerate(items)
            if (len(text) >= _SHORTEST_KEY and item.key.startswith(text.lower()))
            or any(fnmatch.fnmatchcase(name, text) for name in item.names)
        }
        if not matching:
            near = nearest(text, sorted({name for item in items for name in item.names}), limit=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"`{command}` lists what is there"
            raise UserError(f"{absent} {text!r}", remedy=hint)
        selected |= matching
    return [items[number] for number in sorted(selected)]
