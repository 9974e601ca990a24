"""Who may do what at the pages of submissions: the format of TABLE in tests/web/test_authorisation.py."""

import uuid

from tests.web._plugins import model_files, zipped

LOGIN = "/accounts/login/"
MEMBERS = (LOGIN, *(200,) * 5)
NOBODY_WRITES = (LOGIN, *(405,) * 5)
SEEN = (LOGIN, 404, 200, 404, 404, 200)  # of models alone reviewers see nothing
READ = (401, 404, 200, 404, 404, 200)
HOME = "/submissions/"
SHOWN = f"/submissions/{uuid.UUID(int=1)}/"


def own(status):
    """The responses to its owner, and to others, who get 404."""
    return (LOGIN, 404, status, 404, 404, 404)


TOKEN = (401,) * 6  # sessions change nothing
READ_ONLY = (405,) * 6

CODE = f"/vision/code/models/tiles_8/{'a' * 64}/"
PUBLISHED = ((404, 404, CODE, 404, 404, CODE), (404, 404, 200, 404, 404, 200))  # of a private model
ROWS = {
    "submissions:home": ({}, {}, MEMBERS, NOBODY_WRITES),
    "submissions:new": ({}, {}, MEMBERS, (LOGIN, *(400,) * 5), NOBODY_WRITES),
    "submissions:show": ("submission", {}, SEEN, NOBODY_WRITES),
    "submissions:progress": ("submission", {}, SEEN, NOBODY_WRITES),
    "submissions:revise": ("submission", {}, own(200), own(400), NOBODY_WRITES),
    "submissions:withdraw": ("withdrawable", {}, own(200), own(HOME), NOBODY_WRITES),
    "submissions:cancel": ("submission", {}, NOBODY_WRITES, own(SHOWN), NOBODY_WRITES),
    "submissions:visibility": ("submission", {"visibility": "public"}, NOBODY_WRITES, own(SHOWN), NOBODY_WRITES),
    "submissions:retry": ("step-of-submission", {}, NOBODY_WRITES, own(409), NOBODY_WRITES),
    "submissions:code": ("revision", {}, SEEN, NOBODY_WRITES),
    "submissions:changes": ("second-revision", {}, SEEN, NOBODY_WRITES),
    "submissions:archive": ("revision", {}, SEEN, NOBODY_WRITES),
    "published:newest": ("published", {}, PUBLISHED[0], READ_ONLY),
    "published:show": ("published-version", {}, PUBLISHED[1], READ_ONLY),
    "published:archive": ("published-version", {}, PUBLISHED[1], READ_ONLY),
    "api:create_submission": ({}, {}, (401, *(200,) * 5), TOKEN, READ_ONLY),
    "api:list_submissions": ({}, {}, (401, *(200,) * 5), TOKEN, READ_ONLY),
    "api:show_submission": ("submission-asked", {}, READ, READ_ONLY),
    "api:create_revision": ("submission-asked", {}, READ_ONLY, TOKEN, READ_ONLY),
    "api:withdraw_submission": ("submission-asked", {}, READ_ONLY, TOKEN, READ_ONLY),
    "api:submission_archive": ("submission-asked", {}, READ, READ_ONLY),
}


def build(people):
    """A private submission of the owner's in two revisions, of which the first is live, and one to withdraw."""
    from brainscore_web.submissions.examining import Source
    from brainscore_web.submissions.models import Plugin, PublishedVersion, Revision, Submission
    from brainscore_web.submissions.receiving import receive

    keys = []
    for key, name in ((uuid.UUID(int=1), "tiles-8"), (uuid.UUID(int=2), "tiles-9")):
        files = model_files(name)
        made = receive(people["owner"], Source("zip", "mine.zip", zipped(files)), visibility="private", note="hush")
        keys.append(_called(made.submission, key))
    receive(
        people["owner"],
        Source("zip", "mine.zip", zipped(model_files(size=16))),
        submission=Submission.objects.get(pk=keys[0]),
    )
    first, second = keys
    names = {"kind": "models", "name": "tiles_8", "code": "a" * 64}
    revision = Revision.objects.get(submission=first, number=1)
    Plugin.objects.create(**names, owner=people["owner"], revision=revision)
    PublishedVersion.objects.create(**names, revision=revision)
    return {
        "published": {"kind": "models", "name": "tiles_8"},
        "published-version": {"kind": "models", "name": "tiles_8", "sha256": "a" * 64},
        "submission": {"key": first},
        "withdrawable": {"key": second},
        "step-of-submission": {"key": first, "step": "check"},
        "revision": {"key": first, "number": 1},
        "second-revision": {"key": first, "number": 2},
        "submission-asked": {"submission": first},
    }


def _called(row, key):
    """The same submission under a key that is known beforehand."""
    from brainscore_web.submissions.models import Revision, Submission

    before = row.pk
    row.pk = key
    row.save(force_insert=True)
    Revision.objects.filter(submission=before).update(submission=key)
    Submission.objects.filter(pk=before).delete()
    return key
