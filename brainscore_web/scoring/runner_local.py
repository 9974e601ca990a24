"""Score jobs on this machine, one after the other, each model in processes of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_core.scoring._errors import StoreError
from brainscore_core.scoring.engine._failures import error_receipt
from brainscore_core.scoring.engine._process import Answer, Death, ScoringProcess
from brainscore_core.scoring.engine._scorers import run_info
from brainscore_core.scoring.engine._task import scoring_environment
from brainscore_web.scoring.caging import options_for
from brainscore_web.scoring.claiming import Claimed, Heartbeat, give_back
from brainscore_web.scoring.finishing import (
    failed,
    failed_too_often,
    finish,
    receipt_of,
    run_of,
    usable_receipt,
)
from brainscore_web.scoring.handing_out import hand_out
from brainscore_web.scoring.live import VARIABLE, Live, live_now
from brainscore_web.uploads.storage import StorageFailure

__all__ = ["OWNER", "SCORER", "LocalRunner", "clean_environment"]

SCORER = "brainscore_vision.scoring:score_pair"
OWNER = "site "
"""What claims of this site in the results begin with."""

_SECRETS = ("BRAINSCORE_SITE_", "DATABASE_URL", "DJANGO_", "BRAINSCORE_TOKEN")
_KINDS = {"time": "PairTimeout", "memory": "OutOfMemory", "crash": "ProcessDied"}


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what is the site's own business: its database, keys and mail.

    Examples
    --------
    >>> clean_environment({"DATABASE_URL": "postgres://…", "HOME": "/home/x"})
    {'HOME': '/home/x'}
    """
    return {name: value for name, value in environment.items() if not name.startswith(_SECRETS)}


class LocalRunner:
    """Scores one job at a time; the process that has loaded a model stays for the next job of it.

    Parameters
    ----------
    store : str
        Address of the results.
    limit : int or None
        Bytes that a pair may use.
    timeout : float or None
        Seconds that a pair may take.
    say : callable
        Told what happens.
    stopping : callable
        Whether this worker is to end.
    """

    def __init__(
        self, store: str, *, limit: int | None, timeout: float | None, say: Callable[[str], None],
        stopping: Callable[[], bool],
    ) -> None:  # fmt: skip
        self.store = ResultsStore(store)
        self.limit = limit
        self.timeout = timeout
        self.say = say
        self.stopping = stopping
        self.model: int | None = None  # primary key of the one that is loaded
        self._key: tuple[str, str] | None = None
        self._process: ScoringProcess | None = None
        self._handed_out = ""

    def run(self, one: Claimed) -> None:
        """Score a claimed job, and end it or give it back."""
        job = one.job
        with Heartbeat([one], on_problem=self.say) as beat:
            try:
                said = self._run(one, beat)
            except (UserError, StoreError, StorageFailure, OSError) as error:
                # of this machine, its folders or its installation: another attempt later, nobody's fault
                self.close()
                give_back(one, wait=60)
                said = f"not now: {error}"
        self.say(f"{job}: {said}")

    def close(self) -> None:
        """Let the model go."""
        if self._process is not None:
            self._process.finish()
        self._forget()

    def _run(self, one: Claimed, beat: Heartbeat) -> str:
        job = one.job
        live = live_now()  # after the claim: what is published later takes the job away from here
        pair = (job.model.identifier, job.benchmark.identifier)
        held = self.store.claim(*pair, owner=f"{OWNER}{os.getpid()}")
        if held is None:
            give_back(one, wait=30)
            return f"waits: {self.store.owner(*pair) or 'somebody else'} scores it just now"
        with held:
            receipt = usable_receipt(one, self.store, live) or failed_too_often(one, self.store)
            if receipt is not None:
                return self._end(one, receipt)
            if self._handed_out != str(live.folder):
                hand_out(live.folder)
                self._handed_out = str(live.folder)

            def stopped() -> bool:
                return self.stopping() or held.lost or beat.lost(one) or beat.stops(one)

            found = self._scored(one, live, stopped)
            if isinstance(found, Death) and found.kind == "crash":
                self._forget()
                self.say(f"{job}: what scored it {found.message}; once more")
                found = self._scored(one, live, stopped)
            if isinstance(found, Answer):
                return self._end(one, self._receipt(one, found))
            self._forget()
            if found.kind == "stopped":
                return self._stopped(one, beat)
            message = f"what scored it {found.message}"
            kind, printed, seconds = _KINDS[found.kind], found.tail, found.seconds
            return self._end(one, failed(one, self.store, kind=kind, message=message, printed=printed, seconds=seconds))

    def _forget(self) -> None:
        """The process is gone."""
        self._process, self._key, self.model = None, None, None

    def _scored(self, one: Claimed, live: Live, stopped: Callable[[], bool]) -> Answer | Death:
        job = one.job
        key = (str(live.folder), job.model.identifier)
        if self._process is None or self._key != key:
            self.close()
            options: dict[str, Any] = {}
            if live.is_submitted(job.model.identifier):
                options |= options_for(live.revision_of(job.model.identifier), self.limit)
            settings = {
                "scorer": SCORER,
                "store": self.store.address,
                "run": run_of(one),  # of the job that this process is started for
                "isolated": True,
                "options": options,
            }
            environment = scoring_environment(os.cpu_count() or 1, self.limit)
            environment = {**clean_environment(environment), VARIABLE: live.variable}
            self._process = ScoringProcess(settings, environment=environment, limit=self.limit)
            self._key, self.model = key, job.model_id
        return self._process.score(
            job.model.identifier, job.benchmark.identifier, timeout=self.timeout, stopped=stopped
        )

    def _receipt(self, one: Claimed, answer: Answer) -> Receipt:
        pair = (one.job.model.identifier, one.job.benchmark.identifier)
        if "error" in answer.content:  # of the scorer itself; what plugins raise it has written down
            return error_receipt(self.store, *pair, answer.content["error"], run_info(run_of(one), isolated=True))
        receipt = receipt_of(self.store, *pair, answer.content["receipt"])
        if receipt is None:
            raise UserError(f"the receipt of {one.job} is gone", remedy=f"see whether {self.store.address} is writable")
        return receipt

    def _end(self, one: Claimed, receipt: Receipt) -> str:
        if not finish(one, self.store, receipt):
            return "somebody else has it by now"
        value = f" {receipt.score.value:.3f}" if receipt.score is not None and receipt.score.value is not None else ""
        return f"{receipt.state}{value}" + (f" ({receipt.reason})" if receipt.reason else "")

    def _stopped(self, one: Claimed, beat: Heartbeat) -> str:
        if beat.lost(one):
            return "taken away: what it needs was published anew, or this worker was silent for too long"
        give_back(one)  # cancels it where somebody wants that
        return "cancelled" if beat.stops(one) else "given back"
