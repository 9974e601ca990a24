"""What pages say to a stranger on small sites: empty, with control benchmarks only, sparse, full, and with gaps.

On each site except the empty one, the owner of a submission has a private model that is better than all others. Nothing
that a stranger reads may depend on it.
"""

import html
import re
from datetime import UTC, datetime

import numpy as np
import pytest
from allauth.account.models import EmailAddress

from brainscore_core.numerics.influence import ScoreInfluence, unit_influence
from brainscore_core.numerics.means import ASSUMPTION
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.influence import pack, write_influences
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Revision, Step, Submission

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 1, tzinfo=UTC)
MEANS = (("average_vision", None, "Global Score"), ("V1", "average_vision", ""), ("IT", "average_vision", ""))
SITES = {
    "empty": {},
    "controls": {f"Control2026.{number}": "control" for number in range(4)},
    "sparse": {f"Wide2026.{region}-{number}": region for region in ("V1", "IT") for number in range(5)},
    "full": {f"Small2026.{region}-{number}": region for region in ("V1", "IT") for number in range(2)},
    "gaps": {f"Small2026.{region}-{number}": region for region in ("V1", "IT") for number in range(2)},
}
"""Benchmarks of each site, with their parents."""
SCORED = {"controls": (4, 4), "sparse": (2, 1), "full": (4, 4), "gaps": (4, 3)}
"""On how many of the benchmarks the two public models, alpha and beta, are scored."""


def build(site):
    """Fill the database; return the submission of the private model, if there is one."""
    benchmarks = SITES[site]
    if not benchmarks:
        return None
    nodes = {}
    for identifier, parent, title in MEANS:
        nodes[identifier] = Benchmark.objects.create(
            identifier=identifier, is_mean=True, parent=nodes.get(parent), title=title
        )
    for identifier, parent in benchmarks.items():
        control = parent == "control"
        nodes[identifier] = Benchmark.objects.create(
            identifier=identifier, version="1", parent=nodes.get(parent), in_tree=not control, control=control,
            access="public", title=f"A title of {identifier}", metric="pls", species="macaque",
            region="" if control else parent,
        )  # fmt: skip
        BenchmarkVersion.objects.create(benchmark=nodes[identifier], version="1", since=NOW, ceiling=0.9)
    owner = User.objects.create_user("olga@example.org", "correct horse battery", display_name="Olga")
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    secret = VisionModel.objects.create(identifier="secret", visibility="private", owner=owner)
    models = {name: VisionModel.objects.create(identifier=name, visibility="public") for name in ("alpha", "beta")}
    first, second = SCORED[site]
    for model, n, value in ((models["alpha"], first, 0.5), (models["beta"], second, 0.3), (secret, 10, 0.7)):
        Score.objects.bulk_create(
            Score(
                receipt=f"{model}-{identifier}", model=model, benchmark=nodes[identifier], version="1", state="scored",
                value=value, error=0.01, low=value - 0.02, high=value + 0.02, created=NOW,
            )
            for identifier in list(benchmarks)[:n]
        )  # fmt: skip
    if site == "gaps":  # models can be compared, and may be equal
        rng = np.random.default_rng(0)
        rows = []
        for score in Score.objects.exclude(model=secret).order_by("pk"):
            units = unit_influence("stimuli", "Small2026", range(20), 0.1 * rng.standard_normal(20))
            rows.append(pack(ScoreInfluence(score.value, (units,))))
            rows[-1].score = score
        write_influences(rows)
    submission = Submission.objects.create(owner=owner, title="secret", visibility="private", state="done")
    latest = Revision.objects.create(submission=submission, number=1, by=owner, archive=b"", digest="0" * 64, size=0)
    counts = {"scored": len(benchmarks), "failed": 0, "not_run": 0}
    for place, kind in enumerate(Step.Kind.values):
        Step.objects.create(
            revision=latest, kind=kind, order=place, state="skipped" if kind == "review" else "passed", ended=NOW,
            result=counts if kind == "score" else {},
        )  # fmt: skip
    for identifier in benchmarks:
        job = Job.objects.create(
            model=secret, benchmark=nodes[identifier], why="new model", state="scored", ended=NOW,
            receipt=f"secret-{identifier}",
        )  # fmt: skip
        job.submissions.add(submission)
    revision.bump()
    return submission


def text_of(answer):
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", answer.content.decode(), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


HOME, BOARD, LIST, COMPARE = "/", "/vision/leaderboard/", "/vision/models/", "/vision/compare/?mode=models"
ALPHA, BETA, MEAN, SCORING = (
    "/vision/model/alpha/", "/vision/model/beta/", "/vision/benchmark/average_vision/", "/scoring/",
)  # fmt: skip
CONTROL, WIDE, SMALL = (f"/vision/benchmark/{name}/" for name in ("Control2026.0", "Wide2026.V1-0", "Small2026.V1-0"))
SENTENCES = {
    "empty": {
        HOME: (["There are no scores yet."], ["ranked", "Scores, of"]),
        BOARD: (["0 of 0 models, 0 of 0 benchmarks", "No model has been scored yet."], ["outside of the averages"]),
        LIST: (["0 of 0 models with results"], []),
        COMPARE: (["there are no scores to compare yet"], []),
        SCORING: (["No pair is running.", "No pair has ended recently."], []),
    },
    "controls": {
        HOME: (
            [
                "2 models, 4 benchmarks, 8 scores of 8 pairs.",
                "The benchmarks with scores are outside of the averages, so no",
            ],
            ["at least half", "no scores"],
        ),
        BOARD: (
            ["2 of 2 models, 4 of 4 benchmarks", "outside of the averages: models are not ranked by them."],
            ["Ranks are", "few too few", "scored on at least"],
        ),
        f"{BOARD}?q=beta": (["1 of 2 models", "1 of 2 models of this board is shown."], []),
        LIST: (["2 of 2 models with results"], []),
        ALPHA: (["Scored on 4 benchmarks outside of the averages."], ["has not been scored", "Global Score"]),
        CONTROL: (["Median 0.400 of 2 models", "Highest score first."], ["No model", "Global Score"]),
        MEAN: (["No model has been scored on enough of the benchmarks for this mean."], ["on this benchmark"]),
        COMPARE: (["alpha − beta 4 benchmarks: 0 wins"], ["remove filters", "no benchmark", "count as 0"]),
        SCORING: (["No pair has ended recently."], []),
    },
    "sparse": {
        HOME: (
            [
                "2 models, 10 benchmarks, 3 scores of 20 pairs.",
                "No model has been scored on at least half of the benchmarks of Global Score, so no",
            ],
            ["Benchmarks scored"],
        ),
        BOARD: (
            [
                "2 of 2 models, 10 of 10 benchmarks, 2 with scores; 0 ranked",
                "Show all 10 benchmarks, also those without a score",
                "About Wide2026.V1-1",
                "No model was scored on at least 50 %",
                "2 of 10",
                "1 of 10",
            ],
            ["Ranks are by", "0.100", "0.030", "About Wide2026.V1-2", "About Wide2026.IT-"],
        ),
        f"{BOARD}?empty=1": (["Show only benchmarks with scores", "10 of 10 benchmarks; 0 ranked"], ["with scores; 0"]),
        f"{BOARD}?q=beta": (["None of these models was scored on at least 50 %", "among all 2"], []),
        f"{BOARD}?region=V1": (["Mean of 5 benchmarks"], ["Close Global Score"]),
        f"{BOARD}?coverage=0": (["Ranks are by Global Score", "0.100", "2 of 10"], ["few too few"]),
        LIST: (["alpha – 2 of 10", "beta – 1 of 10"], []),
        ALPHA: (["Global Score – 2 of 10 benchmarks scored", "Wide2026.V1-0 0.500 (0.480–0.520)"], ["0.100", "yet"]),
        BETA: (["Global Score – 1 of 10 benchmarks scored", "missing : 9"], ["0.030", "rank 2"]),
        WIDE: (["Median 0.400 of 2 models"], ["No model"]),
        MEAN: (["No model has been scored on enough of the benchmarks", "too few scores : 2 models"], ["0.100"]),
        COMPARE: (["alpha − beta 1 benchmark: 0 wins", "9 benchmarks without both scores"], ["count as 0"]),
        SCORING: (["No pair has ended recently."], []),
    },
    "full": {
        HOME: (
            [
                "8 scores of 8 pairs.",
                "Rank 1: alpha, 0.500",
                "Rank 2: beta, 0.300, scored on 4 of 4",
                "Of 2 models, 2 are ranked",
            ],
            ["No model", "no model is ranked"],
        ),
        BOARD: (
            ["2 of 2 models, 4 of 4 benchmarks", "Ranks are by Global Score; not tested"],
            ["too few alpha", "without a rank."],
        ),
        f"{BOARD}?q=beta": (["2 beta", "1 of 2 models of this board is shown. Ranks are among all 2"], ["1 beta"]),
        f"{BOARD}?models=beta": (["2 beta"], ["1 beta"]),
        f"{BOARD}?region=IT": (["Mean of 2 benchmarks", "1 alpha", "2 beta"], ["Close Global Score"]),
        LIST: (["alpha 1 0.500 4 of 4", "beta 2 0.300 4 of 4"], []),
        ALPHA: (
            ["Global Score 0.500 rank 1 of 2 4 of 4 benchmarks scored"],
            ["not been scored", "without a score count as 0 until"],
        ),
        BETA: (["Global Score 0.300 rank 2 of 2"], []),
        SMALL: (["V1, macaque, PLS regression", "1 alpha 0.500 (0.480–0.520)"], ["withheld"]),
        MEAN: (["Best model 0.500 alpha", "2 beta 0.300 4 of 4"], ["No model"]),
        COMPARE: (["alpha − beta 4 benchmarks: 0 wins, 0 ties, 0 losses of alpha, 4 untested"], ["count as 0"]),
        f"{COMPARE}&models=beta&models=alpha": (["beta − alpha"], ["alpha − beta"]),
        SCORING: (["No pair has ended recently."], []),
    },
    "gaps": {
        HOME: (
            [
                "Rank 1, possible ranks 1–2: alpha, 0.500",
                "Rank 2, possible ranks 1–2: beta, 0.225",
                f"Models that share a letter do not differ significantly. {ASSUMPTION}",
            ],
            [],
        ),
        BOARD: (
            [
                "1 (1–2) a alpha 4 of 4",
                "2 (1–2) a beta 3 of 4",
                "Models are tested in pairs on the benchmarks that both have",
                f"none of these findings is an error. {ASSUMPTION}",
                "Pairs that share too little are not distinguished.",
            ],
            ["not tested:", "lack the data", "is not tested"],
        ),
        f"{BOARD}?q=beta": (["2 (1–2) a beta", "Ranks are among all 2"], ["1 beta"]),
        f"{BOARD}?region=IT": (["Ranks are by Mean of 2 benchmarks; not tested"], ["(1–2)"]),
        f"{BOARD}?over=scored": (
            [
                "1 alpha",
                "not tested: the mean of each model is over the scores that it has here",
                "nor are ranks by them",
            ],
            ["(1–2)", "none of these findings"],
        ),
        LIST: (["alpha 1 (1–2) 0.500", "beta 2 (1–2) 0.225", ASSUMPTION], []),
        ALPHA: (["rank 1 of 2 (1–2) group a", ASSUMPTION], []),
        BETA: (["rank 2 of 2 (1–2) group a"], []),
        MEAN: (
            [f"models are tested in pairs on the benchmarks that both have. {ASSUMPTION}", "1 1–2 alpha", "2 1–2 beta"],
            [],
        ),
        COMPARE: (
            ["alpha − beta 3 benchmarks: 0 wins", "1 benchmark without both scores", ASSUMPTION],
            ["untested: 3"],
        ),
    },
}
"""What a stranger reads on each page, and does not read."""
NEVER = ("secret", "Olga", "0.700", "A title of")
"""The private model, its owner and its scores; and the title of a benchmark, which pages call by its identifier."""


@pytest.mark.parametrize("site", SENTENCES)
def test_what_a_stranger_reads(site, client):
    submission = build(site)
    for address, (expected, absent) in SENTENCES[site].items():
        text = text_of(client.get(address))
        for sentence in expected:
            assert sentence in text, (address, text)
        for sentence in (*absent, *NEVER):
            assert sentence not in text, (address, sentence)
    if submission is not None:
        page = client.get(f"/submissions/{submission.pk}/")
        assert (page.status_code, page["Location"].partition("?")[0]) == (302, "/accounts/login/")


@pytest.mark.parametrize("site", ["controls", "sparse", "full", "gaps"])
def test_what_the_submitter_reads(site, client):
    submission = build(site)
    client.force_login(submission.owner)
    text, n = text_of(client.get(f"/submissions/{submission.pk}/")), len(SITES[site])
    for sentence in (
        "It is done. The scores are below and on the leaderboard.",
        "✓ Scoring done",
        f"{n} of {n} ended: {n} scored.",
        f"secret {next(iter(SITES[site]))} 0.700 (0.680–0.720) Receipt of secret on {next(iter(SITES[site]))} scored",
    ):
        assert sentence in text, text
    assert text.count("0.700 (0.680–0.720)") == n
    scoring = text_of(client.get(SCORING))
    assert scoring.count("0.700 (0.680–0.720)") == n
    job = text_of(client.get(f"/scoring/{Job.objects.first().pk}/"))
    assert "Score (95 % interval) 0.700 (0.680–0.720)" in job
    assert "3 of 3 models" in text_of(client.get(BOARD))
    card = text_of(client.get("/vision/model/secret/"))
    assert ("Global Score 0.700 rank 1 of" in card) is (site != "controls")
    assert "Only you and the administrators can see this model." in card
