"""Networks whose decisions Geirhos et al. 2019 published."""

from typing import Any, Final

import numpy as np

from brainscore_core.errors import NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_dataset
from brainscore_vision.benchmark_helpers.precomputed import RecordedDecisions

_MAIN = ("edge-experiment", "silhouette-filled-experiment", "style-transfer-512-nomask-experiment")

NETWORKS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "alexnet-recorded2019": ("alexnet", _MAIN),
    "googlenet-recorded2019": ("googlenet", _MAIN),
    "vgg16-recorded2019": ("vgg", _MAIN),
    "resnet50-recorded2019": ("resnet50", ("style-transfer-512-nomask-experiment-trained-CNNs",)),
}
"""Published name and experiments of each model."""

VISUAL_DEGREES: Final = 3
"""As in the experiment: the networks saw the very images that people saw."""


class RecordedNetwork(RecordedDecisions):
    """A network's published decisions; stimuli that it was not tested on are not applicable.

    `decisions` map the stimulus_id to the choice; `other_names` the identifier of a stimulus set to other names of its
    stimuli, and these to the stimulus_id: the Brain-Score platform names the authors' images by their last part only.
    """

    def __init__(
        self, identifier: str, decisions: dict[str, str], other_names: dict[str, dict[str, str]] | None = None
    ) -> None:
        super().__init__(identifier, decisions, visual_degrees=VISUAL_DEGREES)
        self._tested_on = frozenset(decisions)
        self._other_names = other_names or {}

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Choices for these stimuli, in their order.

        NotApplicable if the network's decisions on some of them are not published.
        """
        shown_ids = stimuli["stimulus_id"]
        tested_ids = shown_ids.map(lambda name: self._other_names.get(str(stimuli.identifier), {}).get(name, name))
        missing = [str(name) for name in tested_ids if name not in self._tested_on]
        if missing:
            raise NotApplicable(
                f"decisions of {self.identifier!r} on {len(missing)} of {len(stimuli)} stimuli of "
                f"{stimuli.identifier!r} are not published, such as {missing[0]!r}"
            )
        if tested_ids.equals(shown_ids):
            return super().look_at(stimuli, number_of_trials, require_variance)
        choices = super().look_at(stimuli.assign(stimulus_id=tested_ids), number_of_trials, require_variance)
        return choices.assign_coords(stimulus_id=("presentation", shown_ids.to_numpy()))


def load_recorded(identifier: str) -> RecordedNetwork:
    """Make one of the recorded models.

    The identifier is one of :data:`NETWORKS` [1]_.

    References
    ----------
    .. [1] Geirhos et al. 2019, https://doi.org/10.48550/arXiv.1811.12231
    """
    network, experiments = NETWORKS[identifier]
    assembly: Any = load_dataset("Geirhos2019_networks")
    of_network = (assembly["subject"].values == network) & np.isin(assembly["experiment"].values, experiments)
    decisions = assembly[{"presentation": of_network}]
    stimuli, choices = decisions["stimulus_id"].values.astype(str), decisions.values.astype(str)
    other_names: dict[str, dict[str, str]] = {}
    for name, test in zip(stimuli.tolist(), decisions["test"].values.tolist(), strict=True):
        short = name.rpartition("_")[2].removesuffix(".png")
        other_names.setdefault(f"Geirhos2021_{test}", {})[short] = name
    return RecordedNetwork(identifier, dict(zip(stimuli.tolist(), choices.tolist(), strict=True)), other_names)
