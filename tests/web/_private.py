"""What else a site has to hide: a private model's submission that is live, its pairs and what they printed, drafts."""

from __future__ import annotations

import hashlib
import uuid

from brainscore_core.domains import domain
from brainscore_web.accounts.models import User
from brainscore_web.competitions.models import Competition, Entry, Snapshot, Track
from brainscore_web.jobs.models import Email
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.pages.models import News
from brainscore_web.scoring.models import Job
from brainscore_web.snapshots.freezing import freeze
from brainscore_web.submissions.models import Comment, Plugin, PublishedVersion, Revision, Step, Submission

from ._assessments import audit, controls, ingest, make_assessment, recovery
from ._people import PUBLIC, SECRET, WITHHELD, Site
from ._plugins import model_files, zipped

KEY = uuid.UUID(int=0x5EC12E7)
CODE = {"kind": "models", "name": "serval", "sha256": "5e" * 32}
"""The private model's code, which is live."""
FAILED = "20240503T000000000000Z-fa11edfa11ed"
"""Receipt of a public model that printed withheld stimuli into its error."""

OF_SUBMISSION = ("tamandua", "serval", "dhole", "fossa", "kudu", "saiga")
"""In files, notes, logs, comments, letters and pairs of the private model's submission."""
OF_DRAFTS = ("axolotl-cup", "olingo")
"""Of a competition and of news that nobody sees yet."""
PRINTED = ("tarsier",)
"""What models said that had seen withheld stimuli."""


def add_private(site: Site) -> dict[str, list[dict[str, object]]]:
    """Make them for `site`; how to ask for each, by the name of the view."""
    owner, reviewer = site.people["owner"], site.people["administrator"]
    pairs = _submission(owner, reviewer)
    draft = Competition.objects.create(slug="axolotl-cup", year=2032, title="Olingo", summary="olingo")
    track = Track.objects.create(competition=draft, title="Olingo", listed=PUBLIC)
    entry = Entry.objects.create(track=track, identifier=SECRET, by=owner, entered=draft.deadline_end)
    frozen = Snapshot.objects.create(competition=draft, document={"tracks": [], "currency": "$", "title": "olingo"})
    News.objects.create(slug="open", title="Open", body="Open", draft=False)  # else the feed's date is that of asking
    News.objects.create(slug="olingo", title="Olingo", body="olingo", draft=True)
    printed = _printed(site)
    _assessed()
    view = freeze(site.people["other"], domain("vision"), BoardState(), title="All models", authors=["Lovelace, Ada"])
    whole, one = {"key": KEY}, {"key": KEY, "number": 1}
    cup, of_track = {"slug": "axolotl-cup"}, {"slug": "axolotl-cup", "key": track.pk}
    asked: dict[str, list[dict[str, object]]] = {
        **{
            f"submissions:{name}": [whole]
            for name in ("show", "progress", "revise", "withdraw", "cancel", "visibility")
        },
        "submissions:retry": [{**whole, "step": "check"}],
        **{f"submissions:{name}": [one] for name in ("code", "changes", "archive")},
        **{f"review:{name}": [whole] for name in ("newest", "claim")},
        "review:resolve": [{**whole, "comment": Comment.objects.get().pk}],
        **{f"review:{name}": [one] for name in ("show", "file", "changes", "judge", "comment")},
        **{f"scoring:{name}": [{"pk": pk} for pk in (*pairs, printed)] for name in ("job", "retry", "cancel")},
        **{f"scoring:{name}": [whole] for name in ("submission", "cancel-all")},
        **{
            f"api:{name}": [{"submission": KEY}]
            for name in ("show_submission", "submission_archive", "create_revision", "withdraw_submission")
        },
        **{
            f"competitions:{name}": [cup]
            for name in (
                *("show", "standings-csv", "standings-json", "manage", "texts", "new-track", "publish", "freeze"),
                *("take-winners", "announce", "team", "mail"),
            )
        },
        **{f"snapshots:{name}": [{"key": view.key}] for name in ("show", "json", "csv", "bibtex", "deposit")},
        "snapshots:task": [{"key": KEY}],
        "competitions:frozen": [{**cup, "key": frozen.pk}],
        "competitions:enter": [{**cup, "track": track.pk}],
        "competitions:join": [{**cup, "invitation": "olingo"}],
        "competitions:unsubscribe": [{**cup, "key": "1:olingo"}],
        "competitions:withdraw": [{**cup, "entry": entry.pk}],
        "competitions:section": [{**cup, "name": "dates"}],
        **{f"competitions:{name}": [of_track] for name in ("track", "awards", "add-entry")},
        "competition-of-year": [{"year": 2024}, {"year": 2032}],
        "published:newest": [{"kind": "models", "name": "serval"}, {"kind": "models", "name": "pixels"}],
        **{f"published:{name}": [CODE] for name in ("show", "archive")},
        "pages:news-one": [{"slug": "olingo"}],
        "pages:page": [{"name": "olingo"}],
    }
    return asked


def remove_private() -> None:
    """Take them away again, as if they had never been."""
    Plugin.objects.all().delete()
    Submission.objects.all().delete()
    Job.objects.filter(model__identifier=SECRET).delete()
    Snapshot.objects.filter(competition__slug="axolotl-cup").delete()
    Entry.objects.filter(track__competition__slug="axolotl-cup").delete()
    Competition.objects.filter(slug="axolotl-cup").delete()
    News.objects.filter(slug="olingo").delete()


def _submission(owner: User, reviewer: User) -> list[int]:
    files = model_files(SECRET, name="serval")
    files["models/serval/model.py"] += "\n# kudu\n"
    archive = zipped(files)
    row = Submission.objects.create(pk=KEY, owner=owner, title="serval", visibility="private", state="scoring")
    revision = Revision.objects.create(
        submission=row, number=1, by=owner, note="tamandua", archive=archive, size=len(archive),
        digest=hashlib.sha256(archive).hexdigest(), address="serval.zip",
        plugins=[{"kind": "models", "name": "serval", "registrations": [
            {"registry": "model_registry", "key": SECRET, "line": 1}]}],
        findings=[{"severity": "note", "check": "saiga", "file": "models/serval/model.py", "line": 1,
                   "message": "saiga", "remedy": ""}],
    )  # fmt: skip
    states = {"check": "passed", "test": "passed", "review": "skipped", "publish": "passed", "score": "running"}
    for order, (kind, state) in enumerate(states.items()):
        Step.objects.create(revision=revision, kind=kind, order=order, state=state, log="fossa", reason="fossa")
    Comment.objects.create(revision=revision, author=reviewer, path="models/serval/model.py", line=1, text="saiga")
    Email.objects.create(to=owner, submission=row, subject="serval", body="tamandua")
    code = {"kind": "models", "name": "serval", "revision": revision, "code": CODE["sha256"]}
    Plugin.objects.create(**code, owner=owner, identifiers=[SECRET])
    PublishedVersion.objects.create(**code, licence="kudu")
    model = VisionModel.objects.get(identifier=SECRET)
    made = []
    for name, state in ((PUBLIC, "failed"), (WITHHELD, "waiting"), ("Simulated003.IT-pls", "running")):
        benchmark = Benchmark.objects.filter(identifier=name).first() or Benchmark.objects.filter(is_mean=False).last()
        job = Job.objects.create(
            model=model, benchmark=benchmark, why="new model", state=state, reason="dhole", log="dhole"
        )
        job.submissions.add(row)
        made.append(job.pk)
    return made


def _printed(site: Site) -> int:
    """A public model that failed on withheld data, and said what it had seen."""
    model = VisionModel.objects.get(identifier=site.models[1])
    benchmark = Benchmark.objects.get(identifier=WITHHELD)
    said = "ValueError: tarsier"
    document = {
        "id": FAILED, "model": {"identifier": model.identifier}, "benchmark": {"identifier": WITHHELD},
        "state": "failed", "reason": said, "notes": ["the model ran in a cage: tarsier", "tarsier"],
        "error": {"type": "ValueError", "message": "tarsier", "traceback": "tarsier"},
        "weights": [{"identifier": "tarsier", "sha256": "0" * 64}], "seeds": {"tarsier": 1}, "device": "tarsier",
        "data": [{"kind": "tarsier", "identifier": "tarsier", "plugin": None}],
        "files": [{"url": "https://tarsier.example/", "sha1": "0" * 40}],
    }  # fmt: skip
    last = Score.objects.filter(benchmark=benchmark).order_by("-created").first()
    Score.objects.create(
        receipt=FAILED, model=model, benchmark=benchmark, version=benchmark.version, state="failed", reason=said,
        created=last.created, document=document,
    )  # fmt: skip
    job = Job.objects.create(
        model=model, benchmark=benchmark, why="new model", state="failed", reason=said, log="tarsier", receipt=FAILED
    )
    return job.pk


def _assessed() -> None:
    """The private model assessed and asked about on public data; an audit and questions of withheld data."""
    said = audit()
    said["notes"] = said["copies"][0]["examples"] = ["tarsier"]
    said["pairs"][0] |= {"first": "tarsier", "first_path": "tarsier.png"}
    said["losses"][1]["reason"] = "ValueError: tarsier"
    candidates = ("pixels", SECRET)
    private = {"benchmark": PUBLIC, "version": None, "text": "lemur"}
    withheld = {"benchmark": WITHHELD, "version": None, "settings": {"stimuli": "tarsier"}}
    ingest(
        make_assessment("controls", controls(SECRET), models=(SECRET,), **private),
        make_assessment("recovery", recovery(candidates), models=candidates, **private),
        make_assessment("audit", said, benchmark=WITHHELD, version=None, text="tarsier", settings={"list": "tarsier"}),
        make_assessment("controls", benchmark=WITHHELD, state="failed", reason="ValueError: tarsier"),
        make_assessment("question", {"question": "lemur"}, models=(SECRET,), **private),
        make_assessment("question", {"question": "tarsier"}, models=("pixels",), **withheld),
        make_assessment("explanation", {"shares": [{"label": "tarsier"}]}, models=("pixels",), **withheld),
        make_assessment("recovery", benchmark=WITHHELD, state="not applicable", reason="tarsier", models=("pixels",)),
    )
