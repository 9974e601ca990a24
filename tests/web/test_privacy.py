"""What is private stays so: on every page, in every file and answer, in counts, ranks, tags and messages."""

import gzip
import io
import re
import zlib
from typing import NamedTuple
from urllib.parse import quote, unquote_plus

import pytest
from django.urls import reverse

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import clear_caches
from brainscore_web.leaderboard.models import Benchmark, Ingestion, Score, StimulusSample, VisionModel
from brainscore_web.search.index import refresh
from brainscore_web.uploads.models import Upload

from ._people import (
    ABOUT_FILES,
    ALONE,
    BUCKET,
    KEY,
    OF_DATA,
    OF_MODEL,
    OF_OTHER,
    OF_PEOPLE,
    PUBLIC,
    RECEIPT,
    SECRET,
    WITHHELD,
    addresses,
    build,
    domain_in,
)  # fmt: skip
from ._private import FAILED, OF_DRAFTS, OF_SUBMISSION, PRINTED, add_private, remove_private

FILTERS = (
    "", "q=zanzibar", "q=title:quetzal OR training:narwhal", "q=zanz*", "q=NOT zanzibar", "family=okapi",
    "architecture=axolotl network", "training=narwhal set", "parameters_min=123456787&parameters_max=123456787",
    "size_min=4321&size_max=4322", "at=2024-12-31", "at=2024-06-01", "at=2023-01-01", "sort=model", "sort=-IT",
    f"sort={ALONE}", "over=scored", "values=raw", f"include={ALONE}", "region=IT&over=scored", "page=2",
    "family=okap", "q=(zanzibar",
)  # fmt: skip
COMPARED = (
    "", f"x={ALONE}&y={WITHHELD}", f"x={PUBLIC}&y={WITHHELD}&colour=family", "mode=models",
    f"mode=models&first={SECRET}",
    "mode=models&first=zanzibar-secretnet-9f&second=Quetzal Confidential", "mode=matrix",
    "mode=matrix&least=3&level=all", "mode=matrix&method=spearman&least=3", "mode=matrix&family=okapi&least=3",
    "mode=benchmarks&at=2024-12-31",
)  # fmt: skip
SCORES = (
    "", "history=true", f"model={SECRET}", f"benchmark={ALONE}", "benchmark=IT&history=true", "state=failed", "limit=3",
    "since=2024-10-01", f"after={RECEIPT.format(0)}", "version=1",
)  # fmt: skip
MODELS = (
    "", "search=zanzibar", "search=quetzal", "family=okapi", "architecture=axolotl network",
    "training_data=narwhal set", "limit=1&offset=7", "limit=1&offset=8", "runnable=true",
)  # fmt: skip
SEARCHES = ("", "q=zanzibar", "q=zanzibra secrtnet", "q=quetzal", "q=simulated", "q=zanzibar&kind=model", "q=not yet")
NEAR = (SECRET, SECRET[:-1], SECRET.upper(), "Quetzal Confidential", "quetzal", "zanzibar")
RECEIPTS = (RECEIPT.format(1), RECEIPT.format(7), ABOUT_FILES, FAILED, RECEIPT.format(1)[:-1], "c0ffee")

VARIANTS = {
    **dict.fromkeys(("leaderboard:board", "cards:models", "leaderboard:data", "api:show_leaderboard"), FILTERS),
    "leaderboard:columns": [f"{one}&node=IT" for one in FILTERS],
    **dict.fromkeys(("leaderboard:cell", "leaderboard:score"), tuple(
        f"model={quote(model)}&node={node}" for model in (SECRET, SECRET[:-1], "simulated-convnet-000")
        for node in ("average_vision", "IT", ALONE, WITHHELD)
    )),
    **dict.fromkeys(("leaderboard:export-csv", "leaderboard:export-parquet"), (*FILTERS, "form=long")),
    "leaderboard:export-bib": FILTERS,
    "cards:benchmarks": ["", f"q={ALONE}", "q=zanzibar", "at=2024-06-01"],
    **dict.fromkeys(("compare:page", "compare:svg", "compare:csv"), COMPARED),
    "api:list_models": MODELS, "api:list_scores": SCORES, "api:export_scores": SCORES[:-4],
    "api:export_leaderboard": [*FILTERS[:10], "form=long"],
    "api:export_assessments": ["", f"model={SECRET}", f"benchmark={PUBLIC}", f"benchmark={WITHHELD}", "part=recovery"],
    "api:list_assessments": ["", f"model={SECRET}", f"benchmark={PUBLIC}", f"benchmark={WITHHELD}", "part=recovery"],
    "api:list_benchmarks": ["", "access=private", f"search={ALONE}"],
    "feeds:scores": ["", "region=IT&sort=model", f"model={SECRET}", f"benchmark={WITHHELD}", "benchmark=IT"],
    "feeds:benchmarks": ["", "region=IT", f"benchmark={WITHHELD}"],
    "citing:cite": ["", "region=IT", f"q={SECRET}", "at=2024-12-31"],
    "scoring:submission": ["", "pairs=failed", "pairs_page=2"],
    "review:queue": ["", "state=all", "text=tamandua"], "review:file": ["path=models/serval/model.py"],
    "accounts:profile": ["", "models=2"], "uploads:new": ["", "as={upload}"],
    **dict.fromkeys(("search:page", "search:suggestions"), SEARCHES),
}  # fmt: skip
PATHS = {
    "cards:model": [{"identifier": name} for name in NEAR],
    "cards:benchmark": [{"identifier": name} for name in (WITHHELD, ALONE, PUBLIC, "IT", "average_vision", "zanzibar")],
    "cards:benchmark-croissant": [{"identifier": name} for name in (WITHHELD, ALONE, PUBLIC, "zanzibar")],
    "cards:model-badge": [{"identifier": name} for name in (*NEAR, "simulated-convnet-000")],
    "cards:benchmark-badge": [{"identifier": name} for name in (WITHHELD, PUBLIC, "IT", "zanzibar")],
    "follows:follow": [
        {"kind": "model" if name in NEAR else "benchmark", "identifier": name} for name in (*NEAR, WITHHELD, "IT")
    ],
    "follows:unsubscribe": [{"token": "forged:token"}],
    "cards:design": [{"digest": one * 64} for one in "0z"],
    "questions:ask": [{"identifier": name} for name in (WITHHELD, ALONE, PUBLIC, "IT", "zanzibar")],
    "questions:live": [{"identifier": name} for name in (WITHHELD, ALONE, PUBLIC, "zanzibar")],
    "api:show_question": [{"question": "00000000-0000-4000-8000-000000000000"}],
    "cards:receipt": [{"receipt": one} for one in RECEIPTS],
    "cards:receipt-json": [{"receipt": one} for one in RECEIPTS],
    "cards:stimuli": [{"receipt": one} for one in RECEIPTS],
    "api:show_model": [{"identifier": name} for name in NEAR],
    "api:show_benchmark": [{"identifier": name} for name in (WITHHELD, ALONE, "IT")],
    "api:show_receipt": [{"receipt": one} for one in RECEIPTS],
    "api:export_leaderboard": [{"format": one} for one in ("csv", "parquet", "bib")],
    "api:export_scores": [{"format": one} for one in ("csv", "parquet")],
    "api:export_assessments": [{"format": one} for one in ("csv", "parquet")],
    "pages:file": [{"name": one} for one in ("../pyproject.toml", "../../site.sqlite3", "receipt.json")],
    "pages:tutorial": [{"name": "site"}],
    "sitemap-section": [{"section": one} for one in ("pages", "models", "benchmarks", "competitions", "news")],
    "earlier-card": [{"kind": one, "identifier": name} for one in ("model", "benchmark") for name in (SECRET, "12")],
    "api:work_plugins": [{"job": 1}],
    "api:work_file": [{"job": 1}],
    "uploads:file": [{"bucket": BUCKET, "key": KEY}, {"bucket": BUCKET, "key": f"{KEY}x"}],
    "account_confirm_email": [{"key": "MQ:1abc:def"}],
    "account_reset_password_from_key": [{"uidb36": "1", "key": "abc-def"}],
    "people:lab": [{"slug": "unknown"}],
    "people:manage-lab": [{"slug": "unknown"}],
    "people:person": [{"key": key} for key in range(1, 9)],
    "accounts:revoke_token": [{"key": 1}],
    "mfa_edit_webauthn": [{"pk": 1}],
    "mfa_remove_webauthn": [{"pk": 1}],
}
UNSAFE = {
    "competitions:close", "competitions:reopen", "api:take_work", "api:renew_work", "api:release_work",
    "api:post_result", "follows:lab", "people:answer",
    "account_logout", "uploads:check", "api:post_receipts", "uploads:receive", "uploads:grant", "uploads:arrived",
}  # fmt: skip
TAGGED_BY_REVISION = ("/vision/leaderboard/cell.json", "/vision/leaderboard/score/", "/vision/leaderboard/export.")
"""Answers whose tag any change renews, as they show more than a snapshot: it tells of change, not of content."""


def addresses_to_get(site):
    """Every address that can be read, in many forms."""
    own = {
        "cards:sample": [{"pk": site.sample.pk, "name": site.sample.image.name.rsplit("/", 1)[-1]}],
        **{f"uploads:{view}": [{"key": site.upload.pk}] for view in ("show", "state", "code", "scaffold", "withdraw")},
        **site.keys,
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
            path = reverse(name, kwargs=domain_in(route) | arguments)
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
    return (*OF_MODEL, *OF_DATA, *OF_SUBMISSION, *OF_DRAFTS, *PRINTED, *(() if theirs else OF_OTHER), *OF_PEOPLE)


def asker(site, audience, **more):
    """Gives what somebody gets at an address."""
    tokens = {"token without read": "owner's without read", "another's token": "another's"}
    token = site.tokens.get(tokens.get(audience, ""))
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    client = site.client(audience if not token else "visitor", REMOTE_ADDR="203.0.113.9")

    def get(address, method="get", **extra):
        return getattr(client, method)(address, headers={**headers, **more, **extra})

    return get


def asked_by(site, audience, part):
    every = [one for one in addresses_to_get(site) if part_of(one) == part]
    if "token" in audience:
        return [one for one in every if one.startswith(("/api/", "/uploads/files/")) and one != "/api/v1/me"]
    if audience == "reviewer":  # a member, but for what is to be reviewed
        return [one for one in every if "?" not in one]
    return every


def part_of(address):
    """Which addresses are asked by default: all but queries, and of these one in six."""
    if "?" not in address or zlib.crc32(address.encode()) % 6 == 0:
        return "default"
    return "queries"


def content_of(answer):
    """The content as text, unpacked; without what is new each time."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if answer.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    if body[:4] == b"PAR1":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(io.BytesIO(body))
        about = {name: one for name, one in (table.schema.metadata or {}).items() if b"exported" not in name}
        return f"{about} {table.to_pydict()}"
    return re.sub(r'(name="csrfmiddlewaretoken" value="|"exported": ")[^"]+', r"\1", body.decode("utf-8", "replace"))


class Answer(NamedTuple):
    status: int
    headers: dict
    content: str
    tag: str | None


def answers(get, every):
    found = {}
    for address in every:
        answer = get(address)
        without = ("ETag", "Set-Cookie", "Expires", "X-Request-ID", "Content-Length" if "parquet" in address else "")
        found[address] = Answer(
            answer.status_code, headers_of(answer, *without), content_of(answer), answer.get("ETag")
        )
        if address.startswith(("/vision/model/", "/vision/receipt/", "/api/v1/models/")):
            head = get(address, "head")
            assert head.status_code == answer.status_code, address
            assert headers_of(head, *without, "Content-Length") == headers_of(answer, *without, "Content-Length"), (
                address
            )
    return found


def headers_of(answer, *without):
    return {name: value for name, value in answer.items() if name not in without}


@pytest.fixture
def site(db, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOADS = {**settings.UPLOADS, "address": str(tmp_path / "uploads")}
    settings.API_RATES = {"anonymous": 10**6, "known": 10**6}
    made = build()
    made.keys |= add_private(made)
    revision.bump()
    refresh()
    return made


def test_every_view_is_read_here(site):
    """A new address needs variants that are worth asking for, where it takes arguments."""
    with_arguments = {
        name
        for name, route in addresses().items()
        if "<" in route.replace("<domain:domain>", "").replace("(?P<domain>", "")
        and not name.startswith(("admin:", "/"))
    }
    own = {"cards:sample", *(f"uploads:{view}" for view in ("show", "state", "code", "scaffold", "withdraw"))}
    missing = with_arguments - set(PATHS) - UNSAFE - own - set(site.keys)
    assert not missing, f"say in PATHS how to ask for: {', '.join(sorted(missing))}"


def test_the_words_are_there_for_who_may_see_them(site):
    """What is looked for below can be found at all."""
    owner = asker(site, "owner")
    some = [
        one
        for one in addresses_to_get(site)
        if one.startswith(("/vision/model/", "/api/v1/m", "/api/v1/r", "/api/v1/s"))
    ]
    seen = "".join(content_of(owner(one)) for one in some).lower()
    assert not [word for word in OF_MODEL if word not in seen]
    places = ("/submissions/", "/scoring/", "/api/v1/submissions", "/accounts/own-data/")
    seen = "".join(content_of(owner(one)) for one in addresses_to_get(site) if one.startswith(places)).lower()
    assert not [word for word in OF_SUBMISSION if word not in seen]
    all_seen = asker(site, "administrator")
    places = ("/vision/benchmark/", "/vision/receipt/", "/uploads/", "/admin/leaderboard/ingestion/")
    seen = "".join(content_of(all_seen(one)) for one in addresses_to_get(site) if one.startswith(places)).lower()
    words = ("aardvark", "aardwolf", "numbat", "quokka", "gharial", "margay", *PRINTED)
    assert not [word for word in words if word not in seen]
    drafts = [one for one in addresses_to_get(site) if one.startswith(("/news/", "/competitions/"))]
    seen = "".join(content_of(all_seen(one)) for one in drafts).lower()
    assert not [word for word in OF_DRAFTS if word not in seen]


OTHERS = pytest.mark.slow(reason="reads hundreds of addresses twice")
FIRST = ("visitor",)
QUERIED_AS_ANOTHER = ("member", "reviewer")
"""A member who has private models too sees more of what queries could mix up."""


@pytest.mark.parametrize(
    ("audience", "part"),
    [pytest.param(audience, "default", marks=() if audience in FIRST else OTHERS) for audience in AUDIENCES]
    + [pytest.param(audience, "queries", marks=OTHERS) for audience in AUDIENCES if audience not in QUERIED_AS_ANOTHER],
)
def test_nothing_private_is_seen(site, audience, part):
    """No word of it; and all is as on a site without it: content, counts, ranks, means, messages, headers."""
    every = asked_by(site, audience, part)
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

    remove_private()
    VisionModel.objects.filter(identifier=SECRET).delete()
    for table in (Upload, StimulusSample, Ingestion):
        table.objects.all().delete()
    revision.bump()
    clear_caches()
    after = answers(get, every)
    wrong = [address for address in every if before[address][:3] != after[address][:3]]
    assert not wrong, "\n".join(["", *wrong[:40]])
    if audience == "visitor":
        renewed = [one for one in every if before[one].tag != after[one].tag and not one.startswith(TAGGED_BY_REVISION)]
        assert [one for one in renewed if one not in ("/", "/?")] == []


SWITCHED = (
    "/", "/vision/leaderboard/", "/vision/leaderboard/data.json", "/vision/leaderboard/export.csv", "/vision/models/",
    f"/vision/model/{SECRET}/", f"/vision/benchmark/{ALONE}/", f"/vision/benchmark/{PUBLIC}/",
    "/api/v1/assessments", f"/api/v1/assessments?model={SECRET}", f"/vision/receipt/{RECEIPT.format(1)}/",
    f"/vision/compare/?mode=models&first={SECRET}", f"/vision/leaderboard/cell.json?model={SECRET}&node=IT",
    f"/vision/compare/compare.csv?x={ALONE}&y={PUBLIC}", "/api/v1/leaderboard", "/api/v1/models",
    f"/api/v1/models/{SECRET}", "/api/v1/scores?history=true&limit=1000", "/api/v1/exports/leaderboard.csv",
    "/api/v1/exports/scores.csv", f"/api/v1/receipts/{RECEIPT.format(1)}", f"/vision/leaderboard/?q={SECRET}",
    "/vision/leaderboard/?at=2024-12-31", "/vision/leaderboard/export.bib",
)  # fmt: skip
WORDS = (SECRET, "quetzal", "capybara", "c0ffee", "0.9876", "1 model")


def by_saving(site, visibility):
    model = VisionModel.objects.get(identifier=SECRET)
    model.visibility = visibility
    model.save(update_fields=["visibility"])


def by_the_profile(site, visibility):
    sent = {"identifier": SECRET, "visibility": visibility}
    assert site.client("owner").post("/accounts/models/visibility/", sent).status_code == 302


def by_the_administration(site, visibility):
    action = {"public": "publish", "private": "withdraw"}[visibility]
    sent = {"action": action, "_selected_action": [VisionModel.objects.get(identifier=SECRET).pk]}
    assert site.client("administrator").post("/admin/leaderboard/visionmodel/", sent).status_code == 302


CHANGES = [
    (audience, switch, packed)
    for audience in ("visitor", "member")
    for switch in (by_saving, by_the_profile, by_the_administration)
    for packed in ("gzip", "identity")
]
BY_DEFAULT = {
    ("visitor", by_saving, "gzip"), ("visitor", by_the_profile, "identity"), ("member", by_saving, "identity"),
    ("member", by_the_administration, "gzip"),
}  # fmt: skip
"""Each audience, each way and each packing; the other combinations differ in no branch."""


@pytest.mark.parametrize(
    ("audience", "switch", "packed"),
    [
        pytest.param(*one, marks=() if one in BY_DEFAULT else pytest.mark.slow(reason="others of these run by default"))
        for one in CHANGES
    ],
)
def test_a_change_counts_at_once_everywhere(site, audience, switch, packed):
    """In what is kept by the process, and in what browsers and programs keep."""
    get = asker(site, audience, **{"Accept-Encoding": packed})

    def shown(tags):
        found = {}
        for address in SWITCHED:
            known = {"If-None-Match": ", ".join(tags[address])} if tags.get(address) else {}
            answer = get(address, **known)
            found[address] = answer.status_code, content_of(answer), answer.get("ETag")
        return found

    private = shown({})
    switch(site, "public")
    tags = {address: [answer[2]] for address, answer in private.items() if answer[2]}
    public = shown(tags)
    for address, (status, text, tag) in public.items():
        assert status == 200, address
        assert any(word in text.lower() for word in WORDS), address
        if tag:
            tags.setdefault(address, []).append(tag)
    assert shown({address: found[-1:] for address, found in tags.items()})["/vision/leaderboard/"][0] == 304
    switch(site, "private")
    latest = {address: found[-1:] for address, found in tags.items()}
    for address, (status, text, _) in shown(latest).items():
        assert status != 304, f"{address}: who has seen it is told that it has not changed"
        seen = text.lower().replace(f"q={SECRET}", "").replace(f'value="{SECRET}"', "")
        if SECRET not in address and "c0ffee" not in address:
            assert not [word for word in WORDS[:-1] if word in seen], address
        assert (status, text) == private[address][:2], address


def test_withheld_data_are_withheld_at_once(site):
    benchmark = Benchmark.objects.get(identifier=WITHHELD)
    name = site.sample.image.name.rsplit("/", 1)[-1]
    image, receipt = f"/vision/sample/{site.sample.pk}/{name}", f"/api/v1/receipts/{ABOUT_FILES}"
    pages = (
        f"/vision/benchmark/{WITHHELD}/",
        f"/vision/receipt/{ABOUT_FILES}/",
        receipt,
        f"{receipt}".replace("/api/v1/receipts", "/vision/receipt") + "/receipt.json",
    )
    get = asker(site, "visitor")

    def seen():
        return [
            word in "".join(content_of(get(page)).lower() for page in pages)
            for word in ("aardvark", "numbat", "quokka")
        ]

    assert (get(image).status_code, seen()) == (404, [False] * 3)
    nothing = content_of(get("/vision/sample/999999/x.png")).replace("999999%2Fx.png", f"{site.sample.pk}%2F{name}")
    assert content_of(get(image)) == nothing.replace("999999/x.png", f"{site.sample.pk}/{name}")
    benchmark.access = "public"
    benchmark.save()
    shown = get(image)
    assert (shown.status_code, seen()) == (200, [True] * 3)
    assert shown["X-Content-Type-Options"] == "nosniff"
    assert shown["Cache-Control"] == "private, no-cache"
    sent = {"identifier": WITHHELD, "access": "private"}
    assert site.client("keeper").post("/accounts/benchmarks/access/", sent).status_code == 302
    assert get(image, **{"If-None-Match": shown["ETag"]}).status_code == 404
    assert seen() == [False] * 3
    assert asker(site, "keeper")(image).status_code == 200


def test_uploads_name_no_private_models(site):
    """Who withdraws what others' receipts use is not told whose."""
    mine = Upload.objects.create(
        owner=site.people["member"], identifier="Mine2026", assembly_identifier="Mine2026", state="accepted"
    )
    mine.files.create(
        kind="csv", size=1, sha1="5" * 40, sha256="6" * 64, bucket=BUCKET, key="mine.csv", version_id="v2"
    )
    Score.objects.filter(receipt=RECEIPT.format(1)).update(document={"files": [{"sha1": "5" * 40}]})
    answer = site.client("member").post(f"/uploads/{mine.pk}/withdraw/")
    assert answer.status_code == 409
    assert SECRET not in content_of(answer)
    assert RECEIPT.format(1) not in content_of(answer)


def test_uploaded_files_are_never_taken_for_pages(site):
    answer = asker(site, "owner")(reverse("uploads:file", kwargs={"bucket": BUCKET, "key": KEY}))
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"].startswith("attachment")
    assert "no-store" in answer["Cache-Control"]


def test_the_two_ways_of_asking_never_mix(site):
    """Who has seen it as an owner leaves nothing behind for the next visitor, nor the other way round."""
    for _ in range(2):
        for who, there in (("owner", True), ("visitor", False), ("other", False), ("administrator", True)):
            get = asker(site, who, **{"Accept-Encoding": "gzip"})
            for address in (
                "/vision/leaderboard/",
                "/vision/models/",
                "/api/v1/leaderboard",
                "/",
                "/vision/compare/?mode=models",
            ):
                answer = get(address)
                assert (SECRET in content_of(answer)) is there, (who, address)
                assert "Cookie" in answer["Vary"]
                assert "public" not in answer.get("Cache-Control", "")


def test_files_do_not_tell_that_something_private_changed(site):
    import pyarrow.parquet

    def metadata():
        body = asker(site, "visitor")("/vision/leaderboard/export.parquet").content
        about = pyarrow.parquet.read_schema(io.BytesIO(body)).metadata
        return {name: one for name, one in about.items() if name.startswith(b"brainscore.") and b"exported" not in name}

    before = metadata()
    Score.objects.filter(receipt=RECEIPT.format(3)).update(value=0.5)
    revision.bump()
    assert metadata() == before


def test_tags_of_pages_stay_when_something_private_changes(site):
    get = asker(site, "visitor")
    pages = [one for one in SWITCHED if not one.startswith(TAGGED_BY_REVISION) and one != "/"]
    before = {page: get(page).get("ETag") for page in pages}
    score = Score.objects.get(receipt=RECEIPT.format(3))
    score.value = 0.5
    score.save()
    assert {page: get(page).get("ETag") for page in pages} == before
    assert get("/vision/leaderboard/", **{"If-None-Match": before["/vision/leaderboard/"]}).status_code == 304


def test_who_may_only_use_the_administration_sees_nothing_private_on_the_site(site):
    """Private models take a permission of their own, wherever they are not administered."""
    helper = site.people["member"]
    helper.is_staff = True
    helper.save()
    get = asker(site, "member")
    for address in ("/vision/leaderboard/data.json", "/vision/models/", "/api/v1/models", "/vision/leaderboard/"):
        assert SECRET not in content_of(get(address))
    assert get("/admin/leaderboard/visionmodel/").status_code == 403
    assert get(f"/vision/model/{SECRET}/").status_code == 404


def test_who_is_locked_out_sees_nothing_private(site):
    owner = site.people["owner"]
    owner.is_active = False
    owner.save()
    for headers in ({}, {"Authorization": "Bearer " + site.tokens["owner's"]}):
        assert site.client("owner").get(f"/api/v1/models/{SECRET}", headers=headers).status_code in (401, 404)
    assert site.client("owner").get(f"/vision/model/{SECRET}/").status_code == 404
