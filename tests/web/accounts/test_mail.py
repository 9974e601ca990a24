"""How mail leaves the site."""

import pytest
from django.core.mail import get_connection
from django.test import override_settings

from brainscore_core.errors import UserError
from brainscore_web.environment import email_settings
from brainscore_web.operations.health import email_configured


def test_a_server_with_starttls():
    read = email_settings("smtp://me%40example.org:p%2Fa%3As@mail.example.org:2525?tls=1")
    assert read["EMAIL_HOST"] == "mail.example.org"
    assert read["EMAIL_PORT"] == 2525
    assert (read["EMAIL_HOST_USER"], read["EMAIL_HOST_PASSWORD"]) == ("me@example.org", "p/a:s")
    assert (read["EMAIL_USE_TLS"], read["EMAIL_USE_SSL"]) == (True, False)
    with override_settings(**read):
        connection = get_connection()
    assert (connection.host, connection.port, connection.use_tls, connection.timeout) == (
        "mail.example.org", 2525, True, 10,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "port", "tls", "ssl"),
    [
        ("smtp://localhost", 25, False, False),
        ("smtp://host?tls=0", 25, False, False),
        ("smtp://host?tls=1", 587, True, False),
        ("smtps://host", 465, False, True),
        ("smtp://[::1]:26", 26, False, False),
    ],
)
def test_ports(address, port, tls, ssl):
    read = email_settings(address)
    assert (read["EMAIL_PORT"], read["EMAIL_USE_TLS"], read["EMAIL_USE_SSL"]) == (port, tls, ssl)


def test_folders_and_printing(tmp_path):
    read = email_settings(f"file://{tmp_path}")
    assert read["EMAIL_FILE_PATH"] == str(tmp_path)
    assert email_settings("console:")["EMAIL_BACKEND"].endswith("console.EmailBackend")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("mail.example.org", "must begin with"),
        ("http://host", "must begin with"),
        ("smtp://", "not name a host"),
        ("smtp:///tmp", "not name a host"),
        ("smtp://host/path", "has a path"),
        ("smtp://host:many", "cannot be read"),
        ("smtp://host:99999", "cannot be read"),
        ("smtp://host?ssl=1", "only the option"),
        ("smtp://host?tls=yes", "only the option"),
        ("smtps://host?tls=1", "only the option"),
        ("smtp://user@host", "without a password"),
        ("file://", "not name a folder"),
        ("file://host/folder", "not name a folder"),
        ("console://x", "must begin with"),
    ],
)
def test_what_cannot_be_meant(address, told):
    with pytest.raises(UserError, match="BRAINSCORE_SITE_MAIL") as error:
        email_settings(address)
    assert told in error.value.message
    assert "smtp://user:password@host:587?tls=1" in error.value.remedy


def test_errors_do_not_show_the_password():
    with pytest.raises(UserError) as error:
        email_settings("smtp://me:secret-word@host:many")
    assert "secret-word" not in str(error.value)
    assert error.value.__cause__ is None


def test_the_deployment_check_wants_a_server(settings):
    settings.EMAIL_BACKEND = email_settings("console:")["EMAIL_BACKEND"]
    assert [one.id for one in email_configured()] == ["brainscore_web.W001"]
    settings.EMAIL_BACKEND = email_settings("smtp://host")["EMAIL_BACKEND"]
    assert email_configured() == []


@pytest.mark.parametrize(("address", "sent"), [("console:", False), ("file:///mails", False), ("smtp://host", True)])
@pytest.mark.parametrize("page", ["confirm-email/", "password/reset/done/", "password/reset/"])
def test_pages_say_that_e_mail_is_sent_only_if_it_is(client, db, settings, address, sent, page):
    settings.EMAIL_BACKEND = email_settings(address)["EMAIL_BACKEND"]
    text = client.get(f"/accounts/{page}").content.decode()
    assert ("We have sent you" in text or "We will send you" in text) is sent
    assert ("This site sends no e-mail" in text) is not sent
