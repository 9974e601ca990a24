"""A process that scores pairs of one model after the other, for workers of a site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.receipts.receipt import Receipt, RunInfo
from brainscore_core.results.store import ResultsStore
from brainscore_core.runner.child import Scored
from brainscore_core.runner.process import ScoringProcess, write_unscored
from brainscore_core.runner.template import borrow_template, end_idle_templates

_SCORER = "brainscore_core.runner.scoring:score_pair"


class ModelProcess:
    """Scores pairs, each model in a process of its own, which stays for further pairs of the model.

    The processes are forked from one template, which keeps the benchmarks of earlier pairs. Each model is isolated. A
    pair may use `limit` bytes of memory; `say` is called with messages.

    Attributes
    ----------
    model : str or None
        The loaded model.
    """

    def __init__(self, store: ResultsStore, *, limit: int | None, say: Callable[[str], None]) -> None:
        self.store, self.limit, self.say = store, limit, say
        self.model: str | None = None
        self._process: ScoringProcess | None = None
        self._conditions: Any = None
        self._benchmarks: dict[str, None] = {}  # scored so far, the last one first

    def score(
        self,
        model: str,
        benchmark: str,
        *,
        run: str,
        environment: Mapping[str, str],
        options: Mapping[str, Any],
        timeout: float | None,
        stopped: Callable[[], bool],
    ) -> Receipt | None:
        """Score a pair, and return its receipt; None if it was stopped.

        A pair whose process dies is scored once more, without a template, since the failure may have been that of the
        template. The process that is loaded is used if it has the same environment and options.
        """
        self._benchmarks = {benchmark: None} | self._benchmarks
        info = RunInfo(id=run, isolated=True)
        for with_template in (True, False):
            if self._process is None or (self.model, self._conditions) != (model, (environment, options)):
                self.end_process()
                settings = {"scorer": _SCORER, "store": self.store.address, "run": run, "isolated": True}
                settings["options"] = dict(options)
                how: dict[str, Any] = {"environment": environment, "limit": self.limit}
                if with_template:
                    how["template"] = borrow_template(
                        settings, list(self._benchmarks), **how, timeout=timeout, stopped=stopped
                    )
                self._process = ScoringProcess(settings, **how)
                self.model, self._conditions = model, (environment, options)
            answer = self._process.score(model, benchmark, timeout=timeout, stopped=stopped)
            if isinstance(answer, Scored):
                if answer.error is not None:  # of the scorer itself; it writes errors of plugins into receipts
                    return write_unscored(self.store, model, benchmark, answer.error, info)
                return self._receipt(model, benchmark, answer.receipt)
            death = answer
            self._process = self.model = None  # it has ended
            if death.kind == "stopped":
                return None
            if death.kind != "crash":
                break
            if with_template:
                self.say(f"{model} on {benchmark}: the scoring process {death.message}; trying once more")
        return write_unscored(self.store, model, benchmark, death, info)

    def _receipt(self, model: str, benchmark: str, identifier: str) -> Receipt:
        receipt = self.store.latest(model, benchmark)
        if receipt is None or receipt.id != identifier:
            raise UserError(
                f"the receipt of {model} on {benchmark} is missing",
                remedy=f"check that {self.store.address} is writable",
            )
        return receipt

    def end_process(self) -> None:
        """End the process with its loaded model."""
        if self._process is not None:
            self._process.finish()
        self._process = self.model = None

    def close(self) -> None:
        """End the process and the template."""
        self.end_process()
        end_idle_templates()
