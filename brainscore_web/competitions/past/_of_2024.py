"""The competition of 2024, as it was announced."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

__all__ = ["COMPETITION", "MODELS"]

MODELS = (
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
"""What benchmarks were scored on; other names that a model has behind it."""

_ABOUT = """\
Our ability to recognize objects in the world relies on visual processing along the ventral visual stream, a set
of hierarchically-organized cortical areas. Recently, machine-learning researchers and neuroscientists have
produced computational models that have achieved moderate success at explaining primate object recognition
behavior and the neural representations that support it. This second edition of the Brain-Score Competition aims
to find benchmarks on which the predictions of our current top models break down.

In 2022, the first Brain-Score Competition led to new and improved models of primate vision that predicted
existing benchmarks reasonably well. In this year's Brain-Score Competition 2024, we will close the loop on
testing model predictions by rewarding those benchmarks that show where models are the least aligned to the
primate visual ventral stream. The Competition is open to the scientific community and we provide an
infrastructure to evaluate a variety of models on new behavioral and neural benchmarks in a standardised and
unified manner. In addition, we will incentivize benchmark submissions by providing visibility to participants
and a $10,000 prize pool to the winning benchmarks.

## Overview

Participants should submit their benchmarks through the Brain-Score platform. Brain-Score currently accepts any
benchmark engaging on testing model predictions of core object recognition behavior and neural responses (spike
rates) along the ventral visual stream areas. We encourage all submissions of behavioral and neural benchmarks.
To facilitate benchmark submission, we provide helper code and [tutorials](/tutorials/). You can also use
existing datasets or metrics and re-combine them in novel ways. Note that by using the Brain-Score platform, no
model knowledge is required – you can treat them like another primate subject.

Benchmarks have to use models in their current "operating regime". This means that there are three behavioral
tasks (imagenet-labeling, probabilities, odd-one-out), and four brain regions to record from (V1, V2, V4, IT).
Until April, we will accept suggestions of other behavioral tasks provided you work with us to make sure the
models can engage on them. The stimuli should be static images (e.g. no videos this round). In this round,
benchmarks should not test temporal dynamics (but you can still specify a single "time_bin" from the models to
record from.)

## Workshop

We will organize a workshop as part of the CCN conference at MIT in Cambridge, MA in early August 2024. This
workshop will serve to bring the community interested in testing and building models of brain processing
together. We will invite selected participants in the Brain-Score competition to present their benchmarking work
during the workshop.

## Tutorial

To enter the competition, create an account on the Brain-Score website and submit a benchmark. You can submit a
benchmark by sending in a zip file on the website. For new datasets, you can either host yourself or reach out
to us and we will give you access to S3. Please check our overview tutorials as well as our full length
[tutorial](/tutorials/authoring/) for detailed information about the submission process.
"""

_CRITIQUES = (
    (
        "Testing on the same data over and over again can help modelers game the system.",
        "*On this site:* measurements can stay private – models are scored on them, their authors do not see them – "
        "and new "
        "benchmarks keep coming in; scores on each are shown for themselves.",
    ),
    (
        "Why should we trust the Brain-Score rankings on these hand-picked benchmarks?",
        "*On this site:* the [leaderboard](/vision/leaderboard/) ranks by any choice of benchmarks, and shows how far "
        "apart models are with their uncertainty.",
    ),
    (
        "We need to test models on specific hypotheses, not observational data.",
        "*On this site:* a benchmark is an experiment: its stimuli and its metric can test one hypothesis, as "
        "benchmarks "
        "of neuronal properties and of illusions do.",
    ),
    (
        "Why should models only hit specific benchmarks? I don't care about these benchmarks!",
        "*On this site:* everybody can [submit a benchmark](/tutorials/authoring/); all models are scored on it.",
    ),
)
_ANSWER = """\
These and others are common critiques in our community of the Brain-Score platform. We hear you!

We take pride in developing and making openly available an integrative benchmarking platform that allows the
community to operationalize and actively engage on this and other feedback. In 2022, we organized the first
Brain-Score competition for model submissions in which we evaluated the models on our existing benchmarks. In
2024 – we have turned the table! This year, in the spirit of an adversarial collaboration – we invite
experimentalists and the community at large to turn their legitimate concerns into concrete benchmarks that will
challenge and hopefully expose the explanatory gaps between our current models of primate vision and the
biological brain.
"""

_RULES = {
    "competes": "benchmarks",
    "wins": "lowest",
    "listed": "\n".join(MODELS),
    "inapplicable": "leave out",
    "floor": 0.0,
    "prizes": "3000\n2000",
    "species": "human, non-human primate",
    "static_images": True,
    "single_time_bin": True,
}

COMPETITION: dict[str, Any] = {
    "fields": {
        "year": 2024,
        "title": "Brain-Score Competition 2024",
        "summary": "Experimentalists were asked for benchmarks that show where current models of vision fail. In each "
        "track those with the lowest score won, averaged over eleven models.",
        "about": _ABOUT,
        "critiques_answered": _ANSWER,
        "place": "Conference on Cognitive Computational Neuroscience (CCN), MIT, Cambridge, MA",
        "contact": "We recommend that participants join our Slack Workspace and follow Brain-Score on Twitter for any "
        "questions, updates, benchmark support, and other assistance.",
        "unknown": "Not in the documents at hand: what else was entered, when, the scores and means of then, "
        "sponsors, and "
        "the questions that were often asked. Standings are computed from the scores of this site. Of a team with "
        "several "
        "benchmarks the best counts here; “as close as possible to 0” is read so that a score below 0 counts as 0.",
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
    "questions": [{"kind": "critique", "question": what, "answer": answer} for what, answer in _CRITIQUES],
    "tracks": [
        {
            "fields": {
                "title": "Behavioral track",
                "text": "This track will reward those benchmarks that show-case model short-comings in predicting "
                "behavior "
                "(human or non-human primate). The winning submissions will be the behavioral benchmarks with the "
                "lowest "
                "model scores, mean-averaged over all models, i.e. as close as possible to 0. The benchmarks can "
                "target any "
                "behavioral task that the models engage on (labeling, class probabilities, odd-one-out).",
                "tasks": "label, probabilities, odd_one_out",
                **_RULES,
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
                "text": "This track will reward those benchmarks that show-case model short-comings in predicting "
                "neural "
                "activity across the primate visual ventral stream. The winning submissions will be the neural "
                "benchmarks "
                "with the lowest model scores, mean-averaged over all models, i.e. as close as possible to 0. The "
                "benchmarks "
                "can target any region(s) in the visual ventral stream: V1, V2, V4, IT. Brain recordings can be "
                "from human "
                "or non-human primates.",
                "regions": "V1, V2, V4, IT",
                "notes": "Which benchmark “The Animate Space of Inanimate Perception” is, is not known here.",
                **_RULES,
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
