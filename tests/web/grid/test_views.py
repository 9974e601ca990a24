import csv
import gzip
import io
import json
import re
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from brainscore_core.formatting import count_text
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import STATES, board_for, clear_caches
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.leaderboard.payload import rounded, rounded_limits
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

PAGE = "/vision/leaderboard/"


def shown(visitor=None, **state):
    return board_for(snapshot_for(visitor or AnonymousUser()), BoardState(**state))


def rows_of(html):
    """Texts of the table's cells, without what only screen readers say."""
    body = html.split("<tbody>")[1].split("</tbody>")[0]
    plain = re.sub(r'<span class="exposure">.*?</span></span>', "", body)
    plain = re.sub(r'<span class="said">.*?</span>', "", plain)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", plain)]
    return [[re.sub("<[^>]+>", "", cell).strip() for cell in row] for row in cells]


def test_the_page_is_a_table_without_a_script(board, client):
    made = shown()
    rows = rows_of(client.get(PAGE).content.decode())
    assert [row[1] for row in rows] == [model.title for model in made.models]
    heads = [at for at, node in enumerate(made.nodes) if node.shown]
    assert [row[2] for row in rows] == [f"{n} of {made.n_all[0, 0]}" for n in made.n_scored[:, 0]]
    assert [row[3].split(" ")[0] for row in rows] == [rounded(value) for value in made.values[:, heads[0]]]
    intervals = [rounded_limits(low, high) for low, high in zip(made.low[:, 0], made.high[:, 0], strict=True)]
    assert [row[3].partition(" ")[2] for row in rows] == intervals
    assert all(len(row) == len(rows[0]) for row in rows)
    assert rows[0][0].startswith("1")


def test_heads_of_benchmarks_are_identifiers_with_a_plain_name(board, client):
    Benchmark.objects.filter(identifier="Simulated000.V1-pls").update(title="Gratings in V1", species="macaque")
    revision.bump()
    query = urlencode([("open", node.identifier) for node in shown().nodes if node.kind != "benchmark"])
    html = client.get(f"{PAGE}?{query}").content.decode()
    head = next(part for part in html.split("<th ") if "Simulated000.V1-pls — V1, macaque, PLS regression" in part)
    assert "Gratings in V1" not in head
    name = re.sub("<[^>]+>", "", re.search(r'<span class="name">(.*?)</span>', head)[1])
    assert name == "Simulated000.V1-pls"


def test_signs_of_every_state(board, client):
    query = urlencode([("open", node.identifier) for node in shown().nodes if node.kind != "benchmark"])
    html = client.get(f"{PAGE}?{query}").content.decode()
    texts = {text for row in rows_of(html) for text in row[2:]}
    assert {"NaN", "n/a", "✕", "old", "–"} <= texts
    for state in set(STATES) - {"scored", "undetermined", "left out", "not run"}:
        assert f'<span class="said">{state}</span>' in html


def test_links_of_the_table_sort_open_and_close(board, client):
    html = client.get(PAGE).content.decode()
    sort = re.search(r'class="sort" href="([^"]+)" title="Sort by V1"', html)[1].replace("&amp;", "&")
    made = shown(sort="V1")
    assert [row[1] for row in rows_of(client.get(PAGE + sort).content.decode())] == [m.title for m in made.models]
    again = client.get(PAGE + sort).content.decode()
    assert 'aria-sort="descending"' in again
    back = re.search(r'class="sort" href="([^"]+)" title="Sort by V1"', again)[1].replace("&amp;", "&")
    assert back.endswith("sort=-V1")

    opens = re.search(r'class="open" href="([^"]+)"[^>]*>(?:(?!</a>).)*Open V1, ', html)[1].replace("&amp;", "&")
    opened = client.get(PAGE + opens).content.decode()
    assert "Close V1, " in opened
    assert "Open V1, " not in opened


def test_the_filters_list_benchmarks_when_asked(board, client):
    html = client.get(PAGE, {"sort": "V1"}).content.decode()
    assert 'name="exclude"' not in html
    link = re.search(r'href="([^"]+)">Include or exclude', html)[1].replace("&amp;", "&")
    for query in (link, "?include=V1"):
        listed = set(re.findall(r'name="exclude" value="([^"]+)"', client.get(PAGE + query).content.decode()))
        assert listed >= {node.identifier for node in shown().nodes if node.kind == "benchmark"}
    assert 'name="sort" value="V1"' in client.get(PAGE + link).content.decode()


def test_pages_of_models(board, client):
    model = VisionModel.objects.first()
    template = Score.objects.filter(model=model, state="scored").first()
    for number in range(60):
        one = VisionModel.objects.create(identifier=f"more-{number:02d}")
        template.pk, template.model, template.receipt = None, one, f"more-{number:02d}"
        template.save()
    first = client.get(PAGE).content.decode()
    assert len(rows_of(first)) == 30
    after = re.search(r'href="([^"]+)" rel="next"', first)[1].replace("&amp;", "&")
    second = client.get(PAGE + after).content.decode()
    assert len(rows_of(second)) == 30
    assert 'rel="prev"' in second
    assert client.get(f"{PAGE}?page=99").status_code == 200


def test_what_cannot_be_read_is_told_beside_the_field(board, client):
    answer = client.get(PAGE, {"q": "(vit OR"})
    html = answer.content.decode()
    assert answer.status_code == 400
    assert 'value="(vit OR"' in html
    assert re.search(r'<p id="problem" role="alert">[^<]+</p>', html)
    assert 'aria-invalid="true"' in html
    told = client.get(f"{PAGE}data.json", {"q": "(vit OR"}).json()["problem"]
    assert told["field"] == "q"
    assert told["message"]
    assert told["remedy"]
    answer = client.get(PAGE, {"nonsense": "<script>alert(1)</script>"})
    assert answer.status_code == 400
    assert b"<script>alert" not in answer.content
    answer = client.get(f"{PAGE}data.json", {"parameters_min": "many"})
    assert answer.json()["problem"]["field"] == "parameters_min"


def test_counts_in_columns_do_not_tell_of_private_models(board, client, owner):
    columns = client.get(f"{PAGE}columns.json?node=V1").json()
    assert columns["models"] == 11
    client.force_login(owner)
    assert client.get(f"{PAGE}columns.json?node=V1").json()["models"] == 12


def test_the_owner_sees_a_lock_and_others_nothing(board, client, owner, staff):
    assert 'class="private"' not in client.get(PAGE).content.decode().split("<tbody>")[1].split("</tbody>")[0]
    client.force_login(owner)
    assert 'title="Only owners can see it">private' in client.get(PAGE).content.decode()
    client.force_login(staff)
    assert 'title="Not public">private' in client.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("address", "most"),
    [("", 4), ("data.json", 3), ("columns.json?node=V1", 3), ("cell.json?model={model}&node={node}", 4)],
)
def test_few_queries_however_much_there_is(board, client, address, most):
    node = next(node.identifier for node in shown().nodes if node.kind == "benchmark")
    address = PAGE + address.format(model=board.models[0], node=node)
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        client.get(address)
    assert len(queries) <= most
    clear_caches()
    with CaptureQueriesContext(connection) as queries:
        client.get(f"{address}{'&' if '?' in address else '?'}over=scored")
    assert len(queries) <= 12


def test_nothing_is_inline(board, client):
    answer = client.get(PAGE)
    html = answer.content.decode()
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert not re.search(r"<[^>]+\sstyle=|<style|\son[a-z]+=|<script(?![^>]+src=)", html)


def test_answers_are_compressed(board, client):
    answer = client.get(f"{PAGE}data.json", HTTP_ACCEPT_ENCODING="gzip")
    assert answer["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(answer.content)) == client.get(f"{PAGE}data.json").json()


def test_exports_carry_the_state(board, client):
    answer = client.get(f"{PAGE}export.csv", {"family": "vit", "errors": "1"})
    assert answer["Content-Disposition"] == 'attachment; filename="brain-score-vision.csv"'
    table = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(table) == len(shown(family=("vit",)).models)
    assert client.get(f"{PAGE}export.parquet").content[:4] == b"PAR1"
    assert client.get(f"{PAGE}export.bib").content.decode().count("@misc") > 0
    refused = client.get(f"{PAGE}export.csv", {"form": "round"})
    assert refused.status_code == 400
    html = client.get(f"{PAGE}?family=vit").content.decode()
    assert 'href="/vision/leaderboard/export.csv?family=vit"' in html


def cell(client, made, state, **more):
    row, place = next(
        (row, place)
        for place, node in enumerate(made.nodes)
        if node.kind == "benchmark"
        for row in range(len(made.models))
        if STATES[made.states[row, place]] == state
    )
    query = {"model": made.models[row].identifier, "node": made.nodes[place].identifier, **more}
    return client.get(f"{PAGE}cell.json", query).json(), row, place


@pytest.mark.parametrize(
    ("state", "starts", "says"),
    [
        ("missing", "missing: never scored; counts as 0 in means", ""),
        ("failed", "failed; counts as 0 in means", "ValueError: simulated failure"),
        ("not applicable", "not applicable; counts as 0 in means", "the model does not support this task (simulated)"),
        ("undefined", "undefined; counts as 0 in means", "the score is NaN (simulated)"),
        ("outdated", "outdated: only version 1 of the benchmark, 2024-", "; version 2 counts; counts as 0 in means"),
    ],
)
def test_cells_without_a_score_say_why(board, client, state, starts, says):
    told, _, _ = cell(client, shown(), state)
    assert told["facts"][0].startswith(starts)
    assert says in " | ".join(told["facts"])
    told, _, _ = cell(client, shown(over="scored"), state, over="scored")
    assert "counts as 0" not in " ".join(told["facts"])


def test_an_undetermined_score_shows_the_raw_one_and_why(board, client):
    made = shown()
    place = next(place for place, node in enumerate(made.nodes) if node.kind == "benchmark")
    Score.objects.filter(benchmark__identifier=made.nodes[place].identifier).update(undetermined="because")
    revision.bump()
    clear_caches()
    told, _, _ = cell(client, shown(), "undetermined")
    assert told["facts"][0] == "undetermined: because"
    assert told["facts"][1].startswith("raw 0.")
    query = urlencode([("open", node.identifier) for node in made.nodes if node.kind != "benchmark"])
    html = client.get(f"{PAGE}?{query}").content.decode()
    assert '<td class="none undetermined"><span aria-hidden="true">?</span>' in html


def test_a_scored_cell_says_its_interval_and_links_on(board, client):
    Benchmark.objects.update(n_stimuli=1800, n_neuroids=168)
    revision.bump()
    made = shown()
    told, row, place = cell(client, made, "scored")
    facts = " | ".join(told["facts"])
    assert told["title"] == f"{made.models[row].title} · {made.nodes[place].title}"
    assert f"ceiled {made.values[row, place]:.3f} (95 %: {made.low[row, place]:.3f}–" in facts
    assert "ceiling " in facts
    assert "(reliability) | 1,800 stimuli, 168 neuroids | " in facts
    assert "the interval is about: simulated | " in facts
    assert f"rank {made.rank_of(place)[0][row]} of " in facts
    assert "version 2 of the benchmark, " in facts
    assert [text for text, _ in told["links"]] == [
        "Model", "Benchmark", "Receipt", "About training on stimuli", "Link to these details",
    ]  # fmt: skip
    page = client.get(told["links"][-1][1])
    assert all(escape(fact) in page.content.decode() for fact in told["facts"])
    for _, link in told["links"]:
        assert client.get(link).status_code == 200
    raw, _, _ = cell(client, made, "scored", values="raw")
    assert raw["facts"][0].startswith("raw ")


def test_a_mean_says_how_many_were_scored(board, client):
    made = shown()
    query = {"model": made.models[0].identifier, "node": "average_vision"}
    facts = client.get(f"{PAGE}cell.json", query).json()["facts"]
    n_scored, n_all = made.n_scored[0, 0], made.n_all[0, 0]
    assert f"mean of {n_all} benchmarks, {n_scored} of them scored; the others count as 0" in facts
    facts = client.get(f"{PAGE}cell.json", {**query, "over": "scored"}).json()["facts"]
    assert any(fact.endswith("the others are left out") for fact in facts)


def test_the_state_of_a_day(board, client):
    html = client.get(f"{PAGE}?at=2024-04-01").content.decode()
    assert ", as of 2024-04-01" in html
    html = client.get(f"{PAGE}?at=2020-01-01").content.decode()
    assert "No model had been scored by 2020-01-01." in html


def test_what_is_chosen_stays_chosen_in_the_form(board, client):
    html = client.get(f"{PAGE}?family=vit&exclude=V1&parameters_min=2000000&runnable=1&sort=-V2&open=").content.decode()
    assert re.search(r'name="family" value="vit" checked', html)
    assert re.search(r'name="exclude" value="V1" checked', html)
    assert re.search(r'name="parameters_min" value="2000000"', html)
    assert '<input type="hidden" name="sort" value="-V2">' in html
    assert '<input type="hidden" name="open" value="">' in html
    assert re.search(r'id="chosen" class="badge">4<', html)


def test_data_that_cannot_be_read_are_no_traceback(board, client, monkeypatch):
    from brainscore_core.errors import UserError
    from brainscore_web.leaderboard import views

    def broken(visitor, domain, *, at=None):
        raise UserError("the tree is broken", remedy="fix it")

    monkeypatch.setattr(views, "snapshot_for", broken)
    answer = client.get(PAGE)
    assert answer.status_code == 400
    assert "the tree is broken" in answer.content.decode()


def test_own_models(board, client, member, owner):
    answer = client.get(f"{PAGE}?mine=1")
    assert answer.status_code == 400
    assert "you are not logged in" in answer.content.decode()
    client.force_login(member)
    assert rows_of(client.get(f"{PAGE}?mine=1").content.decode()) == []
    VisionModel.objects.filter(identifier=board.models[3]).update(owner=owner)
    client.force_login(owner)
    page = client.get(f"{PAGE}?mine=1").content.decode()
    assert {row[1].split()[0] for row in rows_of(page)} == {board.models[-1], board.models[3]}
    assert re.search(r'aria-current="page">My models', page)
    client.force_login(member)
    assert rows_of(client.get(f"{PAGE}?mine=1").content.decode()) == []


def test_columns_about_models(board, client):
    page = client.get(f"{PAGE}?show=parameters&show=published").content.decode()
    row = rows_of(page)[0]
    model = VisionModel.objects.get(identifier=row[1])
    assert row[2:4] == [count_text(model.parameters), "2026"]
    assert rows_of(client.get(f"{PAGE}?show=").content.decode())[0][2].startswith("0.")


def test_models_below_the_coverage_say_why(board, client):
    page = client.get(f"{PAGE}?coverage=100").content.decode()
    assert "too few" in page
    assert "ranked from a coverage of 100 %" not in page
    assert re.search(r'title="scored on \d+ of 20 benchmarks, ranked from 20; [^"]+"', page)
    assert "No model was scored on at least 100 % of the benchmarks (20 of 20), so all are listed" in page
    data = client.get("/vision/leaderboard/data.json?coverage=100").json()
    assert not any(data["models"]["rank"])
    assert all(text.startswith("scored on ") for text in data["models"]["unranked"])
    assert data["shortcuts"] == [["Back to the default coverage", ""]]


def test_benchmarks_in_common_are_one_click_away(board, client):
    links = client.get("/vision/leaderboard/data.json").json()["shortcuts"]
    text, query = links[0]
    assert text.startswith("Compare on what all have: ")
    data = client.get(f"/vision/leaderboard/data.json?{query}").json()
    assert all(data["models"]["rank"])
    assert set(data["models"]["scored"]) == {data["models"]["of"]}
    assert 0 < data["models"]["of"] <= int(text.split()[-2])  # of which some are below the other root
