"""The competitions of 2022 and 2024, created once in every new database.

Organisers may change them afterwards.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from brainscore_web.competitions.models import (
    Award,
    Competition,
    Entry,
    Milestone,
    Person,
    ProgrammeItem,
    Question,
    Track,
    listing,
)

_CONTACT = """\
Ask a question or report a mistake on [GitHub](https://github.com/brain-score/vision/issues). The
[community](/community/) page lists further ways to take part.
"""

_PROPERTIES_2022 = {
    "Orientation": (
        "Ringach2002-circular_variance",
        "Ringach2002-or_bandwidth",
        "Ringach2002-orth_pref_ratio",
        "Ringach2002-or_selective",
        "Ringach2002-cv_bandwidth_ratio",
        "Ringach2002-opr_cv_diff",
        "DeValois1982-pref_or",
    ),
    "Spatial frequency": ("DeValois1982-peak_sf", "Schiller1976-sf_selective", "Schiller1976-sf_bandwidth"),
    "Receptive-field size": ("Cavanaugh2002-grating_summation_field", "Cavanaugh2002-surround_diameter"),
    "Surround modulation": ("Cavanaugh2002-surround_suppression_index",),
    "Texture modulation": (
        "FreemanZiemba2013-texture_modulation_index",
        "FreemanZiemba2013-abs_texture_modulation_index",
    ),
    "Response selectivity": (
        "FreemanZiemba2013-texture_selectivity",
        "FreemanZiemba2013-texture_sparseness",
        "FreemanZiemba2013-texture_variance_ratio",
        "Ringach2002-modulation_ratio",
    ),
    "Response magnitude": ("Ringach2002-max_dc", "FreemanZiemba2013-max_texture", "FreemanZiemba2013-max_noise"),
}
_PREDICTIVITY_2022 = {
    "V1": ("FreemanZiemba2013.V1-pls",),
    "V2": ("FreemanZiemba2013.V2-pls",),
    **{
        region: tuple(
            f"{study}.{region}-pls"
            for study in ("MajajHong2015", "Sanghavi2020", "SanghaviJozwik2020", "SanghaviMurty2020")
        )
        for region in ("V4", "IT")
    },
}
BEHAVIOR_2022 = ("Rajalingham2018-i2n",)
"""Benchmarks of the behavioral track."""


def _v1_2022(level: str) -> list[str]:
    """The benchmarks of V1 with their components, as lines of a track."""
    lines = [f"{level} Neural predictivity", *_PREDICTIVITY_2022["V1"], f"{level} Response properties"]
    for group, names in _PROPERTIES_2022.items():
        lines += [f"{level}# {group}", *(f"Marques2020_{name}" for name in names)]
    return lines


_V1_LISTING_2022 = "\n".join(_v1_2022("#"))
_LISTING_2022 = "\n".join(
    [
        *("# V1", *_v1_2022("##")),
        *(line for region in ("V2", "V4", "IT") for line in (f"# {region}", *_PREDICTIVITY_2022[region])),
        *("# Behavior", *BEHAVIOR_2022),
    ]
)

V1_2022 = tuple(names[0] for _, names in listing(_V1_LISTING_2022))
"""Benchmarks of the V1 track."""

LISTED_2022 = tuple(names[0] for _, names in listing(_LISTING_2022))
"""All 33 benchmarks."""

_RULES_2022 = {"competes": "models", "wins": "highest", "inapplicable": "zero"}
_MODELS_2022 = (
    (1, "effnetb1_cutmixpatch_augmix_robust32_avge4e7_manylayers_324x288"),
    (None, "grcnn_robust_v1"),
    (None, "custom_model_cv_18_dagger_408"),
)

_ABOUT_2022 = """\
The first Brain-Score competition asked modellers for models of the ventral visual stream. It brought new models that
predicted the existing benchmarks better than earlier ones.

## Entries

Models that can be computed from images: either a network, whose layers were then assigned to brain regions, or a model
of the brain that states its regions and its visual angle.

## Benchmarks

Models were scored on 33 benchmarks:

- neural predictivity of V1, V2, V4 and IT: PLS regression with 25 components and 10 splits;
- 22 distributions of response properties of V1, in seven groups;
- behavior: consistency with people for each image, relative to the ceiling.

The Sanghavi recordings, three of the four studies of V4 and of IT, come from a single monkey.

## Workshop

“Brain-Score and beyond: confronting brain-like ANNs with neuroscientific data”, a workshop of Cosyne 2022.
"""

COMPETITION_2022: dict[str, Any] = {
    "fields": {
        "year": 2022,
        "title": "Brain-Score Competition 2022",
        "summary": "Modellers were asked for models of vision that predict brains and behavior: overall, in V1, and in "
        "behavior. In each track the highest score won.",
        "about": _ABOUT_2022,
        "place": "Cosyne 2022, Cascais, Portugal",
        "contact": _CONTACT,
        "unknown": "The published documents that this site has name the first three models of the competition. They do "
        "not name the teams, other entries, the winners of the V1 and behavior tracks, or the organisers, do not say "
        "which of the other two models was second, and do not contain the scores at the time: winners were contacted "
        "individually. Most recordings can only be read with credentials of the platform: without them, this site "
        "cannot compute overall scores.",
        "pool": 6000,
        "awarded": datetime(2022, 12, 31, tzinfo=UTC),
    },
    "milestones": [
        {"kind": "deadline", "title": "Submissions until (23:59)", "announced": "2022-02-28"},
        {"kind": "other", "title": "Workshop", "announced": "March 21–22, 2022"},
    ],
    "tracks": [
        {
            "fields": {
                "title": "Overall",
                "text": "The highest mean of five components won: V1, V2, V4, IT and behavior.",
                "listed": _LISTING_2022,
                "prizes": "2000\n1250\n750",
                **_RULES_2022,
            },
            "awards": [{"fields": {"place": place, "title": name}, "entries": (name,)} for place, name in _MODELS_2022],
        },
        {
            "fields": {
                "title": "V1",
                "text": "The highest mean of two components won: neural predictivity, and response properties.",
                "listed": _V1_LISTING_2022,
                "prizes": "1000",
                **_RULES_2022,
            },
            "awards": [],
        },
        {
            "fields": {
                "title": "Behavior",
                "text": "The highest consistency with people for each image won, relative to the ceiling.",
                "listed": "\n".join(BEHAVIOR_2022),
                "prizes": "1000",
                **_RULES_2022,
            },
            "awards": [],
        },
    ],
}


MODELS_2024 = (
    "hmax",
    "alexnet",
    "CORnet-S",
    "resnet-50-robust",
    "voneresnet-50-non_stochastic",
    "resnet18-local_aggregation",
    "grcnn_robust_v1",
    "custom_model_cv_18_dagger_408",
    "ViT_L_32_imagenet1k",
    "mobilenet_v2_1.4_224 | mobilenet_v2_1_4_224",
    "pixels",
)
"""Models that benchmarks were scored on; other names of a model follow it."""

_ABOUT_2024 = """\
In 2022, models competed on the existing benchmarks. In 2024, the roles were reversed: critics who doubt that today's
models explain primate vision were asked to show it with a benchmark. The benchmarks with the lowest model scores won,
and shared $10,000.

## Entries

Behavioral or neural benchmarks of core object recognition, with new data or with a new combination of existing data and
metrics. A benchmark treats a model like another subject, and asks it only for what it can do:

- one of three tasks: labels of ImageNet, probabilities of labels, the odd one out;
- recordings (spike rates) from V1, V2, V4 or IT;
- static images, no videos;
- no temporal dynamics; a benchmark may choose its single time bin.

Other behavioral tasks could be suggested until April 2024.

## Submission

With an account on this site, by sending a ZIP file ([tutorial](/tutorials/submissions/)). New data were hosted by their
authors, or uploaded.

## Workshop

Authors of chosen entries presented their benchmarks at a workshop of the CCN conference.
"""

_CRITIQUES_2024 = (
    (
        "Testing on the same data over and over again can help modelers game the system.",
        "*On this site:* measurements can stay private: models are scored on them, but their authors do not see them. "
        "New benchmarks keep being added, and the scores on each are shown separately.",
    ),
    (
        "Why should we trust the Brain-Score rankings on these hand-picked benchmarks?",
        "*On this site:* the [leaderboard](/vision/leaderboard/) ranks models by any choice of benchmarks, and shows "
        "the differences between models with their uncertainty.",
    ),
    (
        "We need to test models on specific hypotheses, not observational data.",
        "*On this site:* a benchmark is an experiment: its stimuli and its metric can test a specific hypothesis, like "
        "the benchmarks of neuronal properties and of illusions do.",
    ),
    (
        "Why should models only hit specific benchmarks? I don't care about these benchmarks!",
        "*On this site:* everyone can [submit a benchmark](/tutorials/authoring/), and all models are scored on it.",
    ),
)
_ANSWER_2024 = """\
The 2024 competition was itself an answer: critics were invited to turn their objections into benchmarks, in the spirit
of an adversarial collaboration that shows where models and brains differ.
"""

_RULES_2024 = {
    "competes": "benchmarks",
    "wins": "lowest",
    "listed": "\n".join(MODELS_2024),
    "inapplicable": "leave out",
    "floor": 0.0,
    "prizes": "3000\n2000",
    "species": "human, non-human primate",
    "static_images": True,
    "single_time_bin": True,
}

COMPETITION_2024: dict[str, Any] = {
    "fields": {
        "year": 2024,
        "title": "Brain-Score Competition 2024",
        "summary": "Experimentalists were asked for benchmarks that show where current models of vision fail. In each "
        "track those with the lowest score won, averaged over eleven models.",
        "about": _ABOUT_2024,
        "critiques_answered": _ANSWER_2024,
        "place": "Conference on Cognitive Computational Neuroscience (CCN), MIT, Cambridge, MA",
        "contact": _CONTACT,
        "unknown": "The published documents that this site has do not contain other entries, their scores at the time, "
        "sponsors, the questions that were asked frequently, or the benchmark of “The Animate Space of Inanimate "
        "Perception”. They ask for a mean “as close as possible to 0”: here, a score below 0 counts as 0. Of a team "
        "with several benchmarks, the best one counts.",
        "pool": 10000,
        "awarded": datetime(2024, 8, 6, tzinfo=UTC),
    },
    "milestones": [
        {"kind": "other", "title": "Suggestions of other behavioral tasks", "announced": "until April"},
        {"kind": "deadline", "title": "Submissions until", "announced": "2024-06-30\n2024-07-08"},
        {"kind": "other", "title": "Workshop", "announced": "early August 2024\n2024-08-06"},
    ],
    "people": [
        {"role": "organiser", "name": "Martin Schrimpf", "affiliation": "EPFL"},
        {"role": "organiser", "name": "Kohitij Kar", "affiliation": "York University"},
    ],
    "programme": [
        {"time": "August 6, 2:00 pm", "title": "Competition findings", "people": "Martin Schrimpf"},
        {"time": "2:15 pm", "title": "Behavioral benchmark winners"},
        {
            "time": "2:15 pm (1)",
            "title": "Do Neural Networks Care How Parts are Arranged?",
            "people": "Nick Baker, James Elder",
        },
        {
            "time": "2:15 pm (2)",
            "title": "Brain-Score on Dotted Line Drawings and Textured Silhouettes",
            "people": "Marin Dujmović, Gaurav Malhotra, Jeff Bowers",
        },
        {"time": "2:30 pm", "title": "Neural benchmark winners"},
        {
            "time": "2:30 pm (1)",
            "title": "Strong amodal completion of occluded objects across early and high-level visual cortices",
            "people": "David Coggan",
        },
        {
            "time": "2:30 pm (2)",
            "title": "The Animate Space of Inanimate Perception",
            "people": "Andrea Ivan Costantino",
        },
        {"time": "3:00 pm", "title": "Pros and cons of model benchmarking", "people": "Kohitij Kar"},
        {
            "time": "3:10 pm",
            "title": "Panel discussion",
            "people": "Jenelle Feather, Dan Yamins, Kohitij Kar, Ev Fedorenko, Jeff Bowers, Eero Simoncelli; "
            "moderated by "
            "Jim DiCarlo",
        },
    ],
    "questions": [{"kind": "critique", "question": what, "answer": answer} for what, answer in _CRITIQUES_2024],
    "tracks": [
        {
            "fields": {
                "title": "Behavioral track",
                "text": "Benchmarks of the behavior of humans or other primates, in any task that models engage on "
                "(labels, probabilities, odd one out). The lowest mean score over all models wins: as close to 0 as "
                "possible.",
                "tasks": "label, probabilities, odd_one_out",
                **_RULES_2024,
            },
            "awards": [
                {
                    "fields": {
                        "place": 1,
                        "title": "Do Neural Networks Care How Parts are Arranged?",
                        "people": "Nick Baker, James Elder",
                        "prize": "$3,000",
                    },
                    "entries": tuple(
                        f"Baker2022{kind}-accuracy_delta" for kind in ("fragmented", "frankenstein", "inverted")
                    ),
                },
                {
                    "fields": {
                        "place": 2,
                        "title": "Brain-Score on Dotted Line Drawings and Textured Silhouettes",
                        "people": "Marin Dujmović, Gaurav Malhotra, Jeff Bowers",
                        "prize": "$2,000",
                    },
                    "entries": tuple(
                        f"BMD2024.{kind}Behavioral-accuracy_distance"
                        for kind in ("dotted_1", "dotted_2", "texture_1", "texture_2")
                    ),
                },
            ],
        },
        {
            "fields": {
                "title": "Neural track",
                "text": "Benchmarks of neural activity along the ventral visual stream of humans or other primates: "
                "V1, V2, V4, IT. The lowest mean score over all models wins: as close to 0 as possible.",
                "regions": "V1, V2, V4, IT",
                **_RULES_2024,
            },
            "awards": [
                {
                    "fields": {
                        "place": 1,
                        "title": "Strong amodal completion of occluded objects across early and high-level visual "
                        "cortices",
                        "people": "David Coggan",
                        "prize": "$3,000",
                    },
                    "entries": tuple(f"tong.Coggan2024_fMRI.{region}-rdm" for region in ("V1", "V2", "V4", "IT")),
                },
                {
                    "fields": {
                        "place": 2,
                        "title": "The Animate Space of Inanimate Perception",
                        "people": "Andrea Ivan Costantino",
                        "prize": "$2,000",
                    },
                    "entries": (),
                },
            ],
        },
    ],
}


PAST: dict[str, dict[str, Any]] = {"2022": COMPETITION_2022, "2024": COMPETITION_2024}
"""Past competitions by their names in addresses."""

_LISTS: tuple[tuple[str, Any], ...] = (
    ("milestones", Milestone),
    ("people", Person),
    ("programme", ProgrammeItem),
    ("questions", Question),
)


def create_past_competitions(*, using: str = "default") -> list[str]:
    """Create past competitions that are not in the database; return their names."""
    existing = set(Competition.objects.using(using).filter(slug__in=PAST).values_list("slug", flat=True))
    missing = [slug for slug in PAST if slug not in existing]
    for slug in missing:
        with transaction.atomic(using=using):
            _create_competition(slug, PAST[slug], using)
    return missing


def _create_competition(slug: str, content: dict[str, Any], using: str) -> None:
    competition = Competition.objects.using(using).create(slug=slug, published=True, **content["fields"])
    for name, table in _LISTS:
        table.objects.using(using).bulk_create(
            table(competition=competition, order=place, **values)
            for place, values in enumerate(content.get(name, ()), 1)
        )
    for place, fields in enumerate(content["tracks"], 1):
        track = Track.objects.using(using).create(competition=competition, order=place, **fields["fields"])
        for order, award in enumerate(fields["awards"], 1):
            _create_award(track, order, award, using)


def _create_award(track: Track, order: int, content: dict[str, Any], using: str) -> None:
    award = Award.objects.using(using).create(track=track, order=order, **content["fields"])
    for identifier in content["entries"] or ("",):
        entry = Entry.objects.using(using).create(
            track=track,
            team=content["fields"].get("people", ""),
            title=content["fields"]["title"],
            identifier=identifier,
            known=True,
            entered=None,  # the day is not known
        )
        award.entries.add(entry)
