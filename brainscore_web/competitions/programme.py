"""The competitions there have been: dates, tracks, prizes, winners."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COMPETITIONS", "Competition", "Entry", "Talk", "Track"]


@dataclass(frozen=True)
class Entry:
    """Something that won: its place, what it is called, whose it is, and benchmarks here that come from it."""

    place: int
    title: str
    people: str
    benchmarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Track:
    """What competes with what."""

    title: str
    rule: str
    prizes: tuple[str, ...] = ()
    winners: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Talk:
    """An item of a programme."""

    time: str
    title: str
    people: str = ""


@dataclass(frozen=True)
class Competition:
    """One competition.

    Attributes
    ----------
    year : int
        When it was held.
    title, summary : str
        What it was about.
    dates : tuple of (str, str, str)
        What; when, as announced at first, empty if it did not change; when.
    tracks : tuple of Track
        What was ranked.
    models : tuple of str
        The models that benchmarks were ranked by.
    place : str
        Where the workshop was; its day.
    programme : tuple of Talk
        Of the workshop.
    """

    year: int
    title: str
    summary: str
    dates: tuple[tuple[str, str, str], ...] = ()
    tracks: tuple[Track, ...] = ()
    models: tuple[str, ...] = ()
    place: str = ""
    programme: tuple[Talk, ...] = ()


COMPETITIONS = (
    Competition(
        year=2024,
        title="Benchmarks that break models",
        summary=(
            "Experimentalists were asked for benchmarks that show where current models of vision fail. Of each track "
            "those with the lowest score won, averaged over eleven models."
        ),
        dates=(("Submissions until", "June 30, 2024", "July 8, 2024"), ("Workshop", "", "August 6, 2024")),
        tracks=(
            Track(
                "Behavioral",
                "Behaviour of humans or other primates: naming, class probabilities, or odd one out. "
                "Lowest mean score.",
                ("$3,000", "$2,000"),
                (
                    Entry(
                        1,
                        "Do Neural Networks Care How Parts are Arranged?",
                        "Nick Baker, James Elder",
                        tuple(f"Baker2022{kind}-accuracy_delta" for kind in ("fragmented", "frankenstein", "inverted")),
                    ),
                    Entry(
                        2,
                        "Brain-Score on Dotted Line Drawings and Textured Silhouettes",
                        "Marin Dujmović, Gaurav Malhotra, Jeff Bowers",
                        tuple(
                            f"BMD2024.{kind}Behavioral-accuracy_distance"
                            for kind in ("dotted_1", "dotted_2", "texture_1", "texture_2")
                        ),
                    ),
                ),
            ),
            Track(
                "Neural",
                "Recordings from V1, V2, V4 or IT of humans or other primates; static images, one time bin. "
                "Lowest mean score.",
                ("$3,000", "$2,000"),
                (
                    Entry(
                        1,
                        "Strong amodal completion of occluded objects across early and high-level visual cortices",
                        "David Coggan",
                        tuple(f"tong.Coggan2024_fMRI.{region}-rdm" for region in ("V1", "V2", "V4", "IT")),
                    ),
                    Entry(2, "The Animate Space of Inanimate Perception", "Andrea Ivan Costantino"),
                ),
            ),
        ),
        models=(
            "hmax",
            "alexnet",
            "CORnet-S",
            "resnet-50-robust",
            "voneresnet-50-non_stochastic",
            "resnet18-local_aggregation",
            "grcnn_robust_v1",
            "custom_model_cv_18_dagger_408",
            "ViT_L_32_imagenet1k",
            "mobilenet_v2_1.4_224",
            "pixels",
        ),
        place="Conference on Cognitive Computational Neuroscience, MIT, Cambridge (MA)",
        programme=(
            Talk("2:00 pm", "Competition findings", "Martin Schrimpf"),
            Talk("2:15 pm", "Winners of the behavioral track"),
            Talk("2:30 pm", "Winners of the neural track"),
            Talk("3:00 pm", "Pros and cons of model benchmarking", "Kohitij Kar"),
            Talk(
                "3:10 pm",
                "Panel discussion",
                "Jenelle Feather, Dan Yamins, Kohitij Kar, Ev Fedorenko, Jeff Bowers, Eero Simoncelli; moderated by "
                "Jim DiCarlo",
            ),
        ),
    ),
    Competition(
        year=2022,
        title="Models of primate vision",
        summary="Modellers were asked for models that predict the benchmarks there were: overall, of V1, of behavior.",
        tracks=(
            Track(
                "Overall, V1, behavior",
                "Highest mean over 33 benchmarks, or over those of V1 or of behavior among them; one entry a team.",
            ),
        ),
    ),
)
"""The newest first."""
