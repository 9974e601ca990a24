"""One call's layers: found in the store, or computed into it, or into memory."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.model_helpers.activations._assembly import Shown
from brainscore_vision.model_helpers.activations._components import Parts, principal_components, temporary_store
from brainscore_vision.model_helpers.activations._destinations import ResponseRows, in_memory, in_store, stored_layers
from brainscore_vision.model_helpers.activations._responses import Response
from brainscore_vision.model_helpers.activations._run import Pass
from brainscore_vision.model_helpers.activations.memory_plan import MemoryPlan
from brainscore_vision.model_helpers.activations.reduction import make_reduction
from brainscore_vision.model_helpers.activations.store import ActivationStore

__all__ = ["Recording"]

Values = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Recording:
    """What is shown to which model, and where its responses go.

    Attributes
    ----------
    run : Pass
        The model and its input.
    shown : Shown
        The stimuli.
    model : str
        Its name.
    store : ActivationStore or None
        Where layers are kept.
    parts : callable
        Layers → what the key of each is made of; None where that cannot be told.
    plan : callable
        Layers, reduction and store → memory plan.
    """

    run: Pass
    shown: Shown
    model: str
    store: ActivationStore | None
    parts: Callable[[Mapping[str, Response]], Parts | None]
    plan: Callable[[Mapping[str, Response], str | None, ActivationStore | None], MemoryPlan]

    def layers(
        self, first: dict[str, Response], reduction: str | None
    ) -> tuple[dict[str, Response], Values, NDArray[Any] | None]:
        """Each layer's first response and all values; and these side by side where they lie so."""
        spec = self.plan(first, "auto", self.store).reduction if reduction == "auto" else reduction
        learnt = spec is not None and make_reduction(spec).needs_fit
        if not learnt:
            first = {layer: response.reduced(spec) for layer, response in first.items()}
        parts = None if self.store is None else self.parts(first)
        store = None if parts is None else self.store
        if spec is None or not learnt:
            values, block = self._recorded(first, store, parts, self._batch_size(spec, store))
            return first, values, block
        with nullcontext(store) if store is not None else temporary_store() as place:
            # nobody looks for what lies in a temporary store
            keys = {name: {"layer": name} for name in first} if parts is None else parts

            def record(layers: dict[str, Response]) -> Values:
                if layers:  # learning takes memory, even where all that it is learnt from is stored
                    self.plan(layers, spec, store)
                return self._recorded(layers, place, keys, self._batch_size(spec, store), look=store is not None)[0]

            first, values = principal_components(
                spec,
                first,
                record,
                stimuli=self.shown.presentations.fingerprint,
                store=store,
                parts=parts,
                info=self._info,
            )
            if store is None:  # its files go
                values = {name: np.array(one) if isinstance(one, np.memmap) else one for name, one in values.items()}
        return first, values, None

    @property
    def _info(self) -> dict[str, Any]:
        return {"model": self.model, "stimulus_set": str(self.shown.presentations.identifier or "")}

    def _batch_size(self, spec: str | None, store: ActivationStore | None) -> Callable[[dict[str, Response]], int]:
        return lambda layers: self.plan(layers, spec, store).batch_size

    def _recorded(
        self,
        first: dict[str, Response],
        store: ActivationStore | None,
        parts: Parts | None,
        batch_size: Callable[[dict[str, Response]], int],
        *,
        look: bool = True,
    ) -> tuple[Values, NDArray[Any] | None]:
        """All values of layers, those included that are stored already, where one is to `look` for them."""
        shown = self.shown
        distinct = shown.presentations.distinct
        found = {}
        if look and store is not None and parts is not None:
            found = stored_layers(store, parts, first, self.model)
        missing = {layer: response for layer, response in first.items() if layer not in found}
        if not missing:
            return found, None
        self.run.batch_size = batch_size(missing)

        def fill(destinations: Mapping[str, ResponseRows]) -> None:
            for destination in destinations.values():
                destination.put_first()
            self.run.rest(distinct, shown.shifts if shown.moving else None, destinations, skip=1, name=self.model)

        rows = len(distinct) * (shown.trials if shown.moving else 1)
        if store is None or parts is None:
            block, columns = in_memory(list(missing.values()), rows, fill)
            return columns, block
        return found | in_store(store, list(missing.values()), rows, parts, self._info, fill), None
