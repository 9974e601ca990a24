"""Who may do what at the addresses of follows and feeds; see tests/web/test_authorisation.py."""

from .._people import PUBLIC, SECRET

LOGIN, HOME = "/accounts/login/", "/following/"
OPEN = (200,) * 6
READ_ONLY = (405,) * 6
READ_ONLY_FOR_MEMBERS = (LOGIN, *(405,) * 5)
OWNER = (404, 404, 200, 404, 404, 200)
OF_SECRET = f"/following/vision/model/{SECRET}/"

ROWS = {
    "feeds:scores": ({}, {"benchmark": PUBLIC}, OPEN, READ_ONLY),
    "feeds:benchmarks": ({}, {}, OPEN, READ_ONLY),
    "follows:home": ({}, {"frequency": "daily"}, (LOGIN, *(200,) * 5), (LOGIN, *(HOME,) * 5), (LOGIN, *(405,) * 5)),
    "follows:follow": (
        {"kind": "model", "identifier": SECRET},
        {"change": "follow"},
        OWNER,
        (404, 404, OF_SECRET, 404, 404, OF_SECRET),
        READ_ONLY,
    ),
    "follows:lab": (
        {"slug": "unknown"},
        {},
        READ_ONLY_FOR_MEMBERS,
        (LOGIN, *(404,) * 5),
        READ_ONLY_FOR_MEMBERS,
    ),
    "follows:unsubscribe": ({"token": "forged:token"}, {}, (404,) * 6, (404,) * 6, READ_ONLY),
}
