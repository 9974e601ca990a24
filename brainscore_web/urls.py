"""URLs of the site: a list for each app, and the namespace of each list. Those of the API are in its `urls.py`."""

from django.contrib import admin
from django.contrib.sitemaps import views as sitemaps
from django.urls import include, path, re_path, register_converter
from django.views.generic import RedirectView

from brainscore_core.domain_names import FIRST
from brainscore_web import search_engines
from brainscore_web.compare import views as compare
from brainscore_web.competitions import views as competitions
from brainscore_web.domains import DomainConverter
from brainscore_web.follows import feeds
from brainscore_web.follows import views as follows
from brainscore_web.leaderboard import views as leaderboard
from brainscore_web.leaderboard.cards import views as cards
from brainscore_web.operations import health as operations
from brainscore_web.pages import views as pages
from brainscore_web.profile import labs, people
from brainscore_web.profile import views as profile
from brainscore_web.questions import views as questions
from brainscore_web.scoring import views as scoring
from brainscore_web.search import views as search
from brainscore_web.search_engines import SITEMAPS
from brainscore_web.snapshots import views as snapshots
from brainscore_web.submissions import published
from brainscore_web.submissions import views as submissions
from brainscore_web.submissions.review import views as review
from brainscore_web.uploads import views as uploads


class KindConverter:
    """URL converter of kinds of files."""

    regex = "csv|zip|nc"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class FollowedConverter(KindConverter):
    """URL converter of kinds of rows that can be followed."""

    regex = "model|benchmark"


register_converter(KindConverter, "kind_of_upload")
register_converter(FollowedConverter, "kind_of_follow")
register_converter(DomainConverter, "domain")

_PAGES = [
    path("", pages.home, name="home"),
    path("about/", pages.text, {"name": "about"}, name="about"),
    path("citation/", pages.text, {"name": "citation"}, name="citation"),
    path("community/", pages.text, {"name": "community"}, name="community"),
    path("faq/", pages.text, {"name": "faq"}, name="faq"),
    path("privacy/", pages.text, {"name": "privacy"}, name="privacy"),
    path("sponsors/", pages.text, {"name": "sponsors"}, name="sponsors"),
    path("terms/", pages.text, {"name": "terms"}, name="terms"),
    path("pages/<slug:name>/", pages.text, name="page"),
    path("news/", pages.news, name="news"),
    path("news/feed/", feeds.news, name="feed"),
    path("news/<slug:slug>/", pages.news_item, name="news-one"),
    path("style/", pages.style, name="style"),
    path("tutorials/", pages.tutorials, name="tutorials"),
    path("tutorials/files/<path:name>", pages.file, name="file"),
    path("tutorials/<path:name>/", pages.tutorial, name="tutorial"),
]
_SEARCH = [
    path("", search.page, name="page"),
    path("suggestions.json", search.suggestions, name="suggestions"),
]
_OPERATIONS = [
    path("health/live", operations.live, name="live"),
    path("health/ready", operations.ready, name="ready"),
    path("metrics", operations.numbers, name="metrics"),
]
_LEADERBOARD = [
    path("", leaderboard.page, name="board"),
    path("data.json", leaderboard.data, name="data"),
    path("columns.json", leaderboard.columns, name="columns"),
    path("cell.json", leaderboard.cell, name="cell"),
    path("score/", leaderboard.score, name="score"),
    path("export.csv", leaderboard.export, {"kind": "csv"}, name="export-csv"),
    path("export.parquet", leaderboard.export, {"kind": "parquet"}, name="export-parquet"),
    path("export.bib", leaderboard.export, {"kind": "bib"}, name="export-bib"),
]
_CARDS = [
    path("models/", cards.models, name="models"),
    path("benchmarks/", cards.benchmarks, name="benchmarks"),
    path("model/<path:identifier>/", cards.model, name="model"),
    path("benchmark/<path:identifier>/", cards.benchmark, name="benchmark"),
    path("model/<path:identifier>/badge.svg", cards.model_badge, name="model-badge"),
    path("benchmark/<path:identifier>/badge.svg", cards.benchmark_badge, name="benchmark-badge"),
    path("benchmark/<path:identifier>/croissant.json", cards.benchmark_croissant, name="benchmark-croissant"),
    path("design/<str:digest>/", cards.design, name="design"),
    path("receipt/<str:receipt>/", cards.receipt, name="receipt"),
    path("receipt/<str:receipt>/stimuli/", cards.stimuli, name="stimuli"),
    path("receipt/<str:receipt>/receipt.json", cards.receipt_json, name="receipt-json"),
    path("sample/<int:pk>/<str:name>", cards.sample, name="sample"),
]
_FEEDS = [
    path("scores/", feeds.scores, name="scores"),
    path("benchmarks/", feeds.benchmarks, name="benchmarks"),
]
_FOLLOWS = [
    path("", follows.home, name="home"),
    path("unsubscribe/<str:token>/", follows.unsubscribe, name="unsubscribe"),
    path("labs/<slug:slug>/", follows.follow_lab, name="lab"),
    path("<domain:domain>/<kind_of_follow:kind>/<path:identifier>/", follows.follow, name="follow"),
]
_CITING = [path("", snapshots.cite, name="cite")]
_SNAPSHOTS = [
    path("", snapshots.overview, name="overview"),
    path("tasks/<uuid:key>/", snapshots.progress, name="task"),
    path("<slug:key>/", snapshots.show, name="show"),
    path("<slug:key>/snapshot.json", snapshots.as_json, name="json"),
    path("<slug:key>/snapshot.csv", snapshots.as_csv, name="csv"),
    path("<slug:key>/snapshot.bib", snapshots.as_bibtex, name="bibtex"),
    path("<slug:key>/deposit.zip", snapshots.deposit, name="deposit"),
]
_QUESTIONS = [
    path("<path:identifier>/live/", questions.live, name="live"),
    path("<path:identifier>/", questions.ask, name="ask"),
]
_COMPARE = [
    path("", compare.page, name="page"),
    path("compare.svg", compare.svg, name="svg"),
    path("compare.csv", compare.csv, name="csv"),
]
_COMPETITIONS = [
    path("", competitions.overview, name="overview"),
    path("new/", competitions.new, name="new"),
    path("<slug:slug>/", competitions.show, name="show"),
    path("<slug:slug>/standings.csv", competitions.standings_csv, name="standings-csv"),
    path("<slug:slug>/standings.json", competitions.standings_json, name="standings-json"),
    path("<slug:slug>/frozen/<int:key>.json", competitions.frozen, name="frozen"),
    path("<slug:slug>/tracks/<int:track>/enter/", competitions.enter, name="enter"),
    path("<slug:slug>/team/", competitions.team, name="team"),
    path("<slug:slug>/team/join/<str:invitation>/", competitions.join, name="join"),
    path("<slug:slug>/mail/<str:key>/", competitions.unsubscribe, name="unsubscribe"),
    path("<slug:slug>/entries/<int:entry>/withdraw/", competitions.withdraw, name="withdraw"),
    path("<slug:slug>/manage/", competitions.manage, name="manage"),
    path("<slug:slug>/manage/texts/", competitions.texts, name="texts"),
    path("<slug:slug>/manage/mail/", competitions.mail, name="mail"),
    path("<slug:slug>/manage/lists/<slug:name>/", competitions.section, name="section"),
    path("<slug:slug>/manage/tracks/new/", competitions.new_track, name="new-track"),
    path("<slug:slug>/manage/tracks/<int:key>/", competitions.track, name="track"),
    path("<slug:slug>/manage/tracks/<int:key>/awards/", competitions.awards, name="awards"),
    path("<slug:slug>/manage/tracks/<int:key>/entries/", competitions.add_entry, name="add-entry"),
    path("<slug:slug>/manage/publish/", competitions.publish, name="publish"),
    path("<slug:slug>/manage/close/", competitions.close, name="close"),
    path("<slug:slug>/manage/reopen/", competitions.reopen, name="reopen"),
    path("<slug:slug>/manage/freeze/", competitions.freeze, name="freeze"),
    path("<slug:slug>/manage/winners/", competitions.take_winners, name="take-winners"),
    path("<slug:slug>/manage/announce/", competitions.announce, name="announce"),
]
_UPLOADS = [
    path("", uploads.home, name="home"),
    path("new/", uploads.new, name="new"),
    path("files/<str:bucket>/<path:key>", uploads.file, name="file"),
    path("<uuid:key>/", uploads.show, name="show"),
    path("<uuid:key>/state/", uploads.state, name="state"),
    path("<uuid:key>/__init__.py", uploads.code, name="code"),
    path("<uuid:key>/scaffold.zip", uploads.scaffold, name="scaffold"),
    path("<uuid:key>/check/", uploads.check, name="check"),
    path("<uuid:key>/withdraw/", uploads.take_back, name="withdraw"),
    path("<uuid:key>/<kind_of_upload:kind>/", uploads.receive, name="receive"),
    path("<uuid:key>/<kind_of_upload:kind>/grant/", uploads.grant, name="grant"),
    path("<uuid:key>/<kind_of_upload:kind>/arrived/", uploads.arrived, name="arrived"),
]
_SUBMISSIONS = [
    path("", submissions.home, name="home"),
    path("new/", submissions.new, name="new"),
    path("<uuid:key>/", submissions.show, name="show"),
    path("<uuid:key>/progress/", submissions.progress, name="progress"),
    path("<uuid:key>/revise/", submissions.revise, name="revise"),
    path("<uuid:key>/withdraw/", submissions.withdraw, name="withdraw"),
    path("<uuid:key>/cancel/", submissions.cancel, name="cancel"),
    path("<uuid:key>/visibility/", submissions.visibility, name="visibility"),
    path("<uuid:key>/retry/<slug:step>/", submissions.retry, name="retry"),
    path("<uuid:key>/<int:number>/code/", submissions.code, name="code"),
    path("<uuid:key>/<int:number>/changes/", submissions.changes, name="changes"),
    path("<uuid:key>/<int:number>/archive.zip", submissions.archive, name="archive"),
]
_VERSION = r"^(?P<kind>models|benchmarks|data|metrics)/(?P<name>[^/]{1,200})/(?P<sha256>[0-9a-f]{64})"  # as in receipts
_PUBLISHED = [
    path("<str:kind>/<str:name>/", published.newest, name="newest"),
    re_path(rf"{_VERSION}/$", published.show, name="show"),
    re_path(rf"{_VERSION}\.zip$", published.archive, name="archive"),
]
_REVIEW = [
    path("", review.queue, name="queue"),
    path("<uuid:key>/", review.newest, name="newest"),
    path("<uuid:key>/claim/", review.claim, name="claim"),
    path("<uuid:key>/resolve/<int:comment>/", review.resolve, name="resolve"),
    path("<uuid:key>/<int:number>/", review.show, name="show"),
    path("<uuid:key>/<int:number>/file/", review.file, name="file"),
    path("<uuid:key>/<int:number>/changes/", review.changes, name="changes"),
    path("<uuid:key>/<int:number>/judge/", review.judge, name="judge"),
    path("<uuid:key>/<int:number>/comment/", review.comment, name="comment"),
]
_SCORING = [
    path("", scoring.home, name="home"),
    path("live/", scoring.live, name="live"),
    path("of/<uuid:key>/", scoring.of_submission, name="submission"),
    path("of/<uuid:key>/cancel/", scoring.cancel_of, name="cancel-all"),
    path("<int:pk>/", scoring.job, name="job"),
    path("<int:pk>/retry/", scoring.retry, name="retry"),
    path("<int:pk>/cancel/", scoring.cancel, name="cancel"),
]
_PEOPLE = [
    path("<int:key>/", people.person, name="person"),
    path("labs/new/", labs.new, name="new-lab"),
    path("labs/invitations/<int:key>/", labs.answer, name="answer"),
    path("labs/<slug:slug>/", labs.show, name="lab"),
    path("labs/<slug:slug>/manage/", labs.manage, name="manage-lab"),
]
_PROFILE = [
    path("", profile.home, name="home"),
    path("profile/", profile.profile, name="profile"),
    path("name/", profile.name, name="name"),
    path("models/visibility/", profile.model_visibility, name="model_visibility"),
    path("benchmarks/access/", profile.benchmark_access, name="benchmark_access"),
    path("tokens/", profile.new_token, name="new_token"),
    path("tokens/<int:key>/revoke/", profile.revoke_token, name="revoke_token"),
    path("data/", profile.own_data, name="own_data"),
    path("delete/", profile.delete, name="delete"),
]
# addresses of the earlier site, www.brain-score.org, that papers and pages cite
_OF_DOMAIN = {"domain": FIRST}
_EARLIER: dict[str, tuple[str, dict[str, str]]] = {
    "profile": ("accounts:profile", {}),
    "leaderboard": ("leaderboard:board", _OF_DOMAIN),
    "compare": ("compare:page", _OF_DOMAIN),
    "competition": ("competitions:overview", {}),
    "signup": ("account_signup", {}),
}
_EARLIER_DOCUMENTS = {"release2.0": "coming_from_2", "brain_model": "concepts"}
_EARLIER_ADDRESSES = [
    re_path(
        rf"^(?P<kind>model|benchmark)/(?P<domain>{DomainConverter.regex})/(?P<identifier>.+?)/?$",
        pages.earlier_card,
        name="earlier-card",
    ),
    re_path(
        rf"^(?P<domain>{DomainConverter.regex})/?$",
        RedirectView.as_view(pattern_name="leaderboard:board", permanent=True),
        name="domain",
    ),
    *(
        re_path(
            rf"^{name}/?$", RedirectView.as_view(pattern_name=present, permanent=True), values, name=f"earlier-{name}"
        )
        for name, (present, values) in _EARLIER.items()
    ),
    *(
        re_path(
            rf"^{name.replace('.', '[.]')}/?$",
            RedirectView.as_view(url=f"/tutorials/{document}/", permanent=True),
            name=f"earlier-{name}",
        )
        for name, document in _EARLIER_DOCUMENTS.items()
    ),
]

urlpatterns = [
    path("", include((_PAGES, "pages"))),
    path("search/", include((_SEARCH, "search"))),
    path("", include((_OPERATIONS, "operations"))),
    path("<domain:domain>/leaderboard/", include((_LEADERBOARD, "leaderboard"))),
    path("<domain:domain>/", include((_CARDS, "cards"))),
    path("<domain:domain>/feeds/", include((_FEEDS, "feeds"))),
    path("<domain:domain>/code/", include((_PUBLISHED, "published"))),
    path("<domain:domain>/ask/", include((_QUESTIONS, "questions"))),
    path("<domain:domain>/compare/", include((_COMPARE, "compare"))),
    path("following/", include((_FOLLOWS, "follows"))),
    path("<domain:domain>/cite/", include((_CITING, "citing"))),
    path("snapshots/", include((_SNAPSHOTS, "snapshots"))),
    path("competitions/", include((_COMPETITIONS, "competitions"))),
    path("competition<int:year>/", competitions.of_year, name="competition-of-year"),
    path("api/v1/", include("brainscore_web.api.urls")),
    path("uploads/", include((_UPLOADS, "uploads"))),
    path("submissions/", include((_SUBMISSIONS, "submissions"))),
    path("review/", include((_REVIEW, "review"))),
    path("scoring/", include((_SCORING, "scoring"))),
    path("people/", include((_PEOPLE, "people"))),
    path("accounts/", include((_PROFILE, "accounts"))),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/providers/", include("allauth.socialaccount.urls")),
    path("accounts/providers/", include("brainscore_web.accounts.providers")),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.urls),
    path("robots.txt", search_engines.robots, name="robots"),
    path("sitemap.xml", sitemaps.index, {"sitemaps": SITEMAPS, "sitemap_url_name": "sitemap-section"}, name="sitemap"),
    path("sitemap-<slug:section>.xml", sitemaps.sitemap, {"sitemaps": SITEMAPS}, name="sitemap-section"),
    path(".well-known/security.txt", search_engines.security, name="security"),
    path("favicon.ico", search_engines.icon, name="icon"),
    *_EARLIER_ADDRESSES,
]
