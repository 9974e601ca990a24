"""Leases: a process claims a row, renews its claim while it works, and loses it if it stops responding.

Each table of work has a constant of type `LeaseQueue`: steps of submissions, scoring jobs, checks of uploads, e-mails.
A claim is one conditional update, and every later write repeats the condition: what a process writes after it has lost
a row reaches nothing. This holds on SQLite and PostgreSQL without any lock that outlives a statement. A row also has
the name of the process, by which others on the same machine can tell whether it has ended.

In a queue with a lane, users take turns: of the users with the fewest running tasks, the one who has waited longest is
next. Users wait since their last turn, or since their oldest waiting task was due if that is later, so that a new user
comes after those who waited before.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection, models, transaction
from django.db.models import Case, Count, F, Min, Q, QuerySet, When
from django.utils import timezone

from brainscore_core.results import claims

LEASE_DURATION = timedelta(minutes=2)
"""A process that has not renewed its claim for this time has lost it."""
RENEWAL_SECONDS = 10.0
_CANDIDATES = 20
_AHEAD = timedelta(hours=12)  # by which a claim may be dated in the future, as grants of uploads are
_log = logging.getLogger(__name__)


class LeasedModel(models.Model):
    """The columns of a lease. Rows also have `due`, before which they are not claimed."""

    claim = models.CharField(max_length=40, blank=True, editable=False)
    claimed = models.DateTimeField(null=True, blank=True, editable=False)
    worker = models.CharField(max_length=200, blank=True, editable=False)
    attempts = models.IntegerField(default=0, editable=False)

    class Meta:
        """Without a table of its own."""

        abstract = True


class Turn(models.Model):
    """When a user's work was last claimed in a lane; without a user, that of the site itself."""

    lane = models.CharField(max_length=20)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    taken = models.DateTimeField()

    class Meta:
        """One row a lane and user."""

        app_label = "jobs"
        constraints = (
            models.UniqueConstraint(fields=["lane", "owner"], name="one_turn_a_user"),
            models.UniqueConstraint(fields=["lane"], condition=Q(owner=None), name="one_turn_of_the_site"),
        )

    def __str__(self) -> str:
        return f"{self.lane}: {self.owner or 'the site'}"


class Unavailable(Exception):
    """The site cannot do some work now, such as without a network: it is tried again, and finally given up.

    `why` is for users, a sentence without a full stop; the text of the error is for administrators.
    """

    def __init__(self, why: str, internal: str = "") -> None:
        super().__init__(internal)
        self.why = why


class Postponed(Unavailable):
    """Work must wait for something that the site lacks, for as long as it takes."""

    pause = timedelta(minutes=5)


@dataclass(frozen=True)
class RetryPolicy:
    """When failed work is tried again."""

    first: timedelta  # the pause after the first attempt
    factor: float = 1.0  # by which each further pause is longer
    longest: timedelta | None = None  # the longest pause
    attempts: int | None = None  # the number of attempts; None if there is no limit

    def pause(self, attempt: int) -> timedelta:
        """Return the pause after an attempt, counted from 1.

        Examples
        --------
        >>> policy = RetryPolicy(timedelta(seconds=30), factor=4, longest=timedelta(minutes=30))
        >>> [policy.pause(attempt).total_seconds() for attempt in (1, 2, 3, 4, 500)]
        [30.0, 120.0, 480.0, 1800.0, 1800.0]
        """
        # bounded, since an e-mail may be tried any number of times
        seconds = self.first.total_seconds() * self.factor ** min(max(attempt - 1, 0), 20)
        return timedelta(seconds=seconds if self.longest is None else min(seconds, self.longest.total_seconds()))


M = TypeVar("M", bound=models.Model)


@dataclass(frozen=True)
class LeaseQueue(Generic[M]):
    """A table whose rows are claimed."""

    model: type[M]  # the table, with the columns of `LeasedModel` and `due`
    # waiting, held: conditions of rows that wait, and of rows that are claimed; only on columns of the table itself,
    # since only those are checked again when two processes update a row at once
    waiting: Q
    held: Q
    retry: RetryPolicy  # when failed work is tried again
    order: tuple[Any, ...] = ("pk",)  # the order in which rows are claimed
    # on_claim, on_release: values that a claim sets, and those that put a row back
    on_claim: Mapping[str, Any] = field(default_factory=dict)
    on_release: Mapping[str, Any] = field(default_factory=dict)
    related: tuple[str, ...] = ()  # relations that are read with a claimed row
    lasts: timedelta = LEASE_DURATION  # the time after which a claim that is not renewed is lost
    # renewed_field, worker_field, stop_field: the columns with the time of the last renewal, with the name of the
    # process, and with the request to stop; empty if the table has no such column
    renewed_field: str = "claimed"
    worker_field: str = "worker"
    stop_field: str = ""
    # lane, owner: where users take turns, and the path to the user of a row; empty if the order alone decides. Running
    # tasks of all queues of a lane are counted together
    lane: str = ""
    owner: str = ""
    exclusive: bool = False  # whether a user has at most one running task in the lane, also while no other user waits
    restarted: bool = False  # whether `started` of a row is the start of its newest attempt
    task: str = ""  # the path of the task of django-tasks that does the work of the next row

    def __post_init__(self) -> None:
        """Register the queue in its lane."""
        if self.lane:
            _lanes.setdefault(self.lane, []).append(self)

    def due(self) -> QuerySet[M]:
        """Return the rows that can be claimed now, in order."""
        rows = self.model._default_manager.filter(self.waiting, claim="", due__lte=timezone.now())
        return rows.order_by(*self.order)

    def has_work(self) -> bool:
        """Whether a row could be claimed now."""
        if not self.exclusive:
            return self.due().exists()
        busy = _running(self.lane)
        return any(owner not in busy for owner in _waiting(self, self.due()))


_lanes: dict[str, list[LeaseQueue[Any]]] = {}  # the queues of each lane


class Lease(Generic[M]):
    """A claim on a row; a process that has lost it writes nothing more.

    Attributes
    ----------
    queue : LeaseQueue
        The table.
    row : Model
        The row as it was claimed.
    token : str
        The token of the claim, which is valid while the row has it.
    stop_requested : bool
        Whether the work is to be cancelled, as far as a `Renewal` has read.
    """

    def __init__(self, queue: LeaseQueue[M], row: M, token: str, *, where: Q | None = None) -> None:
        self.queue, self.row, self.token = queue, row, token
        self.stop_requested = False
        self._where = Q() if where is None else where
        self._lost = False
        self._renewed = time.monotonic()

    def rows(self) -> QuerySet[M]:
        """Return the row if the claim is still valid, otherwise no row."""
        held = self.queue.held & self._where
        return self.queue.model._default_manager.filter(held, pk=self.row.pk, claim=self.token)

    def is_lost(self) -> bool:
        """Whether the claim is lost: to another process, by cancellation, or because it could not be renewed."""
        return self._lost or time.monotonic() - self._renewed > self.queue.lasts.total_seconds()

    def renew(self, **values: Any) -> bool:
        """Renew the claim, and write further columns; return False if it is lost."""
        now = time.monotonic()
        if self.is_lost() or not self.rows().update(**{self.queue.renewed_field: timezone.now()}, **values):
            self._lost = True
            return False
        self._renewed = now
        return True

    def finish(self, **values: Any) -> bool:
        """End the claim, and write the result; return False if it was lost, and nothing was written."""
        return bool(self.rows().update(**{"claim": "", self.queue.renewed_field: None} | values))

    def release(self, *, after: timedelta = timedelta(0), counts: bool = True, **values: Any) -> bool:
        """Put the row back, for a later attempt."""
        changes: dict[str, Any] = {} if counts else {"attempts": F("attempts") - 1}
        return self.finish(**{**self.queue.on_release, "due": timezone.now() + after, **changes, **values})

    @property
    def attempts(self) -> int:
        """The number of this attempt, from 1."""
        return int(getattr(self.row, "attempts"))  # noqa: B009 # every leased table has it

    def attempts_exceeded(self) -> bool:
        """Whether all attempts had been used before this one: its processes ended unexpectedly each time."""
        most = self.queue.retry.attempts
        return most is not None and self.attempts > most

    def retry(self, **values: Any) -> bool:
        """Put the row back for the next attempt, after the pause of the policy."""
        most = self.queue.retry.attempts
        if most is not None and self.attempts >= most:
            return False
        self.release(after=self.queue.retry.pause(self.attempts), **values)
        return True


def claim(
    queue: LeaseQueue[M],
    *,
    limit: int = 1,
    where: Q | None = None,
    first: Q | None = None,
    in_turn: bool = True,
    worker: str = "",
    token: str = "",
    **values: Any,
) -> list[Lease[M]]:
    """Claim due rows, each by one process.

    Must not be called inside a long transaction, since other processes must see the claim at once.
    """
    leases: list[Lease[M]] = []
    if queue.restarted:
        values["started"] = timezone.now()
    process = {queue.worker_field: worker or process_name()} if queue.worker_field else {}
    order = queue.order if first is None else (Case(When(first, then=0), default=1), *queue.order)

    def claimed(rows: QuerySet[M]) -> Lease[M] | None:
        for key in rows.order_by(*order).values_list("pk", flat=True)[:_CANDIDATES]:
            claim_token = token or uuid.uuid4().hex
            mine = {"claim": claim_token, queue.renewed_field: timezone.now(), "attempts": F("attempts") + 1}
            # another process may have claimed it since: the condition is checked again with the update
            if queue.due().order_by().filter(pk=key).update(**mine, **process, **queue.on_claim, **values):
                row = queue.model._default_manager.select_related(*queue.related).filter(pk=key).first()
                if row is not None:  # otherwise it was deleted with its owner's account
                    return Lease(queue, row, claim_token)
        return None

    while len(leases) < limit:
        rows = queue.due() if where is None else queue.due().filter(where)
        if not (queue.lane and in_turn):
            lease, is_over = claimed(rows), not rows.exists()
        else:
            turn = _next_turn(queue, rows)
            if turn is None:
                break
            with transaction.atomic():  # another process that takes the same turn waits, and sees the claimed row
                is_over = False
                lease = claimed(rows.filter(**{queue.owner: turn.owner_id})) if _took(turn) else None
        if lease is not None:
            leases.append(lease)
        elif is_over:
            break
    return leases


def _waiting(queue: LeaseQueue[Any], rows: QuerySet[Any]) -> dict[Any, datetime]:
    """Return when the oldest of each user's tasks was due."""
    return dict(rows.order_by().values_list(queue.owner).annotate(Min("due")))


def _running(lane: str) -> Counter[Any]:
    """Count the running tasks of each user in a lane."""
    running: Counter[Any] = Counter()
    for queue in _lanes[lane]:
        rows = queue.model._default_manager.filter(queue.held).order_by().values_list(queue.owner)
        running.update(dict(rows.annotate(Count("pk"))))
    return running


def _next_turn(queue: LeaseQueue[Any], rows: QuerySet[Any]) -> Turn | None:
    """Return the turn that is next, as it was last taken; None if no row can be claimed."""
    # turns are read first: a claim that this process does not see yet has changed the turn
    turns = {turn.owner_id: turn for turn in Turn.objects.filter(lane=queue.lane)}
    waiting, running = _waiting(queue, rows), _running(queue.lane)
    if queue.exclusive:
        waiting = {owner: since for owner, since in waiting.items() if owner not in running}
    if not waiting:
        return None
    ahead = rows.values_list(queue.owner, flat=True).first()

    def rank(owner: Any) -> tuple[int, datetime, bool, bool]:
        since = waiting[owner]
        return (
            running[owner],
            max(turns[owner].taken, since) if owner in turns else since,
            owner != ahead,
            owner is None,
        )

    owner = min(waiting, key=rank)
    return turns.get(owner) or Turn(lane=queue.lane, owner_id=owner)


def _took(turn: Turn) -> bool:
    """Take a turn; False if another process was faster, or the user has left."""
    now = timezone.now()
    if turn.pk is not None:
        return bool(Turn.objects.filter(pk=turn.pk, taken=turn.taken).update(taken=now))
    return Turn.objects.get_or_create(lane=turn.lane, owner_id=turn.owner_id, defaults={"taken": now})[1]


def expired_leases(queue: LeaseQueue[M], where: Q | None = None) -> list[Lease[M]]:
    """Return the claims of processes that have ended or stopped responding, for the caller to release.

    A claim that is renewed after this call is not released.
    """
    now = timezone.now()
    columns = ["pk", "claim", queue.renewed_field, *filter(None, [queue.worker_field])]
    held = queue.model._default_manager.filter(queue.held, Q() if where is None else where)
    leases = []
    for key, token, renewed, *worker in held.order_by("pk").values_list(*columns):
        # a time far ahead was written before the clock was set back; who still works has renewed since
        in_time = renewed is not None and now - queue.lasts <= renewed <= now + _AHEAD
        if in_time and not any(map(has_ended, worker)):
            continue
        row = queue.model._default_manager.select_related(*queue.related).filter(pk=key).first()
        if row is not None:
            leases.append(Lease(queue, row, token, where=Q(**{queue.renewed_field: renewed})))
    return leases


class Renewal:
    """Renews leases in a thread, and reads whether their work is to be cancelled. A context manager.

    While the database is unavailable it tries again; a lease counts as lost once its time is over.

    `remove` leases whose work has ended. `on_problem` is called with a message if the database does not respond; by
    default it is logged.
    """

    def __init__(
        self,
        leases: Iterable[Lease[Any]],
        *,
        every: float = RENEWAL_SECONDS,
        on_problem: Callable[[str], None] = _log.warning,
    ) -> None:
        self._leases = list(leases)
        self._every = every
        self._on_problem = on_problem
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="renewal", daemon=True)

    def __enter__(self) -> Renewal:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(timeout=30)

    def remove(self, lease: Lease[Any]) -> None:
        """Stop renewing a lease whose work has ended."""
        if lease in self._leases:
            self._leases.remove(lease)

    def _run(self) -> None:
        try:
            while not self._end.wait(self._every):
                close_old_connections()
                try:
                    for lease in list(self._leases):
                        self._renew(lease)
                except (DatabaseError, InterfaceError) as error:
                    self._on_problem(f"The database does not respond: {type(error).__name__}")
                    connection.close()
        finally:
            connection.close()

    def _renew(self, lease: Lease[Any]) -> None:
        field = lease.queue.stop_field
        if lease.renew() and field and lease.rows().filter(**{field: True}).exists():
            lease.stop_requested = True


def process_name() -> str:
    """Name this process: its host, machine, number and start.

    Examples
    --------
    >>> has_ended(process_name())
    False
    """
    process = claims.this_process()
    return f"{process['host'][:100]} {process['machine']} {process['pid']} {process['started'] or '-'}"


def has_ended(name: str) -> bool:
    """Whether the process with this name is known to have ended; False for processes of other machines."""
    words = name.split(" ")
    if len(words) != 4 or not words[2].isdecimal():
        return False
    started = None if words[3] == "-" else words[3]
    return claims.has_ended({"host": words[0], "machine": words[1], "pid": int(words[2]), "started": started})


def process_label(name: str) -> str:
    """The host and number of a process, or the name of a remote worker, for display.

    Examples
    --------
    >>> process_label("here 3f2a 17 1234"), process_label("laboratory (remote)"), process_label("")
    ('here:17', 'laboratory (remote)', '')
    """
    words = name.split(" ")
    return f"{words[0]}:{words[2]}" if len(words) == 4 else name
