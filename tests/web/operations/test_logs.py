"""Lines of the log."""

import io
import json
import logging
import logging.config

import pytest

from brainscore_core.errors import UserError
from brainscore_web.operations import logs


@pytest.fixture
def lines():
    """Writes to a logger as it is set up with BRAINSCORE_SITE_LOG=json; gives back the lines."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonLines())
    handler.addFilter(logs.WithIdentifier())
    logger = logging.getLogger("brainscore_web")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_every_request_has_a_name_that_is_in_its_lines(client, db, lines):
    answer = client.get("/about/?token=hidden")
    (line,) = lines()
    assert line["id"] == answer["X-Request-ID"]
    assert (line["view"], line["method"], line["status"], line["level"]) == ("pages:about", "GET", 200, "INFO")
    assert "hidden" not in json.dumps(line)
    assert client.get("/about/")["X-Request-ID"] != answer["X-Request-ID"]


@pytest.mark.parametrize("status", [404, 405, 400])
def test_refused_requests_have_one_as_well(client, db, settings, status):
    answer = {
        404: lambda: client.get("/nothing/"),
        405: lambda: client.post("/about/"),
        400: lambda: client.get("/about/", headers={"Host": "elsewhere.example"}),
    }[status]()
    assert answer.status_code == status
    assert answer["X-Request-ID"]


@pytest.mark.parametrize("name", ["0f3c9a2b-1111-4222-8333-444455556666", "Root=1-67891233-abcdef012345678912345678"])
def test_names_that_a_proxy_gave_are_kept(client, db, name):
    assert client.get("/about/", headers={"X-Request-ID": name})["X-Request-ID"] == name


@pytest.mark.parametrize(
    "name", ["short", "x" * 65, "a\nb" * 5, "<script>alert(1)</script>", "me@example.org", "ü" * 10]
)
def test_names_that_are_none_are_not(client, db, lines, name):
    answer = client.get("/about/", HTTP_X_REQUEST_ID=name)
    assert answer["X-Request-ID"] != name
    assert len(answer["X-Request-ID"]) == 32
    assert len(lines()) == 1


def test_links_of_mails_are_in_no_line(client, db, lines, member):
    client.get("/accounts/confirm-email/MQ:1abcdef:secretsecret/")
    client.get("/accounts/password/reset/key/1-abcdefgh/")
    client.post("/accounts/login/", {"login": member.email, "password": "correct horse battery"})
    text = json.dumps(lines())
    assert len(lines()) == 3
    for hidden in ("secretsecret", "abcdefgh", member.email, "correct horse"):
        assert hidden not in text


SECRETS = {
    "to someone.else+x@mail.example.org now": ["someone.else", "example.org"],
    "postgres://site:hunter2@db.example/site refused": ["hunter2", "site:"],
    "Authorization: Bearer abcdef123456": ["abcdef123456"],
    "token bs_abcdefghijklmnopqrstuvwxyz was used": ["abcdefghij"],
    '{"password": "hunter2", "password1": "hunter3"}': ["hunter2", "hunter3"],
    "GET /x?token=abc123&X-Amz-Signature=ffff0000 failed": ["abc123", "ffff0000"],
    "sessionid=abcdefabcdef; csrftoken=ghighighi": ["abcdefabcdef", "ghighighi"],
    "/accounts/confirm-email/MQ:1abc:def/ gave an error": ["1abc"],
    "key (email)=(me@example.org) already exists": ["me@example"],
}


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_taken_out(lines, text):
    log = logging.getLogger("brainscore_web.test")
    log.warning("%s", text)
    try:
        raise ValueError(text)
    except ValueError:
        log.exception("it failed")
    record = logging.makeLogRecord({"msg": text, "name": "x", "levelname": "INFO"})
    for written in (*map(json.dumps, lines()), logs.PlainLines().format(record)):
        for hidden in SECRETS[text]:
            assert hidden not in written
    assert "ValueError" in lines()[1]["traceback"]


def test_what_is_no_secret_stays():
    text = "Upload 1f cannot be checked: https://example.org/a@b/c, 3 tokens: fine; the password is wrong"
    assert logs.without_secrets(text) == text


def test_one_line_a_record_whatever_is_in_it(lines):
    logging.getLogger("brainscore_web.test").error('two\nlines "quoted" \u2028 %s', {"a": 1})
    (line,) = lines()
    assert line["message"].startswith("two\nlines")


def test_tasks_are_found_from_the_request_that_began_them(lines, settings):
    """Tasks are logged when they are enqueued, under the request's name, and while they run, under their own."""
    from django_tasks import task

    settings.TASKS = {"default": {"BACKEND": "django_tasks.backends.immediate.ImmediateBackend"}}
    with logs.log_context("request-of-somebody"):
        task(says).enqueue()
        logging.getLogger("brainscore_web.test").info("after")
    found = {line["message"].split(" ", 1)[-1].split(":")[0]: line["id"] for line in lines()}
    name = next(line["message"].split(" ")[0] for line in lines() if "enqueued" in line["message"])
    assert name.startswith("task-")
    assert found == {
        "enqueued": "request-of-somebody",
        "started": name,
        "within": name,
        "finished": name,
        "after": "request-of-somebody",
    }


def says():
    logging.getLogger("brainscore_web.test").info("within")


def test_the_settings_are_valid_and_a_wrong_one_is_named():
    for kind in ("plain", "json"):
        made = logging.config.DictConfigurator(logs.configuration(kind))
        made.configure_formatter(logs.configuration(kind)["formatters"][kind])
    with pytest.raises(UserError, match="BRAINSCORE_SITE_LOG"):
        logs.configuration("xml")


def test_plain_lines_name_the_request():
    record = logging.makeLogRecord({"msg": "hello", "name": "x", "levelname": "INFO", "identifier": "abc"})
    assert logs.PlainLines().format(record).endswith("INFO x [abc]: hello")
