"""The vision domain, as command line, website and core know it."""

from brainscore_core.domains import Domain, Wording
from brainscore_vision import registries
from brainscore_vision.catalogue.leaderboard import BENCHMARKS

DOMAIN = Domain(
    name="vision",
    package="brainscore_vision",
    plugin_index=registries.plugin_index,
    registries=registries.REGISTRIES,
    loaders=registries.LOADERS,
    model_interface="brainscore_vision.model_interface:BrainModel",
    measurements=("neural", "behavioural", "engineering"),
    table=BENCHMARKS,
    wording=Wording(
        title="Vision",
        stimulus="image",
        stimuli="images",
        presented="shown",
        subject="model of vision",
        sites="neuroids",
        model="alexnet",
        benchmark="MajajHong2015public.IT-pls",
        about="Models see images and videos, and are compared with recordings of the visual system and with behaviour.",
        extra="models",
    ),
    scorer="brainscore_vision.scoring.pairs:score_pair",
    features={
        "run_pair": "brainscore_vision.scoring.pairs:run_pair",
        "verify": "brainscore_vision.scoring.pairs:verify",
        "catalogue": "brainscore_vision.catalogue.contents:catalogue",
        "fit": "brainscore_vision.scoring.encoder:fit_encoder",
    },
)
"""Description of the vision domain."""
