"""Log-in with GitHub and ORCID, with a stand-in of both on this machine."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from allauth.socialaccount.providers.orcid.views import OrcidOAuth2Adapter
from django.test import Client

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.environment import login_providers

from .conftest import PASSWORD

IDENTIFIER = "0000-0002-1825-0097"
GITHUB = {"id": 7, "login": "ada", "name": "Ada L.", "email": "ada@example.org", "html_url": "x", "company": "unused"}
NAME = {"given-names": {"value": "Ada"}, "family-name": {"value": "Lovelace"}}
ORCID = {"orcid-identifier": {"path": IDENTIFIER, "uri": "https://orcid.org/"}, "person": {"name": NAME}}


class Provider(BaseHTTPRequestHandler):
    """The pages of a provider: it knows one client and one person, and each code is valid once."""

    codes: ClassVar[set[str]] = set()

    def do_GET(self):
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path == "/authorize":
            assert query["client_id"] == ["client"]
            self.codes.add("a-code")
            self.send_response(302)
            self.send_header("Location", f"{query['redirect_uri'][0]}?code=a-code&state={query['state'][0]}")
            self.end_headers()
        else:
            self.answer(GITHUB if path == "/user" else ORCID)

    def do_POST(self):
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = sent["client_secret"] == ["secret"] and sent["code"][0] in self.codes
        self.codes.clear()
        self.answer({"access_token": "token", "orcid": IDENTIFIER} if known else {"error": "invalid_grant"})

    def answer(self, document):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *arguments):
        """Print nothing."""


@pytest.fixture
def provider(monkeypatch, settings):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    for name in ("GITHUB", "ORCID"):
        monkeypatch.setenv(f"BRAINSCORE_SITE_{name}_CLIENT", "client")
        monkeypatch.setenv(f"BRAINSCORE_SITE_{name}_SECRET", "secret")
    settings.SOCIALACCOUNT_PROVIDERS = login_providers()
    for adapter, profile in ((GitHubOAuth2Adapter, "user"), (OrcidOAuth2Adapter, "record?%s")):
        monkeypatch.setattr(adapter, "authorize_url", f"{address}/authorize")
        monkeypatch.setattr(adapter, "access_token_url", f"{address}/token")
        monkeypatch.setattr(adapter, "profile_url", f"{address}/{profile}")
    yield address
    server.shutdown()
    server.server_close()


def begin(client, name="github", process="login"):
    """The address to which the provider sends a browser back."""
    page = client.post(f"/accounts/providers/{name}/login/?process={process}")
    address = page["Refresh"].removeprefix("0; url=")
    back = urlsplit(requests.get(address, allow_redirects=False, timeout=5).headers["Location"])
    return f"{back.path}?{back.query}"


def sign_up(client, name="github", email="ada@example.org"):
    assert client.get(begin(client, name))["Location"] == "/accounts/providers/signup/"
    return client.post("/accounts/providers/signup/", {"email": email, "display_name": "Ada", "consent": "on"})


@pytest.mark.parametrize(("name", "proposed"), [("github", "Ada L."), ("orcid", "Ada Lovelace")])
def test_a_new_user_confirms_the_address(client, db, provider, mailoutbox, link, name, proposed):
    client.get(begin(client, name))
    assert f'value="{proposed}"' in client.get("/accounts/providers/signup/").content.decode()
    assert "need to agree" in client.post("/accounts/providers/signup/", {"email": "a@b.org"}).content.decode()
    sign_up(client, name)
    assert "_auth_user_id" not in client.session
    assert not EmailAddress.objects.get().verified
    client.post(link(mailoutbox))
    again = Client()
    assert again.get(begin(again, name))["Location"] == "/accounts/profile/"
    assert "_auth_user_id" in again.session
    assert "company" not in SocialAccount.objects.get().extra_data
    assert not SocialToken.objects.exists()


def test_an_address_never_gives_access_to_an_account(client, db, provider, known, mailoutbox, same):
    ada = known()
    taken = sign_up(client)
    assert not SocialAccount.objects.exists()
    assert User.objects.get() == ada
    assert "already" in mailoutbox[-1].body
    new = sign_up(Client(), email="new@example.org")
    assert (taken.status_code, taken["Location"]) == (new.status_code, new["Location"])  # tells nobody about accounts


def test_connecting_needs_the_password_and_disconnecting_leaves_it(client, provider, known, mailoutbox):
    ada = known()
    client.force_login(ada)
    asked = client.get(begin(client, process="connect"))
    assert asked["Location"] == "/accounts/reauthenticate/"
    assert not SocialAccount.objects.exists()
    client.post(asked["Location"], {"password": PASSWORD})
    assert SocialAccount.objects.get().user == ada
    assert "log in with it" in mailoutbox[-1].body
    other = Client()
    other.force_login(known("grace@example.org"))
    answer = other.get(begin(other, process="connect"))
    other.post(answer["Location"], {"password": PASSWORD})
    assert "connected to another account" in other.get("/accounts/providers/").content.decode()
    page = client.get("/accounts/providers/").content.decode()
    (key,) = re.findall(r'name="account" value="(\d+)"', page)
    client.post("/accounts/providers/", {"account": key})
    assert not SocialAccount.objects.exists()


def test_codes_and_states_of_others_are_refused(client, db, provider):
    back = begin(client)
    assert "did not confirm" in Client().get(back).content.decode()  # another browser
    Provider.codes.clear()
    assert "did not confirm" in client.get(back).content.decode()
    assert not User.objects.exists()


def test_links_do_not_choose_what_the_provider_is_asked_for(client, provider, db):
    query = {"next": "//evil.example/", "scope": "repo", "auth_params": "redirect_uri=https://evil.example/"}
    page = client.post(f"/accounts/providers/github/login/?{urlencode(query)}")
    asked = parse_qs(urlsplit(page["Refresh"].removeprefix("0; url=")).query)
    assert asked["redirect_uri"] == ["http://testserver/accounts/providers/github/login/callback/"]
    assert "repo" not in asked.get("scope", [])


def test_without_a_password_the_last_account_stays(client, db, provider, mailoutbox, link):
    sign_up(client)
    client.post(link(mailoutbox))
    client.get(begin(client))
    answer = client.post("/accounts/providers/", {"account": SocialAccount.objects.get().pk})
    assert "no password" in answer.content.decode()


def test_log_ins_are_limited(client, db, provider):
    statuses = [client.post("/accounts/providers/github/login/").status_code for _ in range(21)]
    assert statuses == [*[200] * 20, 429]


def test_providers_that_are_not_configured_are_not_shown(client, db, settings, monkeypatch):
    assert settings.SOCIALACCOUNT_PROVIDERS == {}
    assert "GitHub" not in client.get("/accounts/login/").content.decode()
    assert client.post("/accounts/providers/github/login/").status_code == 404
    monkeypatch.setenv("BRAINSCORE_SITE_ORCID_CLIENT", "client")
    with pytest.raises(UserError, match="BRAINSCORE_SITE_ORCID_SECRET"):
        login_providers()
