"""The language domain, as command line, website and core know it."""

import brainscore_language as language
from brainscore_core.domains import Domain, Wording
from brainscore_core.results.tree import BenchmarkTable

DOMAIN = Domain(
    name="language",
    package="brainscore_language",
    plugin_index=language.plugin_index,
    registries=language.REGISTRIES,
    loaders={
        "benchmark": language.load_benchmark,
        "data": language.load_dataset,
        "metric": language.load_metric,
        "model": language.load_model,
    },
    model_interface="brainscore_language.artificial_subject:ArtificialSubject",
    measurements=("neural", "behavioural", "engineering"),
    control="SimulatedText2026-ridge",
    examples=("word-length", "randomembedding-100"),
    table=BenchmarkTable(
        "brainscore_language",
        short_names={
            "average": "average_language",
            "neural": "neural_language",
            "behavior": "behavior_language",
            "behaviour": "behavior_language",
            "engineering": "engineering_language",
        },
    ),
    wording=Wording(
        title="Language",
        stimulus="text",
        stimuli="texts",
        presented="read",
        subject="model of language",
        sites="neuroids",
        model="smollm2-135m",
        benchmark="NaturalStories2021-added",
        about="Models read text, and are compared with reading times, with recordings of the language system, and with "
        "judgements of grammar.",
        extra="language",
    ),
    features={
        "catalogue": "brainscore_language.catalogue:catalogue",
        "audit": "brainscore_language.assessment:audit",
        "checks of a benchmark": "brainscore_language.assessment:check_texts",
        "checks of a model": "brainscore_core.plugins.conformance:check_subject",
        "published scores": "brainscore_language.catalogue:PUBLISHED_SCORES",
        "exposure": "brainscore_language.catalogue:findings_of",
        "training data": "brainscore_language.catalogue:training_of",
        "isolated model": "brainscore_language.model_helpers.sources:IsolatedSubject",
        "model server": "brainscore_language.model_helpers.sources:serve",
        "findings of splits": "brainscore_language.assessment:split_findings",
        "unregistered model": "brainscore_language.model_helpers.sources:load_unregistered_model",
    },
)
"""Description of the language domain."""
