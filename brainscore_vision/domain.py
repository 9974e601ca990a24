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
    control="Simulated2026.V1-rdm",
    examples=("pixels",),
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
    features={
        "assessment": "brainscore_vision.assessment.tasks:plan",
        "attainable scores": "brainscore_vision.assessment.attainable:attach_attainable",
        "catalogue": "brainscore_vision.catalogue.contents:catalogue",
        "changed plugins": "brainscore_vision.assessment.tasks:changed_plugins",
        "exposure": "brainscore_vision.catalogue.contents:findings_of",
        "checks of a benchmark": "brainscore_vision.assessment.checks:check_benchmark",
        "checks of a model": "brainscore_vision.model_sources.checks:check_model",
        "fit": "brainscore_vision.scoring.encoder:fit_encoder",
        "isolated model": "brainscore_vision.model_sources.isolation:IsolatedModel",
        "metadata file": "brainscore_vision.catalogue.plugins:read_metadata_file",
        "metadata of a model": "brainscore_vision.model_helpers.metadata:ModelMetadata",
        "model details": "brainscore_vision.model_sources.description:model_details",
        "model server": "brainscore_vision.model_sources.isolation:serve",
        "models of libraries": "brainscore_vision.model_sources.libraries:library_names",
        "names a model": "brainscore_vision.model_sources.libraries:names_library_model",
        "regions recorded together": "brainscore_vision.scoring.recorded_together:regions_by_data",
        "scores at other visual angles": "brainscore_vision.model_helpers.visual_angle:scores_at_other_angles",
        "findings of splits": "brainscore_vision.assessment.dependence:split_findings",
        "training data": "brainscore_vision.catalogue.contents:training_of",
        "unregistered model": "brainscore_vision.model_sources.unregistered:load_unregistered_model",
    },
)
"""Description of the vision domain."""
