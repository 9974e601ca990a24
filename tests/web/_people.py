"""A site with things to hide, and people who must not find them: for the tests of authorisation and of privacy."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from PIL import Image

from brainscore_core.statistics.stimuli import StimulusOutcomes
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import (
    Benchmark,
    Ingestion,
    LayerProfile,
    Score,
    StimulusSample,
    VisionModel,
)
from brainscore_web.leaderboard.outcomes import write_outcomes
from brainscore_web.uploads.models import Upload, UploadedFile

from ._databases import fill

PASSWORD = "correct horse battery"
WHO = ("visitor", "member", "owner", "other", "reviewer", "administrator")

SECRET = "zanzibar-secretnet-9f3"
RECEIPT, OTHERS_RECEIPT = "20240501T000000000000Z-c0ffeec0{:04d}", "20240501T000000000000Z-ca1ca1ca{:04d}"
OTHERS = "falcon-secretnet-7a1"
WITHHELD, PUBLIC = "Simulated002.V4-pls", "Simulated000.V1-pls"
ALONE = "Simulated099.IT-alone"
"""A benchmark that only the private model was scored on."""
ABOUT_FILES = "20240502T000000000000Z-ab0010f11e50"
"""Receipt of a public model on the benchmark whose data are withheld."""
BUCKET, KEY = "brainscore-storage", "brainscore-vision/data/user_1/stimulus_Gharial2026_hidden.csv"

OF_MODEL = (
    *(
        "zanzibar",
        "secretnet-9f3",
        "quetzal",
        "okapi",
        "axolotl",
        "narwhal",
        "capybara",
        "wombat",
        "ocelot",
        "pangolin",
    ),
    *("marmoset", "lemur", "ibex", "c0ffee", "0.987654", "0.98765", "0.876543", "0.0123457", "123456787"),
    *("4321.987", "87.65431"),
)
OF_OTHER = ("falcon", "caracal", "0.134679", "ca1ca1")
OF_DATA = ("aardvark", "aardwolf", "numbat", "quokka", "gharial", "margay", "kinkajou", "dugong")
OF_PEOPLE = ("@example.org", "kakapo.example", "numbers.example")


@dataclass
class Site:
    """What there is."""

    people: dict[str, User | None]
    models: list[str]
    benchmarks: list[str]
    sample: StimulusSample
    upload: Upload
    draft: Upload
    token: ApiToken
    tokens: dict[str, str]
    sessions: dict[str, str]
    keys: dict[str, dict[str, object]] = field(default_factory=dict)

    def client(self, who: str, **options: object) -> Client:
        """A browser of its own for somebody."""
        made = Client(**options)
        if who in self.sessions:
            made.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[who]
        return made


def build() -> Site:
    """Fill an empty database; `settings.MEDIA_ROOT` and `UPLOADS` are the test's own."""
    made = fill(models=8, benchmarks=12, versions=2, private=0)
    people: dict[str, User | None] = {"visitor": None}
    names = {"owner": ("tapir@kakapo.example", "Tapir Owner"), "other": ("other@numbers.example", "")}
    for who in WHO[1:-1]:
        email, name = names.get(who, (f"{who}@example.org", ""))
        people[who] = User.objects.create_user(email, PASSWORD, display_name=name)
        EmailAddress.objects.create(user=people[who], email=email, verified=True, primary=True)
    people["administrator"] = User.objects.create_superuser("staff@example.org", PASSWORD)
    people["keeper"] = User.objects.create_user("dugong@kakapo.example", PASSWORD, display_name="Keeper of Data")
    Group.objects.get_or_create(name="reviewers")[0].user_set.add(people["reviewer"])

    Benchmark.objects.filter(identifier=WITHHELD).update(owner=people["keeper"])
    alone = Benchmark.objects.create(
        identifier=ALONE, parent=Benchmark.objects.get(identifier="IT"), version="1", region="IT", access="public"
    )
    alone.versions.create(version="1", since=datetime(2024, 1, 1, tzinfo=UTC), ceiling=0.8)
    secret = _secret(people["owner"])
    other = VisionModel.objects.create(
        identifier=OTHERS, title="Caracal", visibility="private", owner=people["other"], family="caracal"
    )
    _score(other, OTHERS_RECEIPT, value=0.134679)
    about = VisionModel.objects.get(identifier=made.models[0])
    _score(about, ABOUT_FILES, only=WITHHELD, value=0.5, document=_document(about.identifier))
    outcomes = StimulusOutcomes("response", ("aardvark-1", "aardvark-2"), np.array([0.1, 0.9]))
    write_outcomes([(Score.objects.get(receipt=ABOUT_FILES).pk, outcomes)])

    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, "PNG")
    sample = StimulusSample(benchmark=Benchmark.objects.get(identifier=WITHHELD), caption="aardvark in the dark")
    sample.image.save("aardwolf.png", ContentFile(buffer.getvalue()))
    Ingestion.objects.create(source="/margay/receipts", by=people["owner"], finished=timezone.now())
    upload, draft = _uploads(people["owner"])
    token, text = ApiToken.issue(people["owner"], "kinkajou", ["read"])
    tokens = {
        "owner's": text,
        "owner's without read": ApiToken.issue(people["owner"], "kinkajou", ["receipts:write"])[1],
        "another's": ApiToken.issue(people["other"], "weasel", ["read"])[1],
        "administrator's without read": ApiToken.issue(people["administrator"], "kinkajou", ["receipts:write"])[1],
    }
    revision.bump()
    assert secret.scores.count() > 10
    sessions = {who: _session(user) for who, user in people.items() if user is not None}
    return Site(people, made.models, made.benchmarks, sample, upload, draft, token, tokens, sessions)


def _session(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def _secret(owner: User) -> VisionModel:
    secret = VisionModel.objects.create(
        identifier=SECRET,
        title="Quetzal Confidential",
        visibility="private",
        owner=owner,
        architecture="axolotl network",
        family="okapi",
        parameters=123456787,
        size_mb=4321.987,
        training_data="narwhal set",
        regions={"IT": ["ibex.4"]},
        source="https://wombat.example/paper",
        bibtex="@misc{capybara2026, title = {Capybara}}",
        plugin="ocelot",
        details={"notes": ["pangolin"]},
    )
    notes = {"notes": ["lemur"], "model": {"identifier": SECRET}}
    _score(
        secret, RECEIPT, value=0.987654, raw=0.876543, error=0.0123457, low=0.98765, seconds=87.65431, document=notes
    )
    failed = secret.scores.order_by("benchmark__identifier").first()
    Score.objects.filter(pk=failed.pk).update(state="failed", reason="ValueError: marmoset", value=None, error=None)
    document = {"x": ["ibex.4"], "y": [0.987654], "layers": [{"name": "ibex.4", "score": 0.987654}]}
    LayerProfile.objects.create(model=secret, benchmark=WITHHELD, region="IT", document=document)
    return secret


def _score(model: VisionModel, receipt: str, *, only: str = "", **values: object) -> None:
    leaves = Benchmark.objects.filter(is_mean=False, **({"identifier": only} if only else {})).order_by("identifier")
    for number, leaf in enumerate(leaves):
        if leaf.identifier == ALONE and model.identifier != SECRET:
            continue
        Score.objects.create(
            receipt=receipt.format(number),
            model=model,
            benchmark=leaf,
            version=leaf.version,
            state="scored",
            created=datetime(2024, 11, 1, tzinfo=UTC) + timedelta(minutes=number),
            **values,
        )


def _document(model: str) -> dict[str, object]:
    return {
        "id": ABOUT_FILES,
        "model": {"identifier": model},
        "benchmark": {"identifier": WITHHELD},
        "files": [{"url": "https://numbat.example/secret.nc", "sha1": "0" * 40}],
        "error": {"type": "ValueError", "message": "no", "traceback": "in quokka.py"},
    }


def _uploads(owner: User) -> tuple[Upload, Upload]:
    known = {"owner": owner, "identifier": "Gharial2026.hidden", "assembly_identifier": "Gharial2026.hidden"}
    accepted = Upload.objects.create(**known, visibility="private", state="accepted", facts={"stimuli": 3})
    UploadedFile.objects.create(
        upload=accepted, kind="csv", size=20, sha1="1" * 40, sha256="2" * 64, bucket=BUCKET, key=KEY, version_id="v1",
        sent_as="gharial.csv",
    )  # fmt: skip
    place = Path(settings.UPLOADS["address"]) / BUCKET / KEY
    place.mkdir(parents=True)
    (place / "v1").write_text("stimulus_id\ngharial\n")
    return accepted, Upload.objects.create(**{**known, "identifier": "Gharial2026.draft"})


def domain_in(route: str) -> dict[str, str]:
    """The argument of an address that names a domain."""
    return {"domain": "vision"} if "<domain:" in route or "<domain>" in route else {}


def addresses() -> dict[str, str]:
    """Names of all views, and their patterns; those without a name are called by their pattern."""

    def below(patterns: list[object], prefix: str, namespace: str):
        for one in patterns:
            if isinstance(one, URLResolver):
                inner = f"{one.namespace}:" if one.namespace else namespace
                yield from below(one.url_patterns, prefix + str(one.pattern), inner)
            elif isinstance(one, URLPattern):
                route = prefix + str(one.pattern)
                yield f"{namespace}{one.name}" if one.name else f"/{route} ({one.lookup_str.rpartition('.')[2]})", route

    return dict(below(get_resolver().url_patterns, "", ""))
