"""What the interface says about itself."""

import json

from brainscore_web.api.urls import api

from .._browsing import LOOKS, barriers, follow


def test_the_description_is_valid_openapi(get, db):
    document = get("openapi.json").json()
    assert document["openapi"] == "3.1.0"
    operations = {one["operationId"] for methods in document["paths"].values() for one in methods.values()}
    assert operations >= {"list_models", "show_benchmark", "list_scores", "show_leaderboard", "post_receipts"}
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["summary"]
            assert operation["description"]
            assert all(parameter["description"] for parameter in operation["parameters"] if parameter["in"] == "query")
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    assert list(answer["content"]) == ["application/problem+json"]
    paths = document["paths"]
    assert paths["/api/v1/models"]["get"]["security"] == [{}, {"Access": []}]
    assert paths["/api/v1/receipts"]["post"]["security"] == [{"Access": []}]


def test_every_field_of_an_answer_that_is_a_number_says_what_it_is():
    schemas = json.loads(json.dumps(api.get_openapi_schema()))["components"]["schemas"]
    for name in ("ScoreEntry", "Ceiling", "BoardColumn", "RankedModel", "ModelEntry"):
        for field, schema in schemas[name]["properties"].items():
            if "number" in json.dumps(schema) and field != "value":
                assert schema.get("description"), (name, field)


def test_the_page(get, db):
    found = get("docs")
    assert found.status_code == 200
    text = found.content.decode()
    assert "<script>" not in text
    assert "style=" not in text
    for path in api.get_openapi_schema()["paths"]:
        assert path in text
    assert "ModelsAsked" not in text
    assert "scope <code>read</code>" in text
    for address in ("/api/v1/", "/api/v1/docs/"):
        answer = get(address)
        assert (answer.status_code, answer["Location"]) == (302, "/api/v1/docs")


def test_the_page_in_the_browser(board, page):
    assert barriers(page, "/api/v1/docs", looks=LOOKS[:1]) == []
    assert barriers(page, looks=LOOKS[1:], without=["section:nth-of-type(n + 5)"]) == []  # colours are the same in all
    assert page.inner_text("h1") == "API"
    follow(page.locator("text=GET /api/v1/scores").first)
    assert page.url.endswith("#list_scores")
