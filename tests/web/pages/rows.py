"""Who may do what at the addresses of pages and news; see tests/web/test_authorisation.py."""

from brainscore_web.pages.models import News

OPEN = (200,) * 6
READ_ONLY = (405,) * 6
ADMINISTRATORS = (404, 404, 404, 404, 404, 200)

ROWS = {
    "pages:community": ({}, {}, OPEN, READ_ONLY),
    "pages:faq": ({}, {}, OPEN, READ_ONLY),
    "pages:sponsors": ({}, {}, OPEN, READ_ONLY),
    "pages:page": ({"name": "nothing"}, {}, (404,) * 6, READ_ONLY),
    "pages:news": ({}, {}, OPEN, READ_ONLY),
    "pages:feed": ({}, {}, OPEN, READ_ONLY),
    "pages:news-one": ("unpublished", {}, ADMINISTRATORS, READ_ONLY),
}


def build(people):
    """A draft."""
    News.objects.create(slug="soon", title="Soon", body="Not yet.", draft=True, by=people["administrator"])
    return {"unpublished": {"slug": "soon"}}
