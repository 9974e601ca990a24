"""What is private stays so: on every page, in every file and answer, in counts, ranks, tags and messages."""

import gzip
import io
import re
from typing import NamedTuple
from urllib.parse import quote, unquote_plus

import pytest
from django.db import transaction
from django.urls import reverse

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Ingestion, Score, StimulusSample, VisionModel
from brainscore_web.leaderboard.snapshot import forget
from brainscore_web.uploads.models import Upload

from ._people import (
    ABOUT_FILES, ALONE, BUCKET, KEY, OF_DATA, OF_MODEL, OF_OTHER, OF_PEOPLE, PUBLIC, RECEIPT, SECRET, WITHHELD,
    addresses, build,
)  # fmt: skip

FILTERS = (
    "", "q=zanzibar", "q=title:quetzal OR training:narwhal", "q=zanz*", "q=NOT zanzibar", "family=okapi",
    "architecture=axolotl network", "training=narwhal set", "parameters_min=123456787&parameters_max=123456787",
    "size_min=4321&size_max=4322", "at=2024-12-31", "at=2024-06-01", "at=2023-01-01", "sort=model", "sort=-IT",
    f"sort={ALONE}", "over=scored", "values=raw", f"include={ALONE}", "region=IT&over=scored", "page=2",
    "family=okap", "q=(zanzibar",
)  # fmt: skip
COMPARED = (
    "", f"x={ALONE}&y={WITHHELD}", f"x={PUBLIC}&y={WITHHELD}&colour=family", "mode=models", f"mode=models&first={SECRET}",
    "mode=models&first=zanzibar-secretnet-9f&second=Quetzal Confidential", "mode=matrix", "mode=matrix&least=3&level=all",
    "mode=matrix&method=spearman&least=3", "mode=matrix&family=okapi&least=3", "mode=benchmarks&at=2024-12-31",
)  # fmt: skip
SCORES = (
    "", "history=true", f"model={SECRET}", f"benchmark={ALONE}", "benchmark=IT&history=true", "state=failed", "limit=3",
    "since=2024-10-01", f"after={RECEIPT.format(0)}", "version=1",
)  # fmt: skip
MODELS = (
    "", "search=zanzibar", "search=quetzal", "family=okapi", "architecture=axolotl network",
    "training_data=narwhal set", "limit=1&offset=7", "limit=1&offset=8", "runnable=true",
)  # fmt: skip
NEAR = (SECRET, SECRET[:-1], SECRET.upper(), "Quetzal Confidential", "quetzal", "zanzibar")
RECEIPTS = (RECEIPT.format(1), RECEIPT.format(7), ABOUT_FILES, RECEIPT.format(1)[:-1], "c0ffee")

VARIANTS = {
    **dict.fromkeys(("leaderboard:board", "cards:models", "leaderboard:data", "api:show_leaderboard"), FILTERS),
    "leaderboard:columns": [f"{one}&node=IT" for one in FILTERS],
    "leaderboard:cell": [
        f"model={quote(model)}&node={node}" for model in (SECRET, SECRET[:-1], "simulated-convnet-000")
        for node in ("average_vision", "IT", ALONE, WITHHELD)
    ],
    **dict.fromkeys(("leaderboard:export-csv", "leaderboard:export-parquet"), [*FILTERS, "form=long"]),
    "leaderboard:export-bib": FILTERS,
    "cards:benchmarks": ["", f"q={ALONE}", "q=zanzibar", "at=2024-06-01"],
    **dict.fromkeys(("compare:page", "compare:svg", "compare:csv"), COMPARED),
    "api:list_models": MODELS, "api:list_scores": SCORES, "api:export_scores": SCORES[:-4],
    "api:export_leaderboard": [*FILTERS[:10], "form=long"],
    "api:list_benchmarks": ["", "access=private", f"search={ALONE}"],
    "accounts:profile": ["", "models=2"], "uploads:new": ["", "as={upload}"],
}  # fmt: skip
PATHS = {
    "cards:model": [{"identifier": name} for name in NEAR],
    "cards:benchmark": [{"identifier": name} for name in (WITHHELD, ALONE, PUBLIC, "IT", "average_vision", "zanzibar")],
    "cards:receipt": [{"receipt": one} for one in RECEIPTS],
    "cards:receipt-json": [{"receipt": one} for one in RECEIPTS],
    "api:show_model": [{"identifier": name} for name in NEAR],
    "api:show_benchmark": [{"identifier": name} for name in (WITHHELD, ALONE, "IT")],
    "api:show_receipt": [{"receipt": one} for one in RECEIPTS],
    "api:export_leaderboard": [{"format": one} for one in ("csv", "parquet", "bib")],
    "api:export_scores": [{"format": one} for one in ("csv", "parquet")],
    "pages:file": [{"name": one} for one in ("../pyproject.toml", "../../site.sqlite3", "receipt.json")],
    "pages:tutorial": [{"name": "site"}],
    "uploads:file": [{"bucket": BUCKET, "key": KEY}, {"bucket": BUCKET, "key": f"{KEY}x"}],
    "account_confirm_email": [{"key": "MQ:1abc:def"}],
    "account_reset_password_from_key": [{"uidb36": "1", "key": "abc-def"}],
    "accounts:revoke_token": [{"key": 1}],
}
UNSAFE = {"account_logout", "uploads:check", "api:post_receipts", "uploads:receive", "uploads:grant", "uploads:arrived"}
TAGGED_BY_REVISION = ("/vision/leaderboard/cell.json", "/vision/leaderboard/export.")
"""Answers whose tag any change renews, as what they show is more than a snapshot: it tells of change, not of content."""


def addresses_to_get(site):
    """Every address that can be read, in many forms."""
    own = {
        "cards:sample": [{"pk": site.sample.pk, "name": site.sample.image.name.rsplit("/", 1)[-1]}],
        **{f"uploads:{view}": [{"key": site.upload.pk}] for view in ("show", "state", "code", "withdraw")},
    }
    made = []
    for name, route in addresses().items():
        if name in UNSAFE:
            continue
        if name.startswith("admin:") or route.startswith("admin/"):
            made += ["/admin/", f"/{route}"] if "<" not in route and "^" not in route and "(" not in route else []
            continue
        if name.startswith("/"):
            made.append(f"/{route}")
            continue
        for arguments in own.get(name) or PATHS.get(name) or [{}]:
            path = reverse(name, kwargs=arguments)
            for query in VARIANTS.get(name, [""]):
                made.append(f"{path}?{quote(query.format(upload=site.upload.pk), safe='=&+')}" if query else path)
    made += [f"/vision/benchmark/{one}/?models=all" for one in (WITHHELD, ALONE)]
    made += [f"/vision/{kind}/{one}/?download=bibtex" for kind, one in (("model", SECRET), ("benchmark", WITHHELD))]
    made += [f"/vision/benchmark/{WITHHELD}/?download=svg", f"/vision/sample/{site.sample.pk}/x.png"]
    made += ["/admin/leaderboard/visionmodel/1/change/", "/sitemap.xml", "/robots.txt", "/media/samples/1/aardwolf.png"]
    made += ["/static/../site.sqlite3", "/feed/", "/nothing/zanzibar/", f"/vision/leaderboard/{SECRET}"]
    return list(dict.fromkeys(made))


AUDIENCES = ("visitor", "member", "other", "reviewer", "token without read", "another's token")


def hidden_from(audience):
    theirs = audience in ("other", "another's token")
    return (*OF_MODEL, *OF_DATA, *(() if theirs else OF_OTHER), *OF_PEOPLE)


def asker(site, audience, **more):
    """Gives what somebody gets at an address."""
    tokens = {"token without read": "owner's without read", "another's token": "another's"}
    token = site.tokens.get(tokens.get(audience, ""))
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    client = site.client(audience if not token else "visitor")

    def get(address, method="get", **extra):
        return getattr(client, method)(address, headers={**headers, **more, **extra})

    return get


def asked_by(site, audience):
    every = addresses_to_get(site)
    if "token" in audience:
        return [one for one in every if one.startswith(("/api/", "/uploads/files/"))]
    return every


def content_of(answer):
    """The content as text, unpacked; without what is new each time."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if answer.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    if body[:4] == b"PAR1":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(io.BytesIO(body))
        about = {name: one for name, one in (table.schema.metadata or {}).items() if b"exported" not in name}
        about.pop(b"brainscore.revision", None)
        return f"{about} {table.to_pydict()}"
    return re.sub(r'(name="csrfmiddlewaretoken" value=")[^"]+', r"\1", body.decode("utf-8", "replace"))


class Answer(NamedTuple):
    status: int
    headers: dict
    content: str
    tag: str | None


def answers(get, every):
    found = {}
    for address in every:
        answer = get(address)
        without = ("ETag", "Set-Cookie", "Content-Length" if "parquet" in address else "")
        found[address] = Answer(answer.status_code, headers_of(answer, *without), content_of(answer), answer.get("ETag"))
        if address.startswith(("/vision/model/", "/vision/receipt/", "/api/v1/models/")):
            head = get(address, "head")
            assert head.status_code == answer.status_code, address
            assert headers_of(head, *without, "Content-Length") == headers_of(answer, *without, "Content-Length"), address
    return found


def headers_of(answer, *without):
    return {name: value for name, value in answer.items() if name not in without}


@pytest.fixture
def site(db, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOADS = {**settings.UPLOADS, "address": str(tmp_path / "uploads")}
    settings.API_RATES = {"anonymous": 10**6, "known": 10**6}
    return build()


def test_every_view_is_read_here(site):
    """A new address needs variants that are worth asking for, where it takes arguments."""
    with_arguments = {name for name, route in addresses().items() if "<" in route and not name.startswith(("admin:", "/"))}
    own = {"cards:sample", *(f"uploads:{view}" for view in ("show", "state", "code", "withdraw"))}
    missing = with_arguments - set(PATHS) - UNSAFE - own
    assert not missing, f"say in PATHS how to ask for: {', '.join(sorted(missing))}"


def test_the_words_are_there_for_who_may_see_them(site):
    """What is looked for below can be found at all."""
    owner = asker(site, "owner")
    some = [one for one in addresses_to_get(site) if one.startswith(("/vision/model/", "/api/v1/m", "/api/v1/r", "/api/v1/s"))]
    seen = "".join(content_of(owner(one)) for one in some).lower()
    assert not [word for word in OF_MODEL if word not in seen]
    all_seen = asker(site, "administrator")
    places = ("/vision/benchmark/", "/vision/receipt/", "/uploads/", "/admin/leaderboard/ingestion/")
    seen = "".join(content_of(all_seen(one)) for one in addresses_to_get(site) if one.startswith(places)).lower()
    assert not [word for word in ("aardvark", "aardwolf", "numbat", "quokka", "gharial", "margay") if word not in seen]


@pytest.mark.parametrize("audience", AUDIENCES)
def test_nothing_private_is_seen(site, audience):
    """No word of it; and all is as on a site without it: content, counts, ranks, means, messages, headers."""
    every = asked_by(site, audience)
    get = asker(site, audience)
    before = answers(get, every)
    who = site.people.get("other" if audience == "another's token" else audience)
    wrong = []
    for address, answer in before.items():
        assert answer.status < 500, address
        seen = unquote_plus(f"{answer.content}\n{answer.headers}").lower().replace(who.email if who else "-", "-")
        asked = unquote_plus(address).lower()
        if found := [word for word in hidden_from(audience) if word in seen and word not in asked]:
            wrong.append(f"{address}: {found}")
    assert not wrong, "\n".join(["", *wrong[:40]])

    VisionModel.objects.filter(identifier=SECRET).delete()
    for table in (Upload, StimulusSample, Ingestion):
        table.objects.all().delete()
    revision.bump()
    forget()
    after = answers(get, every)
    wrong = [address for address in every if before[address][:3] != after[address][:3]]
    for address in wrong[:2]:
        print(address, *before[address][:3], "\n---\n", *after[address][:3], sep="\n")  # noqa: T201
    assert not wrong, "\n".join(["", *wrong[:40]])
    if audience == "visitor":
        renewed = [one for one in every if before[one].tag != after[one].tag and not one.startswith(TAGGED_BY_REVISION)]
        assert [one for one in renewed if one not in ("/", "/?")] == []
