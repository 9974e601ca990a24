"""Home, texts."""

import re
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.environment import contact_address, web_address
from brainscore_web.leaderboard.board import clear_caches
from brainscore_web.leaderboard.models import Score, VisionModel
from brainscore_web.operations.health import footer_complete
from brainscore_web.submissions.models import Plugin, Revision, Submission

ADDRESSES = ["/", "/about/", "/citation/", "/tutorials/", "/tutorials/receipts/", "/style/", "/competitions/"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_pages_answer_under_a_strict_policy(client, db, address):
    answer = client.get(address)
    assert answer.status_code == 200
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert client.post(address).status_code in (403, 405)


def test_home_counts_what_the_visitor_may_see(client, board, owner):
    hidden = board.models[-1]
    assert client.get("/").context["fronts"][0]["models"] == 11
    assert hidden not in client.get("/").content.decode()
    client.force_login(owner)
    assert client.get("/").context["fronts"][0]["models"] == 12


def test_home_says_that_simulated_is_simulated(client, board):
    assert "simulated" in client.get("/").content.decode()


def test_home_ranks_as_the_leaderboard_does(client, board):
    from django.contrib.auth.models import AnonymousUser

    from brainscore_web.leaderboard.board import board_of
    from brainscore_web.leaderboard.snapshot import snapshot_for
    from brainscore_web.leaderboard.state import BoardState

    first = board_of(snapshot_for(AnonymousUser()), BoardState()).models[0].identifier
    leaders = client.get("/").context["fronts"][0]["leaders"]
    assert leaders[0]["identifier"] == first
    assert [one["rank"] for one in leaders] == sorted(one["rank"] for one in leaders)
    assert leaders[0]["rank"] == 1


def test_home_draws_intervals_and_which_models_no_other_one_beats(client, board):
    front = client.get("/").context["fronts"][0]
    leads = [leader["leads"] for leader in front["leaders"]]
    assert 0 < sum(leads) < len(leads) <= 10
    root = ElementTree.fromstring(str(front["figure"]))
    rows = root.findall("{http://www.w3.org/2000/svg}a")
    kinds = [re.search(r"chart-kind-(\d)", ElementTree.tostring(row, encoding="unicode"))[1] for row in rows]
    assert kinds == ["0" if lead else "1" for lead in leads]
    assert [row.get("href") for row in rows] == [f"/vision/model/{one['identifier']}/" for one in front["leaders"]]


def test_home_shows_the_newest_scores_and_submissions_that_the_visitor_may_see(client, board, owner):
    hidden, seen = VisionModel.objects.get(identifier=board.models[-1]), board.models[0]
    Score.objects.filter(model=hidden, state="scored").update(created=timezone.now(), undetermined="")
    submission = Submission.objects.create(owner=owner)
    revision = Revision.objects.create(submission=submission, number=1, archive=b"", digest="", size=0)
    Plugin.objects.create(kind="models", name="pair", revision=revision, identifiers=[seen, hidden.identifier, "gone"])
    for visitor in (None, owner):
        if visitor:
            client.force_login(visitor)
        context = client.get("/").context
        assert (context["scores"][0].row.model == hidden) is bool(visitor)
        titles = {plugin.href for plugin in context["plugins"]}
        assert titles == {f"/vision/model/{name}/" for name in (seen, *([hidden.identifier] if visitor else []))}
    newest = context["scores"][0]
    assert f"{newest.row.value:.3f}" in newest.text
    assert f'href="/vision/receipt/{newest.row.receipt}/"' in client.get("/").content.decode()


def test_home_of_an_empty_site(client, db):
    assert "no scores yet" in client.get("/").content.decode()


@pytest.mark.parametrize("address", ["/nothing/", "/tutorials/nothing/", "/vision/nothing/"])
def test_what_is_not_there(client, db, address):
    answer = client.get(address)
    assert answer.status_code == 404
    assert "Not found" in answer.content.decode()


def menu(client, address="/"):
    """The links of the menu, with the number that stands beside."""
    html = client.get(address, follow=True).content.decode()
    header = html[html.index("<header") : html.index("</header>")]
    links = re.findall(r'<li><a href="([^"]+)"[^>]*>([^<]*?)\s*(?:<span class="count">(\d+).*?)?</a>', header)
    return {text: (href, count) for href, text, count in links}


PUBLIC = ["Leaderboard", "Models", "Benchmarks", "Compare", "Competitions", "Tutorials", "Submit"]


def test_every_link_of_the_menu_and_footer_is_a_page(client, db, staff):
    assert list(menu(client)) == [*PUBLIC, "Log in", "Sign up"]
    client.force_login(staff)
    for address, _ in menu(client).values():
        assert client.get(address, follow=True).status_code in (200, 403), (
            address
        )  # no confirmed address: no submission
    footer = client.get("/").content.decode().partition("<footer")[2]
    for address in re.findall(r'href="(/[^"]*)"', footer):
        assert client.get(address, follow=True).status_code == 200, address


def test_the_menu_is_that_of_the_role(client, member, staff, owner):
    def own(user):
        client.force_login(user)
        return [text for text in menu(client) if text not in PUBLIC][:-1]  # the last one is the visitor's name

    assert own(member) == ["My submissions"]
    member.user_permissions.add(Permission.objects.get(codename="review_submissions"))
    assert own(member) == ["My submissions", "Review"]
    assert own(staff) == ["My submissions", "Review", "Scoring", "Administration"]


def test_reviewers_see_how_many_submissions_wait_also_on_pages_that_browsers_keep(client, board, staff, owner):
    """A page that did not change apart from its menu is sent again."""
    client.force_login(staff)
    answer = client.get("/vision/leaderboard/")
    assert menu(client)["Review"] == ("/review/", "")
    for user in (owner, staff):  # one's own does not wait for oneself
        Submission.objects.create(owner=user, state=Submission.State.REVIEW)
    assert client.get("/vision/leaderboard/", headers={"If-None-Match": answer["ETag"]}).status_code == 200
    assert menu(client, "/vision/leaderboard/")["Review"] == ("/review/", "1")


def test_the_current_page_is_marked_in_the_menu(client, board):
    marked = r'<a href="([^"]+)" aria-current="page">'
    pages = {
        "/vision/models/": "/vision/models/",
        f"/vision/model/{board.models[0]}/": "/vision/models/",
        "/competition2024/": "/competitions/",
        "/tutorials/runs/": "/tutorials/",
        "/about/": "",
    }
    for address, href in pages.items():
        found = re.search(marked, client.get(address).content.decode())
        assert (found[1] if found else "") == href


@pytest.mark.parametrize(
    ("kind", "texts"),
    [("simulated", ("all models and scores are simulated", "nothing that you send is processed")),
     ("example", ("real models; those of vision are scored on simulated measurements",))],
)  # fmt: skip
def test_every_page_of_a_demonstration_says_so(client, board, settings, kind, texts):
    for address in (*ADDRESSES, "/vision/leaderboard/", "/accounts/login/", "/nothing/", "/vision/models/"):
        assert "Demonstration" not in client.get(address).content.decode()
    settings.DEMONSTRATION = kind
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    clear_caches()
    for address in (*ADDRESSES, "/vision/leaderboard/?as=new", "/accounts/login/", "/nothing/", "/vision/models/?q=v"):
        page = client.get(address).content.decode()
        for text in (*texts, "E-mails are written to the terminal of its server"):
            assert text in page, address
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    assert "E-mails are written" not in client.get("/faq/").content.decode()


def test_a_simulated_model_cannot_be_loaded_and_is_not_offered(client, board):
    for address in (f"/vision/model/{board.models[0]}/", f"/vision/benchmark/{board.benchmarks[0]}/"):
        page = client.get(address).content.decode()
        assert "load_model" not in page
        assert "load_benchmark" not in page


@pytest.mark.parametrize(
    ("title", "steps", "end"),
    [
        ("experimenter", 7, "/submissions/new/"),
        ("modeller", 4, "/submissions/new/"),
        ("visitor", 4, "/vision/leaderboard/"),
    ],
)
def test_each_path_of_the_tutorials_ends_at_its_button(client, db, title, steps, end):
    page = client.get("/tutorials/").content.decode()
    section = page[page.index(f'<section aria-labelledby="{title}"') :].partition("</section>")[0]
    assert section.count("<li>") == steps
    assert re.findall(r'<a class="main" href="([^"]+)"', section) == [end]
    for address in re.findall(r'href="(/[^"#]*)', section):
        assert client.get(address, follow=True).status_code == 200, address
    manual = page[page.index('id="operators"') :].partition("</section>")[0]
    assert "/tutorials/operators/deploy/" in manual
    assert page.count("/tutorials/operators/deploy/") == 1


def test_how_to_reach_the_operators(client, db, settings):
    assert [one.id for one in footer_complete()] == [f"brainscore_web.E00{number}" for number in (1, 2, 3)]
    links = {
        "CONTACT": "mailto:help@example.org",
        "REPOSITORY": "https://example.org/code",
        "ISSUES": "https://x.org/i",
    }
    for name, address in links.items():
        assert address not in client.get("/about/").content.decode()
        setattr(settings, name, address)
        assert f'href="{address}"' in client.get("/about/").content.decode()
    assert footer_complete() == []


@pytest.mark.parametrize("value", ["javascript:alert(1)", "https://", "nobody", "a b@example.org", "https://x.org/a b"])
def test_links_that_are_none_are_refused(monkeypatch, value):
    monkeypatch.setenv("BRAINSCORE_SITE_CONTACT", value)
    for read in (contact_address, web_address):
        with pytest.raises(UserError, match="BRAINSCORE_SITE_CONTACT"):
            read("BRAINSCORE_SITE_CONTACT")
