"""Who may do what at the addresses of pages and news; see tests/web/test_authorisation.py."""

from brainscore_web.pages.models import News

OPEN = (200,) * 6
READ_ONLY = (405,) * 6
ADMINISTRATORS = (404, 404, 404, 404, 404, 200)

EARLIER = {
    "profile": "/accounts/profile/",
    "leaderboard": "/vision/leaderboard/",
    "compare": "/vision/compare/",
    "competition": "/competitions/",
    "signup": "/accounts/signup/",
    "release2.0": "/tutorials/coming_from_2/",
    "brain_model": "/tutorials/concepts/",
}
ROWS = {
    "pages:community": ({}, {}, OPEN, READ_ONLY),
    "pages:faq": ({}, {}, OPEN, READ_ONLY),
    "pages:sponsors": ({}, {}, OPEN, READ_ONLY),
    "pages:privacy": ({}, {}, OPEN, READ_ONLY),
    "pages:terms": ({}, {}, OPEN, READ_ONLY),
    "pages:style": ({}, {}, OPEN, READ_ONLY),
    "robots": ({}, {}, OPEN, READ_ONLY),
    "sitemap": ({}, {}, OPEN, OPEN),
    "sitemap-section": ({"section": "models"}, {}, OPEN, OPEN),
    "security": ({}, {}, (404,) * 6, READ_ONLY),
    "icon": ({}, {}, ("/static/site/favicon.ico",) * 6, READ_ONLY),
    "earlier-card": ({"kind": "model", "identifier": "12"}, {}, ("/vision/models/",) * 6, READ_ONLY),
    "domain": ({}, {}, ("/vision/leaderboard/",) * 6, ("/vision/leaderboard/",) * 6),
    **{f"earlier-{name}": ({}, {}, (present,) * 6, (present,) * 6) for name, present in EARLIER.items()},
    "pages:page": ({"name": "nothing"}, {}, (404,) * 6, READ_ONLY),
    "pages:news": ({}, {}, OPEN, READ_ONLY),
    "pages:feed": ({}, {}, OPEN, READ_ONLY),
    "pages:news-one": ("unpublished", {}, ADMINISTRATORS, READ_ONLY),
}


def build(people):
    """A draft."""
    News.objects.create(slug="soon", title="Soon", body="Not yet.", draft=True, by=people["administrator"])
    return {"unpublished": {"slug": "soon"}}
