"""A site with plugins that were published, without the steps before."""

from brainscore_core.submission import read_zip
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions.models import Plugin, Revision, Step, Submission

from .._plugins import zipped

SIMULATED = ("Simulated2026.V1-rdm", "Simulated2026.IT-rdm")


def submit(owner, files, **values):
    """A submission, or a further revision of one, with its files."""
    package = read_zip(zipped(files))
    archive = package.to_zip()
    submission = values.pop("submission", None)
    if submission is None:
        submission = Submission.objects.create(owner=owner, title="tiles", state="scoring", **values)
    submission.state = "scoring"
    submission.save()
    number = submission.revisions.count() + 1
    plugins = [
        {
            "kind": plugin.kind,
            "name": plugin.name,
            "registrations": [
                {"registry": one.registry, "key": one.key, "line": one.line} for one in plugin.registrations
            ],
        }
        for plugin in package.plugins
    ]
    revision = Revision.objects.create(
        submission=submission, number=number, by=owner, archive=archive, digest=package.digest, size=len(archive),
        plugins=plugins,
    )  # fmt: skip
    for order, kind in enumerate(Step.Kind.values):
        state = "running" if kind == "score" else "passed"
        Step.objects.create(revision=revision, kind=kind, order=order, state=state)
    return submission


def publish(submission):
    """Let the newest revision be live, with rows for its models and benchmarks."""
    revision = submission.latest
    for plugin in revision.plugins:
        keys = [one["key"] for one in plugin["registrations"]]
        Plugin.objects.update_or_create(
            kind=plugin["kind"], name=plugin["name"],
            defaults={"revision": revision, "owner": submission.owner, "identifiers": keys},
        )  # fmt: skip
        for key in keys:
            if plugin["kind"] == "models":
                values = {"owner": submission.owner, "visibility": submission.visibility, "plugin": plugin["name"]}
                VisionModel.objects.get_or_create(identifier=key, defaults=values)
            elif plugin["kind"] == "benchmarks":
                parent = Benchmark.objects.filter(identifier="V1").first()
                Benchmark.objects.get_or_create(identifier=key, defaults={"parent": parent, "owner": submission.owner})
    return submission


def in_tree(models=("pixels",), benchmarks=SIMULATED):
    """Rows of the platform's own."""
    made = [VisionModel.objects.get_or_create(identifier=name)[0] for name in models]
    return made, [
        Benchmark.objects.get_or_create(identifier=name, defaults={"access": "public"})[0] for name in benchmarks
    ]
