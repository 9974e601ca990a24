"""The page of results and the suggestions."""

from brainscore_web.pages.models import News
from brainscore_web.search.index import refresh

from .._html import html_problems


def fill(number=35):
    for count in range(number):
        News.objects.create(slug=f"n{count}", title=f"Okapi <{count}>", body="Seen.", draft=False)
    refresh()


def test_the_page_shows_groups_and_pages_of_a_group(client, db):
    fill()
    first = client.get("/search/", {"q": "okapi"})
    assert first["Cache-Control"] == "private, no-cache"
    text = first.content.decode()
    assert not html_problems(text)
    assert text.count("Okapi &lt;") == 6
    assert "Show all 35" in text
    assert client.get("/search/", {"q": "okapi", "kind": "news", "page": "9" * 5000}).status_code == 200
    group = client.get("/search/", {"q": "okapi", "kind": "news", "page": "2"}).content.decode()
    assert group.count("Okapi &lt;") == 5
    assert "Page 2 of 2" in group
    assert (
        "Nothing matches “zebra”" in client.get("/search/", {"q": "zebra", "kind": "x", "page": "²"}).content.decode()
    )


def test_suggestions_are_few_and_limited(client, db, settings):
    fill()
    settings.API_RATES = {"anonymous": 3, "known": 3}
    (group,) = (found := client.get("/search/suggestions.json", {"q": "okapi"}).json())["groups"]
    assert (group["title"], len(group["results"]), found["total"], found["all"]) == ("News", 4, 35, "/search/?q=okapi")
    assert {entry["address"].split("/")[1] for entry in group["results"]} == {"news"}
    answers = [client.get("/search/suggestions.json", {"q": "okapi"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 60
