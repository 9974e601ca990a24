"""The competition of 2022: what is known of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

__all__ = ["BEHAVIOR", "COMPETITION", "LISTED", "V1"]

_PROPERTIES = (
    "Ringach2002-circular_variance",
    "Ringach2002-or_bandwidth",
    "Ringach2002-orth_pref_ratio",
    "Ringach2002-or_selective",
    "Ringach2002-cv_bandwidth_ratio",
    "Ringach2002-opr_cv_diff",
    "DeValois1982-pref_or",
    "DeValois1982-peak_sf",
    "Schiller1976-sf_selective",
    "Schiller1976-sf_bandwidth",
    "Cavanaugh2002-grating_summation_field",
    "Cavanaugh2002-surround_diameter",
    "Cavanaugh2002-surround_suppression_index",
    "FreemanZiemba2013-texture_modulation_index",
    "FreemanZiemba2013-abs_texture_modulation_index",
    "FreemanZiemba2013-texture_selectivity",
    "FreemanZiemba2013-texture_sparseness",
    "FreemanZiemba2013-texture_variance_ratio",
    "Ringach2002-max_dc",
    "Ringach2002-modulation_ratio",
    "FreemanZiemba2013-max_texture",
    "FreemanZiemba2013-max_noise",
)
V1 = ("FreemanZiemba2013.V1-pls", *(f"Marques2020_{name}" for name in _PROPERTIES))
"""Benchmarks of the V1 track."""

BEHAVIOR = ("Rajalingham2018-i2n",)
"""Benchmarks of the behavioral track."""

LISTED = (
    *V1,
    "FreemanZiemba2013.V2-pls",
    *(
        f"{study}.{region}-pls"
        for region in ("V4", "IT")
        for study in ("MajajHong2015", "Sanghavi2020", "SanghaviJozwik2020", "SanghaviMurty2020")
    ),
    *BEHAVIOR,
)
"""All 33 benchmarks."""

_RULES = {"competes": "models", "wins": "highest", "inapplicable": "zero"}
_MODELS = (
    (1, "effnetb1_cutmixpatch_augmix_robust32_avge4e7_manylayers_324x288"),
    (None, "grcnn_robust_v1"),
    (None, "custom_model_cv_18_dagger_408"),
)

COMPETITION: dict[str, Any] = {
    "fields": {
        "year": 2022,
        "title": "Brain-Score Competition 2022",
        "summary": "Modellers were asked for models of vision that predict the benchmarks there were: "
        "overall, of V1, of behavior.",
        "about": "The first Brain-Score competition was one of models, which were evaluated on the existing "
        "benchmarks. It brought "
        "new models, better at these than those before.",
        "unknown": "The documents at hand tell the benchmarks, and which models came out first. They tell neither "
        "dates, "
        "prizes, organisers, nor who the teams were and what else was entered, nor which of the other two models "
        "was second. "
        "Standings are computed from the scores of this site, as a plain mean in which each benchmark counts alike.",
        "awarded": datetime(2022, 12, 31, tzinfo=UTC),
    },
    "tracks": [
        {
            "fields": {
                "title": "Overall",
                "text": "Highest mean over all 33 benchmarks.",
                "listed": "\n".join(LISTED),
                "notes": "It is known that these models were the first three of the competition, not of which track.",
                **_RULES,
            },
            "awards": [{"fields": {"place": place, "title": name}, "entries": (name,)} for place, name in _MODELS],
        },
        {
            "fields": {
                "title": "V1",
                "text": "Highest mean over the benchmarks of V1.",
                "listed": "\n".join(V1),
                "notes": "Who entered, and who won, is not known.",
                **_RULES,
            },
            "awards": [],
        },
        {
            "fields": {
                "title": "Behavior",
                "text": "Highest score on behavior.",
                "listed": "\n".join(BEHAVIOR),
                "notes": "Who entered, and who won, is not known.",
                **_RULES,
            },
            "awards": [],
        },
    ],
}
